"""What remains of an erased round is verified: draw, nonces, standings, verdict."""

from dataclasses import replace
from datetime import timedelta

import pytest

from council.integrity.erasure import forget
from council.integrity.verification import verify
from council.labels import Label
from council.rounds import Closing, Question, Round
from council.tally import Flag, FlagKind
from tests.builders import (
    ASKED_AT,
    CLAUDE,
    GEMINI,
    GPT,
    a_ballot,
    a_panel,
    a_round,
    a_spoiled_ballot,
    with_answers,
    with_ballots,
)
from tests.council.integrity import tampering as t
from tests.council.integrity.tampering import ROUND, Tamper
from tests.council.integrity.test_verification_tampering import ALONE

SALT, LATER = "5a17", ASKED_AT + timedelta(days=90)
GONE = forget(ROUND, LATER, SALT)
# A reason is gone, so nothing of it can be compared; neither can the fault of what it was read off.
FREE = {f"ballots[{CLAUDE}].reason", f"ballots[{CLAUDE}].ranking", f"spoiled[{GEMINI} #1].fault"}


def fields(round_: Round) -> list[str]:
    return [difference.field for difference in verify(round_)]


@pytest.mark.parametrize(
    "round_",
    [
        pytest.param(a_round(), id="open"),
        pytest.param(with_answers(a_round(a_panel(4)), {CLAUDE: "a", GPT: "b"}), id="answered"),
        pytest.param(replace(ROUND, tally=None), id="drawn"),
        pytest.param(with_ballots(with_answers(a_round(a_panel(3, outside=2)))), id="outside"),
        pytest.param(
            with_answers(a_round(), {CLAUDE: "a"}).with_(Closing(1.0, "Only one.")), id="failed"
        ),
    ],
)
def test_every_forgotten_round_verifies(round_: Round) -> None:
    assert fields(forget(round_, LATER, SALT)) == []


@pytest.mark.parametrize(
    ("field", "tamper"),
    [pytest.param(field, tamper, id=field) for field, tamper in ALONE.items() if field not in FREE],
)
def test_a_change_of_a_forgotten_round_is_named(field: str, tamper: Tamper) -> None:
    assert fields(tamper(GONE)) == [field]


@pytest.mark.parametrize(
    "ranking",
    [
        pytest.param(((Label("?"),),), id="of-another-slate"),
        pytest.param((), id="empty"),
        pytest.param((ROUND.ballots[0].shown, ()), id="with-an-empty-place"),
    ],
)
def test_a_ranking_of_another_slate_is_named(ranking: tuple[tuple[Label, ...], ...]) -> None:
    broken = t.ballot(lambda b: replace(b, ranking=ranking))(GONE)

    assert f"ballots[{CLAUDE}].ranking" in fields(broken)


@pytest.mark.parametrize(
    "tamper",
    [
        pytest.param(t.ballot(lambda b: replace(b, paper=None)), id="paper"),
        pytest.param(lambda r: replace(r, ballots=r.ballots[1:]), id="ballot"),
        pytest.param(lambda r: replace(r, ballots=(*r.ballots, a_ballot("K M"))), id="extra"),
        pytest.param(lambda r: replace(r, spoiled=(a_spoiled_ballot("nobody"),)), id="spoiled"),
        pytest.param(lambda r: replace(r, tally=None, closing=Closing(1.0)), id="tally"),
    ],
)
def test_added_and_removed_parts_are_named(tamper: Tamper) -> None:
    assert fields(tamper(GONE))


def test_an_audit_ballot_is_not_checked() -> None:
    audit = replace(ROUND.ballots[1], judge=GEMINI, audit="order")

    assert fields(forget(replace(ROUND, ballots=(*ROUND.ballots, audit)), LATER, SALT)) == []


def test_a_flag_from_an_erased_reason_is_kept() -> None:
    named = Flag(FlagKind.MODEL_NAMED, GPT, ("Claude",))
    flagged = t.verdict(lambda v: replace(v, flags=(*v.flags, named)))

    assert fields(flagged(GONE)) == []


@pytest.mark.parametrize("round_", [a_round(), ROUND], ids=["open", "ranked"])
def test_an_unerased_text_is_reported(round_: Round) -> None:
    gone = forget(round_, LATER, SALT)

    assert fields(replace(gone, question=Question("Why?"))) == ["question"]
