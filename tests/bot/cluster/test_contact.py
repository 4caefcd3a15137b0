"""When the database was there, and when a process stood still."""

import asyncio

from structlog.testing import capture_logs

from bot.cluster.connection import ConnectionMonitor
from bot.cluster.worker import FreezeDetector
from tests.bot.cluster.processes import Clock


def test_a_database_that_comes_back_is_said_once_and_counts_from_then() -> None:
    clock = Clock()
    contact = ConnectionMonitor(clock)
    clock.now += 100

    with capture_logs() as logs:
        for _ in range(3):
            contact.lost()
        clock.now += 30
        was_held = contact.held_for(0)
        for _ in range(3):
            contact.found()

    assert [entry["event"] for entry in logs] == ["database_away", "database_back"]
    assert (was_held, contact.held_for(0), contact.held_for(20)) == (False, True, False)
    clock.now += 20
    assert contact.held_for(20)
    assert contact.returned.is_set()


def test_trouble_is_remembered_by_its_moment() -> None:
    clock = Clock()
    contact = ConnectionMonitor(clock)
    before = contact.was_troubled_since(clock.now)
    clock.now += 1

    contact.stumbled()

    assert (before, contact.was_troubled_since(101.0)) == (False, True)
    assert not contact.was_troubled_since(101.5)


async def test_a_fence_looks_by_itself() -> None:
    clock, thawed = Clock(), asyncio.Queue[float]()
    fence = FreezeDetector(thawed.put_nowait, 10.0, clock, look_seconds=0.01)
    fence.start()
    clock.now += 60
    held = fence.bakeoff_registry

    async with asyncio.timeout(5):
        gap = await thawed.get()
    fence.stop()

    assert (held, gap, fence.bakeoff_registry) == (False, 60.0, True)
