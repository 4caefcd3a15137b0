"""Votes for the best answer: one for each person and round, the newest."""

from dataclasses import replace
from datetime import timedelta

import pytest

from council.errors import RoundNotFoundError
from council.feedback import HumanVote
from council.places import Place
from council.ports import Store
from council.rounds import Question
from tests.builders import ASKED_AT, CLAUDE, GPT, a_round
from tests.storage.builders import in_memory_too

CAST = HumanVote("r1", "U1", "K", CLAUDE, ASKED_AT)
LATER = replace(CAST, label="M", member=GPT, at=ASKED_AT + timedelta(minutes=1))
OTHER = replace(CAST, by="U2", at=ASKED_AT + timedelta(seconds=1))


@in_memory_too
async def test_votes_of_a_round_or_of_all_are_returned_oldest_first(store: Store) -> None:
    await store.open(a_round())
    await store.open(replace(a_round(), id="r2"))

    for vote in (OTHER, CAST, replace(LATER, round_id="r2")):
        await store.vote(vote)

    assert await store.votes("r1") == (CAST, OTHER)
    assert await store.votes() == (CAST, OTHER, replace(LATER, round_id="r2"))
    assert await store.votes("r3") == ()


@in_memory_too
@pytest.mark.parametrize("cast", [(CAST, LATER), (LATER, CAST)], ids=["in-order", "late"])
async def test_the_newest_of_a_persons_entries_counts(
    store: Store, cast: tuple[HumanVote, ...]
) -> None:
    await store.open(a_round())

    for vote in cast:
        await store.vote(vote)

    assert await store.votes("r1") == (LATER,)


async def test_a_vote_on_an_unknown_round_is_an_error(store: Store) -> None:
    with pytest.raises(RoundNotFoundError, match=r"There is no round 'r1'\."):
        await store.vote(CAST)


async def test_a_forgotten_round_keeps_its_votes_because_they_hold_no_texts(store: Store) -> None:
    await store.open(a_round())
    await store.vote(CAST)

    await store.forget("r1", ASKED_AT, "salt")

    assert await store.votes("r1") == (CAST,)


@in_memory_too
async def test_a_deleted_round_loses_its_votes(store: Store) -> None:
    await store.open(a_round(question=Question("Why?", place=Place("slack", "T1"))))
    await store.vote(CAST)

    await store.delete_workspace("slack", "T1")

    assert await store.votes() == ()
