"""Ratings and votes: one of each person on a round, the newest, and no texts on a forgotten one."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from council.errors import ForgottenError, RoundNotFoundError
from council.feedback import Feedback, HumanVote
from council.places import Place
from council.ports import Store
from council.rounds import Question
from tests.builders import ASKED_AT, CLAUDE, a_round
from tests.storage.builders import in_memory_too

SAID = Feedback("r1", "U1", helpful=False, reason="It missed the point.", at=ASKED_AT)
CAST = HumanVote("r1", "U1", "K", CLAUDE, ASKED_AT, blind=True, ranking=(("K",), ("L", "M")))

both = pytest.mark.parametrize("entry", [SAID, CAST], ids=["rating", "vote"])


async def put(store: Store, *entries: Any) -> None:  # noqa: ANN401
    for entry in entries:
        await (store.rate(entry) if isinstance(entry, Feedback) else store.vote(entry))


async def read(store: Store, like: object, round_id: str = "r1") -> object:
    return await (store.ratings if isinstance(like, Feedback) else store.votes)(round_id)


def after(entry: Any, seconds: int, **changes: object) -> Any:  # noqa: ANN401
    return replace(entry, at=entry.at + timedelta(seconds=seconds), **changes)


@in_memory_too
@both
async def test_entries_are_returned_oldest_first(store: Store, entry: Any) -> None:  # noqa: ANN401
    await store.open(a_round())
    other = after(entry, 1, by="U2")

    await put(store, other, entry)

    assert await read(store, entry) == (entry, other)
    assert await read(store, entry, "r2") == ()


async def test_the_votes_of_all_rounds_are_returned_oldest_first(store: Store) -> None:
    for round_id in ("r1", "r2"):
        await store.open(replace(a_round(), id=round_id))
    votes = [CAST, after(CAST, 1, by="U2"), after(CAST, 2, round_id="r2")]

    await put(store, *votes[::-1])

    assert [*await store.votes()] == votes


@in_memory_too
@both
@pytest.mark.parametrize("order", [1, -1], ids=["in-order", "late"])
async def test_the_newest_of_a_persons_entries_counts(
    store: Store,
    entry: Any,  # noqa: ANN401
    order: int,
) -> None:
    await store.open(a_round())
    newest = after(entry, 60)

    await put(store, *(entry, newest)[::order])

    assert await read(store, entry) == (newest,)


async def test_the_last_of_two_at_the_same_time_counts(store: Store) -> None:
    await store.open(a_round())

    await put(store, SAID, replace(SAID, reason="Or did it?"))

    assert await store.ratings("r1") == (replace(SAID, reason="Or did it?"),)


@both
async def test_an_entry_on_an_unknown_round_is_an_error(
    store: Store,
    entry: Any,  # noqa: ANN401
) -> None:
    with pytest.raises(RoundNotFoundError, match=r"There is no round 'r1'\."):
        await put(store, entry)


@in_memory_too
async def test_forgetting_deletes_the_reasons_and_keeps_the_rest(store: Store) -> None:
    await store.open(a_round())
    await put(store, SAID, CAST)

    await store.forget("r1", ASKED_AT, "salt")

    assert await store.ratings("r1") == (replace(SAID, reason=""),)
    assert await store.votes("r1") == (CAST,)


@in_memory_too
async def test_no_reasons_are_stored_on_a_forgotten_round(store: Store) -> None:
    await store.open(a_round())
    await store.forget("r1", ASKED_AT, "salt")

    with pytest.raises(
        ForgottenError,
        match="Say whether it helped, without a reason",
    ):
        await store.rate(SAID)
    await store.rate(replace(SAID, reason=""))

    assert await store.ratings("r1") == (replace(SAID, reason=""),)


@in_memory_too
@both
async def test_a_deleted_round_loses_its_entries(store: Store, entry: Any) -> None:  # noqa: ANN401
    await store.open(a_round(question=Question("Why?", place=Place("slack", "T1"))))
    await put(store, entry)

    await store.delete_workspace("slack", "T1")

    assert await read(store, entry) == ()
