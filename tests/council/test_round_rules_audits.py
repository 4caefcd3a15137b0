"""Which rounds are due an audit ballot and by which judge; it is never counted."""

from dataclasses import replace

from council.panel import Terms
from council.prompts.shared import nonce_for
from council.randomness import random_fraction
from council.round_rules import Audit, compute_draw, due_audit
from council.rounds import Round
from tests.builders import (
    a_panel,
    a_round,
    with_answers,
    with_ballots,
)


def _round(seed: str = "seed", share: float | None = 1, members: int = 4) -> Round:
    terms = Terms(audit_share=share)
    return with_ballots(with_answers(a_round(a_panel(members, terms=terms), seed=seed)))


def _find_audit(round_: Round) -> Audit | None:
    return due_audit(round_, compute_draw(round_))


def _due_audit(round_: Round) -> Audit:
    audit = _find_audit(round_)
    assert audit is not None
    return audit


def test_the_drawn_share_decides_due_audits() -> None:
    rounds = [_round(f"round {i}", 0.2, members=3) for i in range(60)]

    due = [round_.seed for round_ in rounds if _find_audit(round_)]

    assert due == [r.seed for r in rounds if random_fraction(r.seed, "audit") < 0.2]
    assert 0 < len(due) < 60


def test_without_a_share_of_the_panel_only_bakeoffs_are_audited() -> None:
    rounds = [_round(f"round {i}", None, members=3) for i in range(60)]
    in_bakeoff = [replace(round_, bakeoff="bo:1") for round_ in rounds]

    due = [round_.seed for round_ in in_bakeoff if _find_audit(round_)]

    assert not any(map(_find_audit, rounds))
    assert due == [r.seed for r in rounds if random_fraction(r.seed, "audit") < 0.2]


def test_a_share_of_zero_turns_audits_off() -> None:
    assert not any(_find_audit(_round(f"round {i}", 0, members=3)) for i in range(30))


def test_the_judge_sees_its_slate_reversed_under_another_nonce() -> None:
    audit = _due_audit(_round())

    assert audit.kind == "order"
    assert audit.slate.judge == audit.first.judge
    assert audit.slate.shown == audit.first.shown[::-1]
    assert audit.nonce == nonce_for("seed", audit.slate.judge, "order")
    assert audit.nonce != nonce_for("seed", audit.slate.judge)


def test_without_a_counted_ballot_no_judge_is_audited() -> None:
    round_ = _round()
    judge = _due_audit(round_).slate.judge
    others = tuple(ballot for ballot in round_.ballots if ballot.judge != judge)

    assert _find_audit(replace(round_, ballots=others)) is None


def test_without_judges_there_is_no_audit() -> None:
    assert _find_audit(_round(members=2)) is None
