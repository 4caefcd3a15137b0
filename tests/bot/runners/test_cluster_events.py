"""Events of a round: encoding, and parsing of messages from other versions."""

import pytest

from bot.ports import RoundSnapshot, RoundStoppedError
from bot.runners.cluster import (
    MAX_DRAFT_CHARACTERS,
    RoundEvent,
    RoundFailedError,
    decode_event,
    encode_event,
    error_of,
)
from council.errors import BudgetError, CouncilError
from tests.builders import a_round, an_answer


def test_an_event_survives_the_round_trip() -> None:
    snapshot = RoundSnapshot(a_round().with_(an_answer()), "Use Postgres", 2.5)

    assert decode_event(encode_event(snapshot)) == RoundEvent(1, 2.5, "Use Postgres")


def test_a_draft_that_is_too_long_is_left_out() -> None:
    snapshot = RoundSnapshot(a_round(), "x" * (MAX_DRAFT_CHARACTERS + 1), 2.5)

    assert decode_event(encode_event(snapshot)) == RoundEvent(0, 2.5, None)


@pytest.mark.parametrize(
    "text", ["", "{}", "7", "[]", '{"parts": "many", "seconds": 1}', '{"parts": 1}']
)
def test_an_unknown_message_is_no_event(text: str) -> None:
    assert decode_event(text) is None


def test_unknown_fields_are_ignored() -> None:
    assert decode_event('{"parts": 1, "seconds": 2, "draft": null, "mood": "good"}') == RoundEvent(
        1, 2.0, None
    )


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        pytest.param(None, RoundStoppedError, "Round r1 was stopped before its end.", id="none"),
        pytest.param({"kind": "BudgetError", "why": "No."}, BudgetError, "No.", id="known"),
        pytest.param({"kind": "NewError", "why": "No."}, RoundFailedError, "No.", id="unknown"),
        pytest.param({"kind": "", "why": "Ref."}, RoundFailedError, "Ref.", id="unforeseen"),
    ],
)
def test_a_fault_becomes_the_original_error(
    fault: dict[str, str] | None, kind: type[CouncilError], said: str
) -> None:
    error = error_of(fault, "r1")

    assert (type(error), str(error)) == (kind, said)
