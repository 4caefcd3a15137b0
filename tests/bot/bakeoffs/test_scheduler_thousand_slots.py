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

from bot.bakeoffs.cron import schedule_slots
from council.bakeoffs.ports import BakeoffStores
from storage.bakeoffs.bakeoffs import SqlBakeoffs, SqlSchedules, SqlSuites
from storage.bakeoffs.records import SqlRecords, sql_votes
from storage.engine import open_engine
from tests.bot.bakeoffs.scheduler_fakes import WEEKLY, Clock, SchedulerHarness, Timer, make_harness
from tests.fakes.bakeoffs.memory_bakeoffs import memory_bench
from tests.fakes.memory_store import MemoryStore
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
class SharedDatabase:
    """A database that several schedulers connect to, and the number of slots to run."""

    connect: Callable[[], BakeoffStores]
    schedulers: int = 3
    slots: int = 40


MANY = pytest.mark.nightly
STORES = [
    ("memory", 40),
    ("sqlite", 40),
    ("postgres", 40),
    *(pytest.param((name, 1_000), marks=MANY) for name in ("memory", "sqlite", "postgres")),
]


@pytest.fixture(params=STORES, ids=lambda store: f"{store[0]}-{store[1]}")
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SharedDatabase]:
    """Yield what opens one database once more, as another process would."""
    name, slots = request.param
    if name == "memory":
        stores = memory_bench(MemoryStore())
        yield SharedDatabase(lambda: stores, slots=slots)
        return
    is_server = name == "postgres"
    url = request.getfixturevalue("migrated_url") if is_server else new_file(tmp_path)
    async with AsyncExitStack() as stack:

        def connect() -> BakeoffStores:
            engine = open_engine(url)
            stack.push_async_callback(engine.dispose)
            return BakeoffStores(
                SqlSuites(engine),
                SqlBakeoffs(engine),
                SqlSchedules(engine),
                SqlRecords(engine),
                sql_votes(engine),
            )

        # A file has one writer at a time.
        yield SharedDatabase(connect, 3 if is_server else 2, slots)


async def make_harnesses(database: SharedDatabase, clock: Clock) -> list[SchedulerHarness]:
    """Return schedulers that share nothing but a clock and the database."""
    return [await make_harness(database.connect(), clock) for _ in range(database.schedulers)]


async def test_every_slot_across_a_clock_change_runs_once_however_late_schedulers_are(
    database: SharedDatabase,
) -> None:
    clock, chance = Clock(START), Random("late")
    harnesses = await make_harnesses(database, clock)
    await harnesses[0].save_schedule(MINUTELY)
    timers = [Timer(harness, MINUTELY) for harness in harnesses]
    end = schedule_slots(MINUTELY).next_slots(START, database.slots)[-1]

    for minute in count():
        if clock() >= end:
            break
        clock.move(minutes=1)
        awake = [True, *(chance.random() < 0.6 for _ in harnesses[1:])]
        chance.shuffle(awake)
        for harness, timer, is_awake in zip(harnesses, timers, awake, strict=True):
            if is_awake:
                await timer.tick()
            if is_awake and minute % 7 == 0:
                await harness.reload()
        await asyncio.gather(*(harness.settled() for harness in harnesses))

    ran = [id_ for harness in harnesses for id_ in harness.runs.ids]
    assert sorted(ran) == sorted(
        MINUTELY.bakeoff_id(minute) for minute in WALL_MINUTES[: database.slots]
    )
    assert [post for harness in harnesses for post in harness.chat.posted] == []
