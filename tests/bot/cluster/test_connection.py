"""When the database was there, and when a process stood still."""

import asyncio

from structlog.testing import capture_logs

from bot.cluster.connection import ConnectionMonitor
from bot.cluster.worker import FreezeDetector
from tests.bot.cluster.processes import Clock


def test_an_outage_is_logged_once_and_its_end_restarts_the_count() -> None:
    clock = Clock()
    monitor = ConnectionMonitor(clock)
    clock.now += 100

    with capture_logs() as logs:
        for _ in range(3):
            monitor.mark_unreachable()
        clock.now += 30
        was_reachable = monitor.was_reachable_for(0)
        for _ in range(3):
            monitor.mark_reachable()

    assert [entry["event"] for entry in logs] == ["database_away", "database_back"]
    assert (was_reachable, monitor.was_reachable_for(0), monitor.was_reachable_for(20)) == (
        False,
        True,
        False,
    )
    clock.now += 20
    assert monitor.was_reachable_for(20)
    assert monitor.reconnected.is_set()


def test_the_moment_of_the_last_trouble_is_remembered() -> None:
    clock = Clock()
    monitor = ConnectionMonitor(clock)
    before = monitor.was_troubled_since(clock.now)
    clock.now += 1

    monitor.mark_troubled()

    assert (before, monitor.was_troubled_since(101.0)) == (False, True)
    assert not monitor.was_troubled_since(101.5)


async def test_a_freeze_is_detected() -> None:
    clock, gaps = Clock(), asyncio.Queue[float]()
    detector = FreezeDetector(gaps.put_nowait, 10.0, clock)
    detector.start()
    clock.now += 60
    was_awake = detector.is_awake

    async with asyncio.timeout(30):
        gap = await gaps.get()
    detector.stop()

    assert (was_awake, gap, detector.is_awake) == (False, 60.0, True)
