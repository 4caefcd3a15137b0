"""Every field of a round enters its digest, directly or as a digest of a text."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime, timedelta, timezone
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from council.answers import Prompt, Reply
from council.ballots import Ballot
from council.integrity.seal import COVERED_FIELDS, PARTS, plain_json
from council.panel import IF_SET, Member, ModelId
from council.rounds import Question, Round, Synthesis


@dataclass(frozen=True, slots=True)
class NewerMember(Member):
    """A member with settings that rounds of earlier versions lack."""

    tools: tuple[str, ...] = field(default=(), metadata=IF_SET)
    top_p: float | None = field(default=None, metadata=IF_SET)


# Fields whose texts have digests of their own.
TEXT_FIELDS = {
    Question: ("text", "context", "reference"),
    Prompt: ("system", "user"),
    Reply: ("text",),
    Ballot: ("reason",),
    Synthesis: ("text", "why"),
}

# The id is the link's own; that texts are forgotten is what may happen to a round afterwards.
APART = {"id", "forgotten"}


def kinds(hint: Any) -> Iterator[type]:  # noqa: ANN401 - whatever a field is declared as
    """Return the dataclasses reachable from a declared type."""
    if get_origin(hint) in {tuple, Union, UnionType}:
        for part in get_args(hint):
            yield from kinds(part)
    elif isinstance(hint, type) and hint is not NoneType and is_dataclass(hint):
        yield hint


def reached(kind: type) -> set[type]:
    """Return every dataclass that a value of this type can contain."""
    found = {kind}
    for name, hint in get_type_hints(kind).items():
        if kind is not Round or name in PARTS.values():
            for part in kinds(hint):
                found |= reached(part)
    return found


def test_every_field_of_a_round_has_a_part() -> None:
    assert {field.name for field in fields(Round)} == {*PARTS.values()} | APART


def test_every_field_of_a_round_is_covered_once() -> None:
    declared = {
        kind: sorted(field.name for field in fields(kind)) for kind in reached(Round) - {Round}
    }

    assert declared == {
        kind: sorted((*COVERED_FIELDS[kind], *TEXT_FIELDS.get(kind, ()))) for kind in COVERED_FIELDS
    }


@pytest.mark.parametrize("given", [{}, {"tools": ("search",)}, {"top_p": 0.0}])
def test_a_newer_setting_enters_the_digest_only_where_it_is_set(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]
) -> None:
    named = (ModelId("openai/gpt-5.1"), "GPT-5.1", "gpt")
    covered = (*COVERED_FIELDS[Member], "tools", "top_p")
    monkeypatch.setattr(
        "council.integrity.seal.COVERED_FIELDS", {**COVERED_FIELDS, NewerMember: covered}
    )

    before = plain_json(Member("gpt", *named))
    now = plain_json(NewerMember("gpt", *named, **given))

    assert isinstance(before, dict)
    assert now == before | {name: plain_json(value) for name, value in given.items()}


def test_equal_numbers_and_times_have_equal_digests() -> None:
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)

    assert plain_json((3.0, 2.5, True, None)) == [3, 2.5, True, None]
    assert plain_json(noon) == plain_json(noon.astimezone(timezone(timedelta(hours=-5))))
    assert plain_json(float("inf")) == float("inf")
