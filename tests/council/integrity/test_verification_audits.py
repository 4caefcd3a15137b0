"""An audit ballot is recomputed like any other, and tampering with it is reported."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from council.ballots import AUDIT_ATTEMPT, Ballot
from council.integrity.verification import verify
from council.panel import Terms
from council.round_rules import Audit, compute_draw, due_audit
from council.rounds import Round
from tests.builders import a_panel, a_round, an_exchange, ballot_text, with_answers, with_ballots

PLAIN = with_ballots(with_answers(a_round(a_panel(4, terms=Terms(audit_share=1)))))


def _due() -> Audit:
    audit = due_audit(PLAIN, compute_draw(PLAIN))
    if audit is None:
        raise AssertionError("at a share of 1 every round is due one")
    return audit


AUDIT = _due()
JUDGE = AUDIT.slate.judge
NAME = f"ballots[{JUDGE} audit order]"


def _voting(text: str) -> Round:
    return PLAIN.with_(AUDIT.cast(an_exchange(text, nonce=AUDIT.nonce, attempt=AUDIT_ATTEMPT)))


ROUND = _voting(ballot_text("B A C", AUDIT.nonce))
SPOILED = _voting("I rank none.")


def _fields(round_: Round) -> list[str]:
    return [difference.field for difference in verify(round_)]


def _tampered(change: Callable[[Ballot], Ballot]) -> Round:
    return replace(ROUND, ballots=tuple(b if b.counts else change(b) for b in ROUND.ballots))


def _with_nonce(nonce: str) -> Callable[[Ballot], Ballot]:
    return lambda b: replace(b, paper=replace(b.paper, nonce=nonce) if b.paper else None)


@pytest.mark.parametrize("round_", [PLAIN, ROUND, SPOILED], ids=["none", "ranked", "spoiled"])
def test_an_unchanged_round_with_an_audit_verifies(round_: Round) -> None:
    assert verify(round_) == ()
    assert verify(replace(round_, tally=None)) == ()


@pytest.mark.parametrize(
    ("field", "change"),
    [
        pytest.param("shown", lambda b: replace(b, shown=b.shown[::-1]), id="shown"),
        pytest.param("ranking", lambda b: replace(b, ranking=b.ranking[::-1]), id="ranking"),
        pytest.param("reason", lambda b: replace(b, reason="K pays."), id="reason"),
        pytest.param("nonce", _with_nonce("0" * 16), id="nonce"),
    ],
)
def test_a_single_change_is_named_alone(field: str, change: Callable[[Ballot], Ballot]) -> None:
    assert _fields(_tampered(change)) == [f"{NAME}.{field}"]


def test_a_counted_audit_ballot_is_named() -> None:
    others = tuple(b for b in ROUND.ballots if b.judge != JUDGE)
    (audit,) = (b for b in ROUND.ballots if not b.counts)

    fields = _fields(replace(ROUND, ballots=(*others, replace(audit, audit=None))))

    assert f"ballots[{JUDGE}].ranking" in fields
    assert "verdict.flags" in fields


def test_an_unexpected_audit_ballot_is_named() -> None:
    never = replace(ROUND.panel, terms=replace(ROUND.panel.terms, audit_share=0))

    fields = _fields(replace(ROUND, panel=never))

    assert f"{NAME}.ranking" in fields


def test_the_fault_of_an_audit_ballot_is_recomputed() -> None:
    (spoiled,) = SPOILED.spoiled

    fields = _fields(replace(SPOILED, spoiled=(replace(spoiled, fault="it was late"),)))

    assert fields == [f"spoiled[{JUDGE} audit].fault"]


def test_a_false_spoiled_audit_ballot_is_named() -> None:
    (spoiled,) = SPOILED.spoiled
    good = replace(
        spoiled.paper, reply=replace(spoiled.paper.reply, text=ballot_text("A", AUDIT.nonce))
    )

    fields = _fields(replace(SPOILED, spoiled=(replace(spoiled, paper=good),)))

    assert f"{NAME}.ranking" in fields
    assert f"spoiled[{JUDGE} audit].fault" in fields
