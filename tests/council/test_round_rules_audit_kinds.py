"""The kinds of audit are drawn equally often, and follow the policy of the round."""

from collections import Counter
from dataclasses import replace

import pytest

from council.ballots import AUDIT_ATTEMPT
from council.integrity.verification import verify
from council.panel import Terms
from council.prompts.shared import nonce_for
from council.round_rules import (
    AUDIT_POLICY,
    NAMED,
    ORDER,
    OWN,
    Audit,
    compute_draw,
    compute_tally,
    due_audit,
)
from council.rounds import Round
from tests.builders import (
    CLAUDE,
    NAMES,
    a_panel,
    a_round,
    an_exchange,
    ballot_text,
    with_answers,
    with_ballots,
)

ALWAYS = Terms(audit_share=1)


def _round(seed: str = "seed", *, outside: int = 0, policy: str = AUDIT_POLICY) -> Round:
    panel = a_panel(4, outside=outside, terms=ALWAYS)
    opened = replace(a_round(panel, seed=seed), versions=(("audits", policy),))
    return with_ballots(with_answers(opened))


def _of_kind(kind: str) -> tuple[Round, Audit]:
    """Return the first of many rounds that is due an audit of this kind."""
    for nth in range(100):
        round_ = _round(f"round {nth}")
        audit = due_audit(round_, compute_draw(round_))
        if audit and audit.kind == kind:
            return round_, audit
    raise AssertionError(f"none of a hundred rounds is due {kind!r}")


def _voted(kind: str) -> Round:
    round_, audit = _of_kind(kind)
    text = ballot_text(" ".join(reversed(audit.slate.letters)), audit.nonce)
    paper = an_exchange(text, nonce=audit.nonce, attempt=AUDIT_ATTEMPT)
    return round_.with_(audit.cast(paper))


def test_audit_kinds_are_equally_frequent() -> None:
    rounds = [_round(f"round {nth}") for nth in range(300)]
    due = [due_audit(round_, compute_draw(round_)) for round_ in rounds]

    kinds = Counter(audit.kind for audit in due if audit)

    # A hundred each, with a standard deviation of 8.2; three of them are allowed.
    assert set(kinds) == {OWN, ORDER, NAMED}
    assert all(abs(count - 100) < 25 for count in kinds.values())


def test_the_first_policy_only_reverses_the_order() -> None:
    first = [_round(f"round {nth}", policy="1") for nth in range(30)]
    unnamed = [replace(round_, versions=()) for round_ in first]

    for round_ in (*first, *unnamed):
        audit = due_audit(round_, compute_draw(round_))
        assert audit
        assert audit.kind == ORDER


def test_an_unknown_policy_is_treated_as_the_current_one() -> None:
    for seed in map(str, range(20)):
        unknown, current = _round(seed, policy="99"), _round(seed)

        assert due_audit(unknown, compute_draw(unknown)) == due_audit(
            current, compute_draw(current)
        )


def test_the_seed_places_the_own_answer_on_the_first_slate() -> None:
    round_, audit = _of_kind(OWN)
    own = compute_draw(round_).labels.label_of(audit.slate.judge)

    assert own in audit.slate.shown
    assert tuple(x for x in audit.slate.shown if x != own) == audit.first.shown
    assert audit.nonce == nonce_for(round_.seed, audit.slate.judge, OWN)
    assert audit.authors == {}


def test_a_judge_without_an_answer_has_no_audit_of_its_own() -> None:
    outside = _round("any", outside=1).panel.outside_judges[0].key
    kinds = set()
    for nth in range(200):
        round_ = _round(f"round {nth}", outside=1)
        audit = due_audit(round_, compute_draw(round_))
        if audit and audit.slate.judge == outside:
            kinds.add(audit.kind)

    assert kinds == {ORDER, NAMED}


def test_names_are_shown_with_the_same_answers_in_the_same_order() -> None:
    round_, audit = _of_kind(NAMED)
    labels = dict(compute_draw(round_).labels.pairs)

    assert audit.slate.shown == audit.first.shown
    assert audit.authors == {labels[member]: NAMES[member] for member in labels}
    assert audit.authors[labels[CLAUDE]] == NAMES[CLAUDE]


@pytest.mark.parametrize("kind", [OWN, ORDER, NAMED])
def test_no_audit_counts_and_all_are_verified(kind: str) -> None:
    round_ = _voted(kind)

    (audit,) = (ballot for ballot in round_.ballots if not ballot.counts)
    assert audit.audit == kind
    assert compute_tally(round_, compute_draw(round_)) == round_.tally
    assert verify(round_) == ()
