"""find_changes names what was changed in a closed round; erasure is no change."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

import pytest
from hypothesis import given

from council.digests import json_digest
from council.integrity.erasure import forget
from council.integrity.hash_chain import LINK_VERSION, next_link
from council.integrity.seal import (
    DIGESTS_WERE_CHANGED,
    LINK_IS_GONE,
    LINK_WAS_CHANGED,
    ORDER_WAS_CHANGED,
    OTHER_ROUND,
    OTHER_VERSION,
    RoundDigests,
    Seal,
    compute_digests,
    find_changes,
)
from council.rounds import Closing, Question, Round
from tests.builders import ASKED_AT
from tests.storage.builders import a_closed_round
from tests.storage.strategies import rounds
from tests.storage.test_rounds import SHARED

SALT, LATER = "5a17" * 8, ASKED_AT + timedelta(days=90)
ROUND = a_closed_round()
NOTES = compute_digests(ROUND, SALT)
LINK = next_link(None, "", "r1", NOTES.digest)
SEAL = Seal(NOTES, LINK)
GONE = forget(ROUND, LATER, SALT)

Tamper = Callable[[Round], Round]


@pytest.mark.parametrize("round_", [ROUND, GONE], ids=["remembered", "forgotten"])
def test_an_unchanged_round_has_no_changes(round_: Round) -> None:
    assert find_changes(round_, SEAL) == ()


@pytest.mark.parametrize(
    ("tamper", "name"),
    [
        pytest.param(lambda r: replace(r, question=Question("No?", "U1")), "question", id="text"),
        pytest.param(
            lambda r: replace(r, question=replace(r.question, asked_by="U2")),
            "asker and place",
            id="asker",
        ),
        pytest.param(lambda r: replace(r, seed="other"), "seed", id="seed"),
        pytest.param(lambda r: replace(r, closing=Closing(31.6)), "closing", id="seconds"),
        pytest.param(lambda r: replace(r, closing=None), "closing", id="opened-again"),
        pytest.param(lambda r: replace(r, draw=None), "label map and slates", id="draw"),
        pytest.param(lambda r: replace(r, tally=None), "standings and verdict", id="tally"),
        pytest.param(
            lambda r: replace(r, ballots=r.ballots[::-1]), "ballots, beside their texts", id="order"
        ),
    ],
)
def test_a_change_is_named_by_its_part(tamper: Tamper, name: str) -> None:
    assert name in find_changes(tamper(ROUND), SEAL)


def test_added_and_removed_texts_are_named() -> None:
    changed = replace(ROUND, question=replace(ROUND.question, text="", context="Because."))

    assert find_changes(changed, SEAL) == ("question", "context")


def test_a_change_after_forgetting_is_named() -> None:
    assert find_changes(replace(GONE, seed="other"), SEAL) == ("seed",)


@pytest.mark.parametrize(
    "notes",
    [
        pytest.param(replace(NOTES, salt="other"), id="salt"),
        pytest.param(replace(NOTES, texts=NOTES.texts[1:]), id="texts"),
        pytest.param(replace(NOTES, parts=NOTES.parts[1:]), id="parts"),
    ],
)
@pytest.mark.parametrize("round_", [ROUND, GONE], ids=["remembered", "forgotten"])
def test_changed_digests_are_named(notes: RoundDigests, round_: Round) -> None:
    assert find_changes(round_, Seal(notes, LINK)) == (DIGESTS_WERE_CHANGED,)


def test_a_forgotten_round_with_another_salt_is_named() -> None:
    other = forget(ROUND, LATER, "other")

    assert find_changes(other, SEAL) == (DIGESTS_WERE_CHANGED,)


def test_reordered_digests_are_named() -> None:
    notes = replace(NOTES, texts=NOTES.texts[::-1])
    link = next_link(None, "", "r1", notes.digest)

    assert find_changes(ROUND, Seal(notes, link)) == (ORDER_WAS_CHANGED,)


def test_a_missing_link_is_reported() -> None:
    assert find_changes(ROUND, Seal(NOTES, None)) == (LINK_IS_GONE,)


def test_a_changed_link_is_reported() -> None:
    assert find_changes(ROUND, Seal(NOTES, replace(LINK, origin="x"))) == (LINK_WAS_CHANGED,)


def test_a_link_of_another_round_is_reported() -> None:
    other = next_link(None, "", "r2", NOTES.digest)

    assert find_changes(ROUND, Seal(NOTES, other)) == (OTHER_ROUND,)
    assert find_changes(ROUND, Seal(NOTES, replace(other, number=7))) == (
        OTHER_ROUND,
        LINK_WAS_CHANGED,
    )


def test_a_link_of_another_version_is_not_checked() -> None:
    changed = find_changes(ROUND, Seal(NOTES, replace(LINK, version=LINK_VERSION + 1)))

    assert changed == (OTHER_VERSION,)


SALT, LATER = "5a17" * 8, ASKED_AT + timedelta(days=90)


@SHARED
@given(rounds())
def test_forgetting_changes_no_digest(round_: Round) -> None:
    assert compute_digests(forget(round_, LATER, SALT), SALT) == compute_digests(round_, SALT)


def test_a_digest_can_be_made_by_hand() -> None:
    notes = compute_digests(a_closed_round(), SALT)
    question = a_closed_round().question.text

    assert dict(notes.texts)["question"] == sha256((SALT + question).encode()).hexdigest()
    assert dict(notes.parts)["seed"] == sha256((SALT + '"seed"').encode()).hexdigest()
    assert dict(notes.parts)["closing"] == (
        sha256((SALT + '{"failure":null,"seconds":31.5}').encode()).hexdigest()
    )
    fields = {
        "salt": SALT,
        "texts": [[*pair] for pair in notes.texts],
        "parts": [[*pair] for pair in notes.parts],
    }
    assert notes.digest == json_digest(fields)
