"""A slot each minute, several schedulers on one database, clocks that go back."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest

from bot.schedules.cron import schedule_slots
from council.bakeoffs.ports import BakeoffStores
from storage.bakeoffs import SqlBakeoffs, SqlSchedules, SqlSuites
from storage.engine import open_engine
from storage.memory import MemoryStore
from storage.records import SqlRecords, sql_votes
from tests.bot.scheduler.fakes import WEEKLY, Clock, Timer, Watch, a_watch
from tests.fakes.memory_bakeoffs import memory_bench
from tests.sqlite import new_file

NEW_YORK = ZoneInfo("America/New_York")
# Shortly before the clocks go back, so that the hour that repeats lies between.
START = datetime(2026, 11, 1, 1, 40, tzinfo=NEW_YORK)
MINUTELY = replace(WEEKLY, cron="* * * * *", zone=NEW_YORK.key, last_slot="2026-11-01T01:40")
WALL_MINUTES = [
    f"{START.replace(tzinfo=None) + timedelta(minutes=number):%Y-%m-%dT%H:%M}"
    for number in range(1, 1_001)
]


@dataclass(frozen=True, slots=True)
class Opened:
    """What opens one database once more, as another process would; how much is tried on it."""

    connect: Callable[[], BakeoffStores]
    schedulers: int = 3
    slots: int = 40


MANY = pytest.mark.nightly
STORES = [
    *(("memory", 40), ("sqlite", 40), ("postgres", 40)),
    *(pytest.param((name, 1_000), marks=MANY) for name in ("memory", "sqlite", "postgres")),
]


@pytest.fixture(params=STORES, ids=lambda store: f"{store[0]}-{store[1]}")
async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opened]:
    """Yield what opens one database once more, as another process would."""
    name, slots = request.param
    if name == "memory":
        bench = memory_bench(MemoryStore())
        yield Opened(lambda: bench, slots=slots)
        return
    is_server = name == "postgres"
    url = request.getfixturevalue("migrated_url") if is_server else new_file(tmp_path)
    async with AsyncExitStack() as stack:

        def connect() -> BakeoffStores:
            engine = open_engine(url)
            stack.push_async_callback(engine.dispose)
            stores = (SqlSuites(engine), SqlBakeoffs(engine), SqlSchedules(engine))
            return BakeoffStores(*stores, SqlRecords(engine), sql_votes(engine))

        # A file has one writer at a time.
        yield Opened(connect, 3 if is_server else 2, slots)


async def several(opened: Opened, clock: Clock) -> list[Watch]:
    """Return schedulers that share nothing but a clock and the database."""
    return [await a_watch(opened.connect(), clock) for _ in range(opened.schedulers)]


async def test_so_many_slots_across_a_change_of_clocks_are_as_many_runs(
    opened: Opened,
) -> None:
    clock = Clock(START)
    watches = await several(opened, clock)
    await watches[0].keep(MINUTELY)
    timers = [Timer(watch, MINUTELY) for watch in watches]
    end = schedule_slots(MINUTELY).next_slots(START, opened.slots)[-1].moment

    while clock() < end:
        clock.move(minutes=1)
        await asyncio.gather(*(timer.tick() for timer in timers))
        await asyncio.gather(*(watch.settled() for watch in watches))

    ran = [id_ for watch in watches for id_ in watch.bakeoff_registry.ids]
    wanted = WALL_MINUTES[: opened.slots]
    assert len(ran) == opened.slots
    assert sorted(ran) == sorted(MINUTELY.bakeoff_id(minute) for minute in wanted)
    kept = await watches[0].app.bakeoff_stores.bakeoffs.list_recent()
    assert len(kept) == opened.slots
    assert [post for watch in watches for post in watch.room.posted] == []


async def test_so_they_are_whoever_is_late_asleep_or_looks_in_between(opened: Opened) -> None:
    clock, chance = Clock(START), Random("late")
    watches = await several(opened, clock)
    await watches[0].keep(MINUTELY)
    timers = [Timer(watch, MINUTELY) for watch in watches]
    end = schedule_slots(MINUTELY).next_slots(START, opened.slots)[-1].moment

    for minute in count():
        if clock() >= end:
            break
        clock.move(minutes=1)
        awake = [True, *(chance.random() < 0.6 for _ in watches[1:])]
        chance.shuffle(awake)
        for watch, timer, is_awake in zip(watches, timers, awake, strict=True):
            if is_awake:
                await timer.tick()
            if is_awake and minute % 7 == 0:
                await watch.look()
        await asyncio.gather(*(watch.settled() for watch in watches))

    ran = [id_ for watch in watches for id_ in watch.bakeoff_registry.ids]
    assert sorted(ran) == sorted(
        MINUTELY.bakeoff_id(minute) for minute in WALL_MINUTES[: opened.slots]
    )
