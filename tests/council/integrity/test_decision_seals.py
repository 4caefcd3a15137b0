"""A decision is sealed apart from its round: what changes in it is named, erasure is no change."""

from dataclasses import replace
from datetime import timedelta

import pytest

from council.integrity.erasure import forget, redact, removable_texts, text_digests
from council.integrity.hash_chain import next_link
from council.integrity.seal import (
    DIGESTS_WERE_CHANGED,
    LINK_IS_GONE,
    LINK_WAS_CHANGED,
    OTHER_VERSION,
    DecisionSeal,
    Seal,
    compute_digests,
    find_changes,
    seal_decision,
)
from council.integrity.verification import verify
from council.rounds import Choice, Round
from tests.builders import ASKED_AT
from tests.disputes import BROKER, YES, a_decision, a_disputed_round

SALT, LATER = "5a17" * 8, ASKED_AT + timedelta(days=90)
UNDECIDED = a_disputed_round()
ROUND = replace(UNDECIDED, decisions=(a_decision(), a_decision("Theirs.", by="U2", key="e2")))


def seal_of(round_: Round) -> Seal:
    notes = compute_digests(round_, SALT)
    link = next_link(None, "", round_.id, notes.digest)
    seals = []
    for number in range(1, len(round_.decisions) + 1):
        decided = seal_decision(round_, number, SALT)
        link = next_link(link, "", round_.id, decided.digest)
        seals.append(DecisionSeal(decided.parts, link))
    return Seal(notes, next_link(None, "", round_.id, notes.digest), tuple(seals))


SEAL = seal_of(ROUND)


def test_a_decision_leaves_the_seal_of_its_round_as_it_was() -> None:
    assert compute_digests(ROUND, SALT) == compute_digests(UNDECIDED, SALT)
    assert find_changes(ROUND, SEAL) == ()


def test_a_forgotten_decision_has_no_texts_and_no_changes() -> None:
    gone = forget(ROUND, LATER, SALT)

    assert removable_texts(gone) == ()
    assert text_digests(gone, SALT) == text_digests(UNDECIDED, SALT)
    assert find_changes(gone, SEAL) == ()
    assert [one.by for one in gone.decisions] == ["U1", "U2"]
    assert seal_decision(gone, 1, SALT, SEAL.decisions[0].digests).digest == (
        SEAL.decisions[0].link.digest
    )


def test_a_decision_that_loses_a_quoted_question_has_no_changes() -> None:
    source = replace(
        a_disputed_round(round_id="r0"), question=replace(ROUND.question, asked_by="U9")
    )
    quoting = replace(ROUND, question=replace(ROUND.question, context="It was asked."))

    redacted = redact(quoting, source, LATER, SALT)

    prompt = redacted.decisions[0].synthesis.prompt
    assert prompt
    assert prompt.user == ""
    assert find_changes(redacted, seal_of(quoting)) == ()


FIRST, SECOND = ROUND.decisions
SEALS = SEAL.decisions


@pytest.mark.parametrize(
    ("round_", "seal", "change"),
    [
        pytest.param(
            replace(ROUND, decisions=(replace(FIRST, by="U3"), SECOND)),
            SEAL,
            "decisions[1], beside its texts",
            id="who",
        ),
        pytest.param(
            replace(ROUND, decisions=(replace(FIRST, choices=(Choice(BROKER, "No"),)), SECOND)),
            SEAL,
            "decisions[1].says[0]",
            id="position",
        ),
        pytest.param(
            replace(
                ROUND,
                decisions=(FIRST, replace(SECOND, synthesis=replace(SECOND.synthesis, text="X"))),
            ),
            SEAL,
            "decisions[2]",
            id="text",
        ),
        pytest.param(
            replace(ROUND, decisions=(FIRST,)), SEAL, "decisions[2] is missing", id="gone"
        ),
        pytest.param(
            ROUND,
            replace(SEAL, decisions=SEALS[:1]),
            f"decisions[2]: {LINK_IS_GONE}",
            id="link-gone",
        ),
        pytest.param(
            ROUND,
            replace(SEAL, decisions=(SEALS[0], replace(SEALS[1], digests=SEALS[0].digests))),
            f"decisions[2]: {DIGESTS_WERE_CHANGED}",
            id="digests",
        ),
        pytest.param(
            ROUND,
            replace(
                SEAL,
                decisions=(SEALS[0], replace(SEALS[1], link=replace(SEALS[1].link, digest="0"))),
            ),
            f"decisions[2]: {LINK_WAS_CHANGED}",
            id="link",
        ),
        pytest.param(
            ROUND,
            replace(
                SEAL,
                decisions=(SEALS[0], replace(SEALS[1], link=replace(SEALS[1].link, version=9))),
            ),
            f"decisions[2]: {OTHER_VERSION}",
            id="version",
        ),
    ],
)
def test_what_changed_in_a_decision_is_named(round_: Round, seal: Seal, change: str) -> None:
    assert find_changes(round_, seal) == (change,)


def test_a_decision_on_what_is_not_disputed_does_not_verify() -> None:
    stray = replace(FIRST, choices=(Choice(BROKER, YES), Choice("Which colour?", "Blue")))

    differences = [
        one for one in verify(replace(ROUND, decisions=(stray,))) if "decisions" in one.field
    ]

    assert [str(one) for one in differences] == [
        "decisions[1][Which colour?]: stored Blue, recomputed None"
    ]
    assert not [one for one in verify(ROUND) if "decisions" in one.field]
    assert not [one for one in verify(forget(ROUND, LATER, SALT)) if "decisions" in one.field]
