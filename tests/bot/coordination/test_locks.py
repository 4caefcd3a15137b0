"""Whoever comes in under a name comes in alone, whichever process lets it in."""

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
    """Give the doors of three processes, where a lock is waited for only briefly."""
    engines = [open_engine(f"{migrated_url}{QUICKLY}") for _ in range(3)]
    doors = [SqlLocks(engine) for engine in engines]
    yield doors
    for door, engine in zip(doors, engines, strict=True):
        await door.close()
        await engine.dispose()


@pytest.fixture(params=["memory", "postgres"])
def doors(request: pytest.FixtureRequest) -> list[NamedLocks]:
    """Give the doors of three processes, or one door three times."""
    if request.param == "memory":
        return [LocalLocks()] * 3
    return [LocalLocks(door) for door in request.getfixturevalue("shared")]


class Inside:
    """Counts who is inside."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self.came = 0

    async def come(self, door: NamedLocks, *names: str) -> None:
        async with door.lock(*names):
            self.now += 1
            self.most, self.came = max(self.most, self.now), self.came + 1
            await asyncio.sleep(0.002)
            self.now -= 1


async def test_one_at_a_time_comes_in_under_a_name(doors: list[NamedLocks]) -> None:
    inside = Inside()

    await asyncio.gather(*(inside.come(doors[n % 3], "U1") for n in range(24)))

    assert (inside.most, inside.came) == (1, 24)


async def test_names_in_whatever_order_never_wait_for_each_other(doors: list[NamedLocks]) -> None:
    inside = Inside()
    orders = (("U1", "T1"), ("T1", "U1"))

    async with asyncio.timeout(10):
        await asyncio.gather(*(inside.come(doors[n % 3], *orders[n % 2]) for n in range(24)))

    assert (inside.most, inside.came) == (1, 24)


async def test_other_names_do_not_wait(doors: list[NamedLocks]) -> None:
    async with asyncio.timeout(5), doors[0].lock("U1"), doors[1].lock("U2"):
        pass


async def test_whoever_fails_or_is_cancelled_inside_leaves_it_open(doors: list[NamedLocks]) -> None:
    with pytest.raises(OSError, match="gone"):
        async with doors[0].lock("U1"):
            raise OSError("gone")
    task = asyncio.create_task(stay(doors[1]))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    async with asyncio.timeout(5), doors[2].lock("U1"):
        pass


async def stay(door: NamedLocks) -> None:
    async with door.lock("U1"):
        await asyncio.sleep(99)


async def test_who_was_let_in_is_seen_by_all_under_that_name(doors: list[NamedLocks]) -> None:
    await doors[0].admit("T1", "r1")
    await doors[1].admit("T1", "r2")
    await doors[1].admit("T2", "r3")

    assert await doors[2].admitted("T1") == {"r1", "r2"}


async def test_alone_here_a_round_counts_no_more_once_it_is_seen_out() -> None:
    door = LocalLocks()
    await door.admit("T1", "r1")

    door.dismiss("r1")

    assert await door.admitted("T1") == frozenset()


async def test_whoever_waits_too_long_is_asked_to_come_again(shared: list[SqlLocks]) -> None:
    async with shared[0].lock("U1"):
        with pytest.raises(StoreError, match=CROWDED):
            async with shared[1].lock("U1"):
                pass


async def test_who_is_inside_is_not_held_up_by_those_who_wait(shared: list[SqlLocks]) -> None:
    inside, waiting = LocalLocks(shared[0]), Inside()
    names = [f"U{number}" for number in range(4)]
    async with inside.lock(*names):
        tasks = [asyncio.create_task(waiting.come(shared[0], name)) for name in names * 2]
        await asyncio.sleep(0.05)

        async with asyncio.timeout(1):
            await inside.admit("T1", "r1")

    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_process_that_dies_inside_keeps_nobody_out(
    shared: list[SqlLocks], postgres: Server, migrated_url: str
) -> None:
    database = migrated_url.rpartition("/")[2]
    async with asyncio.timeout(5), shared[0].lock("U1"):
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = %s AND state = 'idle in transaction'",
            database,
        )
        async with shared[1].lock("U1"):
            pass
