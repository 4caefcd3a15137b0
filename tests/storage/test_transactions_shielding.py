"""Every database operation ends before a cancellation takes effect."""

import asyncio
from inspect import getmembers, iscoroutinefunction, isfunction, unwrap

import pytest

from storage.bakeoffs import SqlBakeoffs, SqlSchedules, SqlSuites
from storage.hash_chain import SqlHashChain
from storage.ledger import SqlLedger
from storage.outbox import SqlOutbox
from storage.records import SqlRecords
from storage.research.experiments import SqlExperiments
from storage.rounds import SqlRoundStore
from storage.transactions import (
    Attempt,
    ConnectionLostError,
    current_attempt,
    retried_and_shielded,
    retry_seconds,
)
from tests.storage.builders import wait_until

STORES = (
    *(SqlRoundStore, SqlLedger, SqlOutbox, SqlHashChain),
    *(SqlSuites, SqlBakeoffs, SqlSchedules, SqlRecords, SqlExperiments),
)


def test_every_store_operation_is_retried_and_shielded() -> None:
    operations = [
        operation
        for store in STORES
        for name, operation in getmembers(store, isfunction)
        if not name.startswith("_")
    ]

    assert all(map(iscoroutinefunction, operations))
    # The decorator keeps what it wraps.
    assert [one.__qualname__ for one in operations if unwrap(one) is one] == []


class Flaky:
    """Loses an act so many times before it arrives; remembers every try."""

    def __init__(self, losses: int) -> None:
        self.tries: list[Attempt] = []
        self._losses = losses

    @retried_and_shielded
    async def act(self) -> int:
        self.tries.append(current_attempt())
        if len(self.tries) <= self._losses:
            raise ConnectionLostError("It was lost.")
        return len(self.tries)


async def test_a_lost_operation_is_retried_under_the_same_key() -> None:
    flaky = Flaky(2)

    assert await flaky.act() == 3
    assert [tried.is_retry for tried in flaky.tries] == [False, True, True]
    assert len({tried.key for tried in flaky.tries}) == 1


async def test_two_operations_have_two_keys() -> None:
    flaky = Flaky(0)

    await flaky.act()
    await flaky.act()

    assert len({tried.key for tried in flaky.tries}) == 2
    assert not any(tried.is_retry for tried in flaky.tries)


async def test_retries_end() -> None:
    token = retry_seconds.set(0.0)
    flaky = Flaky(9)

    with pytest.raises(ConnectionLostError, match="It was lost"):
        await flaky.act()

    retry_seconds.reset(token)
    assert len(flaky.tries) == 1


async def test_a_cancelled_caller_does_not_wait_for_retries() -> None:
    flaky = Flaky(99)
    acting = asyncio.create_task(flaky.act())
    await wait_until(lambda: len(flaky.tries) == 3)  # the next retry is after a fifth of a second

    acting.cancel()
    await asyncio.gather(acting, return_exceptions=True)

    assert acting.cancelled()
    assert len(flaky.tries) == 3


async def test_an_operation_ends_however_often_it_is_cancelled() -> None:
    may_end, ended = asyncio.Event(), asyncio.Event()

    @retried_and_shielded
    async def act() -> None:
        await may_end.wait()
        ended.set()

    acting = asyncio.create_task(act())
    for _ in range(3):
        await asyncio.sleep(0.01)
        acting.cancel()
    await asyncio.sleep(0.01)
    assert not acting.done()
    may_end.set()
    await asyncio.wait([acting])

    assert ended.is_set()
    assert acting.cancelled()
