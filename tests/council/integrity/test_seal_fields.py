"""Every field of a round enters its digest, directly or as a digest of a text."""

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from council.answers import Prompt
from council.integrity.seal import PARTS, plain_json
from council.panel import IF_SET, Member, ModelId
from council.places import NOWHERE
from council.rounds import Question, Round, Synthesis


@dataclass(frozen=True, slots=True)
class NewerMember(Member):
    """A member with settings that rounds of earlier versions lack."""

    tools: tuple[str, ...] = field(default=(), metadata=IF_SET)
    top_p: float | None = field(default=None, metadata=IF_SET)


# The id is the link's own; late replies, decisions and forgetting may come afterwards. The registry
# is the program's.
APART = {"id", "forgotten", "redacted", "late", "decisions", "registry"}


def test_every_field_of_a_round_has_a_part() -> None:
    assert {field.name for field in fields(Round)} == {*PARTS.values()} | APART


def test_texts_do_not_enter_the_digest_of_a_part() -> None:
    assert plain_json(Question("Why?", "u1", "context", reference="42")) == {
        "asked_by": "u1",
        "place": plain_json(NOWHERE),
    }
    assert plain_json(Synthesis("So.", None, prompt=Prompt("a", "b"))) == {
        "chairman": None,
        "fallback": None,
        "drawn_on": [],
        "departs": False,
        "prompt": {},
        "reply": None,
    }


@pytest.mark.parametrize("given", [{}, {"tools": ("search",)}, {"top_p": 0.0}])
def test_a_newer_setting_enters_the_digest_only_where_it_is_set(given: dict[str, Any]) -> None:
    named = (ModelId("openai/gpt-5.1"), "GPT-5.1", "gpt")

    before = plain_json(Member("gpt", *named))
    now = plain_json(NewerMember("gpt", *named, **given))

    assert isinstance(before, dict)
    assert now == before | {name: plain_json(value) for name, value in given.items()}


def test_equal_numbers_and_times_have_equal_digests() -> None:
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)

    assert plain_json((3.0, 2.5, True, None)) == [3, 2.5, True, None]
    assert plain_json(noon) == plain_json(noon.astimezone(timezone(timedelta(hours=-5))))
    assert plain_json(float("inf")) == float("inf")
