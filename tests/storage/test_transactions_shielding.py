"""Every database operation ends before a cancel, and writes share batches without loss."""

import asyncio
from collections.abc import Sequence
from inspect import getmembers, iscoroutinefunction, isfunction, unwrap
from itertools import chain

import pytest

from storage.hash_chain import SqlHashChain
from storage.ledger import SqlLedger
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from storage.transactions import (
    Attempt,
    ConnectionLostError,
    WriteBatcher,
    current_attempt,
    retried_and_shielded,
    retry_seconds,
)
from tests.storage.builders import wait_until

# These only pass on work, or keep what another operation stores.
WITHOUT_TRANSACTION = {"together", "defer", "settle"}
STORES = (SqlRoundStore, SqlLedger, SqlOutbox, SqlHashChain)


def test_every_store_operation_is_retried_and_shielded() -> None:
    assert_all_shielded(*STORES)


def assert_all_shielded(*stores: type) -> None:
    operations = [
        operation
        for store in stores
        for name, operation in getmembers(store, isfunction)
        if not name.startswith("_") and name not in WITHOUT_TRANSACTION
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


class Batches:
    """Records each batch that is written; refuses a batch with a negative number.

    A write waits until `may_end` is set, and sets `began`.
    """

    def __init__(self) -> None:
        self.written: list[list[int]] = []
        self.began, self.may_end = asyncio.Event(), asyncio.Event()
        self.may_end.set()

    async def write(self, items: Sequence[int]) -> None:
        self.began.set()
        await self.may_end.wait()
        if min(items) < 0:
            raise ValueError(str(min(items)))
        self.written.append([*items])


async def begin(batches: Batches, *items: int) -> list["asyncio.Task[None]"]:
    """Add one item, wait until its write has begun, and add the others."""
    batches.may_end.clear()
    batcher = WriteBatcher(batches.write)
    first = asyncio.create_task(batcher.add(items[0]))
    await batches.began.wait()
    others = [asyncio.create_task(batcher.add(item)) for item in items[1:]]
    await asyncio.sleep(0)
    return [first, *others]


async def ends_of(adding: Sequence["asyncio.Task[None]"]) -> list[object]:
    async with asyncio.timeout(10):
        return await asyncio.gather(*adding, return_exceptions=True)


async def test_items_that_arrive_during_a_write_share_the_next_batch() -> None:
    batches = Batches()
    adding = await begin(batches, 1, 2, 3, 4)

    batches.may_end.set()
    await ends_of(adding)

    assert batches.written == [[1], [2, 3, 4]]


async def test_an_item_fails_alone_for_its_own_fault() -> None:
    batches = Batches()
    adding = await begin(batches, 1, 2, -3, 4)

    batches.may_end.set()
    ends = await ends_of(adding)

    assert [str(end) for end in ends] == ["None", "None", "-3", "None"]
    assert [*chain(*batches.written)] == [1, 2, 4]


async def test_after_a_fault_the_next_item_is_written() -> None:
    batches = Batches()
    batcher = WriteBatcher(batches.write)

    with pytest.raises(ValueError, match="-1"):
        await batcher.add(-1)
    await batcher.add(2)

    assert batches.written == [[2]]


async def test_a_lost_connection_fails_the_whole_batch_at_once() -> None:
    batches: list[Sequence[int]] = []

    async def lose(items: Sequence[int]) -> None:
        batches.append(items)
        raise ConnectionLostError("It was lost.")

    batcher = WriteBatcher(lose)

    ends = await asyncio.gather(*map(batcher.add, (1, 2, 3, 4)), return_exceptions=True)

    assert [str(end) for end in ends] == ["It was lost."] * 4
    assert [*chain(*batches)] == [1, 2, 3, 4]


@pytest.mark.parametrize("cancelled", [0, 1, 2], ids=["first", "waiting", "last"])
async def test_a_cancelled_caller_costs_no_other_its_write(cancelled: int) -> None:
    batches = Batches()
    adding = await begin(batches, 1, 2, 3)

    adding[cancelled].cancel()
    batches.may_end.set()
    ends = await ends_of(adding)

    assert [one.cancelled() for one in adding] == [n == cancelled for n in range(3)]
    assert [end for n, end in enumerate(ends) if n != cancelled] == [None, None]
    assert [*chain(*batches.written)] == [1, 2, 3]


async def test_a_cancelled_write_is_an_error_for_all_that_wait_and_for_none_after_them() -> None:
    batches = Batches()
    before = asyncio.all_tasks()
    batches.may_end.clear()
    batcher = WriteBatcher(batches.write)
    adding = [asyncio.create_task(batcher.add(1))]
    await batches.began.wait()
    writing = asyncio.all_tasks() - before - {*adding}
    adding.append(asyncio.create_task(batcher.add(2)))
    await asyncio.sleep(0)

    for task in writing:
        task.cancel()
    ends = await ends_of(adding)
    batches.may_end.set()
    await batcher.add(3)

    assert [type(end) for end in ends] == [ConnectionLostError, ConnectionLostError]
    assert batches.written == [[3]]
