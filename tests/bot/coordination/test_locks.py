"""Named locks: one holder at a time, across processes."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.coordination.locks import LocalLocks
from bot.ports import NamedLocks
from council.errors import StoreError
from storage.engine import open_engine
from storage.locks import CROWDED, SqlLocks
from tests.postgres import Server

QUICKLY = "?options=-c%20lock_timeout%3D200ms"


@pytest.fixture
async def shared(migrated_url: str) -> AsyncIterator[list[SqlLocks]]:
    """Return the shared locks of three processes, with a short lock timeout."""
    engines = [open_engine(f"{migrated_url}{QUICKLY}") for _ in range(3)]
    locks = [SqlLocks(engine) for engine in engines]
    yield locks
    for lock, engine in zip(locks, engines, strict=True):
        await lock.close()
        await engine.dispose()


@pytest.fixture(params=["memory", "postgres"])
def locks(request: pytest.FixtureRequest) -> list[NamedLocks]:
    """Return the locks of three processes, or those of one process three times."""
    if request.param == "memory":
        return [LocalLocks()] * 3
    return [LocalLocks(lock) for lock in request.getfixturevalue("shared")]


class Holders:
    """Counts the tasks that hold a lock."""

    def __init__(self) -> None:
        self.current = 0
        self.highest = 0
        self.total = 0

    async def hold(self, lock: NamedLocks, *names: str) -> None:
        async with lock.lock(*names):
            self.current += 1
            self.highest, self.total = max(self.highest, self.current), self.total + 1
            await asyncio.sleep(0.002)
            self.current -= 1


async def test_one_task_at_a_time_holds_a_name(locks: list[NamedLocks]) -> None:
    holders = Holders()

    await asyncio.gather(*(holders.hold(locks[n % 3], "U1") for n in range(24)))

    assert (holders.highest, holders.total) == (1, 24)


async def test_names_in_any_order_never_deadlock(locks: list[NamedLocks]) -> None:
    holders = Holders()
    orders = (("U1", "T1"), ("T1", "U1"))

    async with asyncio.timeout(10):
        await asyncio.gather(*(holders.hold(locks[n % 3], *orders[n % 2]) for n in range(24)))

    assert (holders.highest, holders.total) == (1, 24)


async def test_other_names_do_not_wait(locks: list[NamedLocks]) -> None:
    async with asyncio.timeout(20), locks[0].lock("U1"), locks[1].lock("U2"):
        pass


async def test_an_error_or_a_cancellation_releases_the_lock(locks: list[NamedLocks]) -> None:
    with pytest.raises(OSError, match="gone"):
        async with locks[0].lock("U1"):
            raise OSError("gone")
    has_it = asyncio.Event()
    task = asyncio.create_task(hold_forever(locks[1], has_it))
    async with asyncio.timeout(20):
        await has_it.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    async with asyncio.timeout(20), locks[2].lock("U1"):
        pass


async def hold_forever(lock: NamedLocks, has_it: asyncio.Event) -> None:
    async with lock.lock("U1"):
        has_it.set()
        await asyncio.Event().wait()


async def test_admitted_rounds_are_visible_to_all_processes(locks: list[NamedLocks]) -> None:
    await locks[0].admit("T1", "r1")
    await locks[1].admit("T1", "r2")
    await locks[1].admit("T2", "r3")

    assert await locks[2].admitted("T1") == {"r1", "r2"}


async def test_a_dismissed_round_no_longer_counts() -> None:
    lock = LocalLocks()
    await lock.admit("T1", "r1")

    lock.dismiss("r1")

    assert await lock.admitted("T1") == frozenset()


async def test_a_wait_that_is_too_long_raises(shared: list[SqlLocks]) -> None:
    async with shared[0].lock("U1"):
        with pytest.raises(StoreError, match=CROWDED):
            async with shared[1].lock("U1"):
                pass


async def test_a_holder_is_not_blocked_by_those_that_wait(shared: list[SqlLocks]) -> None:
    holders, waiting = LocalLocks(shared[0]), Holders()
    names = [f"U{number}" for number in range(4)]
    async with holders.lock(*names):
        tasks = [asyncio.create_task(waiting.hold(shared[0], name)) for name in names * 2]
        await asyncio.sleep(0.05)

        async with asyncio.timeout(10):
            await holders.admit("T1", "r1")

    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_process_that_dies_releases_its_locks(
    shared: list[SqlLocks], postgres: Server, migrated_url: str
) -> None:
    database = migrated_url.rpartition("/")[2]
    async with asyncio.timeout(20), shared[0].lock("U1"):
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = %s AND state = 'idle in transaction'",
            database,
        )
        async with shared[1].lock("U1"):
            pass
