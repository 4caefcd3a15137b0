"""Texts are kept as long as configured, and not a day longer."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.coordination.locks import leader_lock
from bot.runners.retention import DAY_SECONDS, forget_daily, forget_older
from council.errors import StoreError
from council.ports import RoundQuery
from council.rounds import Question
from tests.builders import ASKED_AT, a_round
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round


def ignore(_: str) -> None:
    """Ignore a fault."""


async def kept(**days: int) -> MemoryStore:
    store = MemoryStore()
    for round_id, day in days.items():
        asked_at = ASKED_AT + timedelta(days=day)
        await store.open(replace(a_closed_round(round_id), asked_at=asked_at))
    return store


async def remembered(store: MemoryStore) -> tuple[str, ...]:
    return await store.ids(wanted=RoundQuery(remembered=True))


async def test_only_older_rounds_are_forgotten() -> None:
    store = await kept(old=0, edge=1, new=2)

    assert await forget_older(store, 90, ASKED_AT + timedelta(days=91), ignore) == 1

    assert await remembered(store) == ("edge", "new")


async def test_a_forgotten_round_is_not_counted_again() -> None:
    store = await kept(old=0)

    moment = ASKED_AT + timedelta(days=91)
    assert [await forget_older(store, 90, moment, ignore) for _ in range(2)] == [1, 0]


async def test_what_newer_rounds_quote_of_an_old_one_goes_with_it() -> None:
    store = await kept(old=0)
    question = Question("And then?", "ben", "A quote.", quotes=("old",))
    asked_at = ASKED_AT + timedelta(days=2)
    await store.open(replace(a_closed_round("new"), question=question, asked_at=asked_at))

    assert await forget_older(store, 90, ASKED_AT + timedelta(days=91), ignore) == 1

    assert (await store.load("new")).question == replace(question, context="")


async def test_a_running_round_is_skipped() -> None:
    store = await kept(old=0)
    await store.open(a_round())

    async def is_carried(round_id: str) -> bool:
        return round_id == "r1"

    await forget_older(store, 90, ASKED_AT + timedelta(days=91), ignore, is_carried)

    assert await remembered(store) == ("r1",)


class Damaged(MemoryStore):
    """A store in which one round cannot be read."""

    async def forget(self, round_id: str, at: datetime, salt: str) -> bool:
        if round_id == "a":
            raise StoreError("Round 'a' holds what no round can.")
        return await super().forget(round_id, at, salt)


async def test_a_round_that_cannot_be_read_stops_no_other() -> None:
    store, faults = Damaged(), list[str]()
    for round_id in "ab":
        await store.open(a_closed_round(round_id))

    await forget_older(store, 90, ASKED_AT + timedelta(days=91), faults.append)

    assert await remembered(store) == ("a",)
    assert faults == ["Round 'a' holds what no round can."]


class Locked(MemoryStore):
    """A store that another program holds."""

    async def wipe(self) -> None:
        raise StoreError("The database is in use by another program.")


@pytest.mark.parametrize("kind", [MemoryStore, Locked])
async def test_old_rounds_are_forgotten_at_once_and_then_daily(kind: type[MemoryStore]) -> None:
    store, slept = kind(), list[float]()
    await store.open(replace(a_closed_round(), asked_at=ASKED_AT - timedelta(days=9999)))

    async def is_running(_: str) -> bool:
        return False

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) > 1:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await forget_daily(store, 90, is_running, leader_lock(None), sleep)

    assert await remembered(store) == ()
    assert slept == [DAY_SECONDS, DAY_SECONDS]
