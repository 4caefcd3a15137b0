"""Ratings and votes: one of each person on a round, the newest, and no texts on a forgotten one."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from council.errors import ForgottenError, RoundNotFoundError
from council.feedback import Feedback, HumanVote
from council.places import Place
from council.ports import Store
from council.rounds import Artefact, Question, Round
from tests.builders import ASKED_AT, CLAUDE, a_round
from tests.storage.builders import a_closed_round, in_memory_too

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


def closing_of(round_: Round) -> list[Artefact]:
    """Return the artefacts that make the result and end the round."""
    assert round_.tally
    assert round_.closing
    return [round_.tally, round_.closing]


async def drawn(store: Store, **fields: Any) -> Round:  # noqa: ANN401
    """Store a round that has everything but its result; return the closed one."""
    closed = replace(a_closed_round(), **fields)
    await store.open(replace(closed, tally=None, synthesis=None, closing=None))
    return closed


@in_memory_too
async def test_a_vote_before_the_result_is_blind_whatever_it_says(store: Store) -> None:
    await drawn(store)

    stored = await store.vote(replace(CAST, blind=False))

    assert stored == CAST
    assert await store.votes("r1") == (CAST,)


@in_memory_too
@pytest.mark.parametrize("result", [0, 1], ids=["tallied", "failed"])
async def test_a_vote_after_the_result_is_not_blind_and_replaces_no_blind_one(
    store: Store, result: int
) -> None:
    closed = await drawn(store)
    await store.vote(CAST)
    await store.save("r1", closing_of(closed)[result])

    kept = await store.vote(after(CAST, 60, label="L"))
    late = await store.vote(after(CAST, 60, by="U2"))

    assert kept == CAST
    assert late == after(CAST, 60, by="U2", blind=False)
    assert await store.votes("r1") == (CAST, late)


@in_memory_too
async def test_in_a_bakeoff_a_vote_stays_blind_until_one_was_cast_with_the_result(
    store: Store,
) -> None:
    closed = await drawn(store, bakeoff="b1")
    for artefact in closing_of(closed):
        await store.save("r1", artefact)

    first = await store.vote(CAST)
    second = await store.vote(after(CAST, 60, label="L"))
    seen = await store.vote(after(CAST, 1, by="U2", blind=False))
    again = await store.vote(after(CAST, 2, by="U2"))

    assert (first.blind, second.blind, seen.blind, again.blind) == (True, True, False, False)
    assert await store.votes(bakeoff="b1") == (again, second)
    assert await store.votes(bakeoff="b2") == ()


@in_memory_too
async def test_an_imported_vote_is_as_blind_as_it_was(store: Store) -> None:
    await store.open(a_closed_round())
    seen = replace(CAST, by="U2", blind=False)

    await store.vote(CAST, imported=True)
    await store.vote(seen, imported=True)

    assert await store.votes("r1") == (CAST, seen)


async def test_of_a_vote_and_the_result_at_once_one_comes_first(store: Store) -> None:
    for number in range(20):
        closed = await drawn(store, id=f"r{number}")
        cast = replace(CAST, round_id=f"r{number}")

        stored, _ = await asyncio.gather(
            store.vote(cast), store.save(cast.round_id, closing_of(closed)[0])
        )
        late = await store.vote(after(cast, 1, by="U2"))

        assert await store.votes(cast.round_id) == (stored, late)
        assert not late.blind
