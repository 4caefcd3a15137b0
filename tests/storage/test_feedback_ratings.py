"""Feedback: one rating for each person, the newest, and no texts on a forgotten round."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from council.errors import ForgottenError, RoundNotFoundError
from council.feedback import Feedback
from council.places import Place
from council.ports import Store
from council.rounds import Question
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT, a_round
from tests.storage.builders import in_memory_too

SAID = Feedback("r1", "U1", helpful=False, reason="It missed the point.", at=ASKED_AT)
LATER = replace(SAID, helpful=True, reason="", at=ASKED_AT + timedelta(minutes=1))
OTHER = replace(SAID, by="U2", helpful=True, at=ASKED_AT + timedelta(seconds=1))


@in_memory_too
async def test_ratings_are_returned_oldest_first(store: Store) -> None:
    await store.open(a_round())

    for feedback in (OTHER, SAID):
        await store.rate(feedback)

    assert await store.ratings("r1") == (SAID, OTHER)
    assert await store.ratings("r2") == ()


@in_memory_too
@pytest.mark.parametrize("entries", [(SAID, LATER), (LATER, SAID)], ids=["in-order", "late"])
async def test_the_newest_of_a_persons_entries_counts(
    store: Store, entries: tuple[Feedback, ...]
) -> None:
    await store.open(a_round())

    for feedback in entries:
        await store.rate(feedback)

    assert await store.ratings("r1") == (LATER,)


async def test_the_last_of_two_at_the_same_time_counts(store: Store) -> None:
    await store.open(a_round())

    await store.rate(SAID)
    await store.rate(replace(SAID, reason="Or did it?"))

    assert await store.ratings("r1") == (replace(SAID, reason="Or did it?"),)


async def test_an_unknown_round_cannot_be_rated(store: Store) -> None:
    with pytest.raises(RoundNotFoundError, match=r"There is no round 'r1'\."):
        await store.rate(SAID)


@in_memory_too
async def test_forgetting_deletes_the_reasons_and_keeps_the_ratings(store: Store) -> None:
    await store.open(a_round())
    await store.rate(SAID)

    await store.forget("r1", ASKED_AT, "salt")

    assert await store.ratings("r1") == (replace(SAID, reason=""),)


@in_memory_too
async def test_no_reasons_are_stored_on_a_forgotten_round(store: Store) -> None:
    await store.open(a_round())
    await store.forget("r1", ASKED_AT, "salt")

    with pytest.raises(ForgottenError, match="say whether it helped, without a reason"):
        await store.rate(SAID)
    await store.rate(LATER)

    assert await store.ratings("r1") == (LATER,)


@in_memory_too
async def test_a_deleted_round_loses_its_ratings(store: Store) -> None:
    await store.open(a_round(question=Question("Why?", place=Place("slack", "T1"))))
    await store.rate(SAID)

    await store.delete_workspace("slack", "T1")

    assert await store.ratings("r1") == ()


async def test_no_byte_of_a_forgotten_reason_is_left(
    sql_store: SqlRoundStore, tmp_path: Path
) -> None:
    await sql_store.open(a_round())
    await sql_store.rate(SAID)

    await sql_store.forget("r1", ASKED_AT, "salt")
    await sql_store.wipe()

    bytes_ = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert SAID.reason.encode() not in bytes_
