"""Schedules: unique names in a scope, and each slot is taken once, by any process."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from council.bakeoffs.ports import BakeoffStores
from council.errors import ScheduleError
from storage.bakeoffs import SqlSchedules
from storage.engine import open_engine
from tests.builders import a_schedule
from tests.storage.benches import T1, T2
from tests.storage.builders import BOTH, in_memory_too

MONDAY, NEXT = "2026-11-23T09:00", "2026-11-30T09:00"
DATABASES = BOTH


@in_memory_too
async def test_a_schedule_comes_back_whole(bakeoff_stores: BakeoffStores) -> None:
    schedule = a_schedule(place=replace(T1, thread="1.2", private=True), paused=True)

    await bakeoff_stores.schedules.save(schedule)

    assert await bakeoff_stores.schedules.list_all() == (schedule,)


async def test_a_changed_schedule_keeps_its_id(bakeoff_stores: BakeoffStores) -> None:
    await bakeoff_stores.schedules.save(a_schedule())
    changed = a_schedule(name="daily", cron="0 9 * * *", cap_micro=None, subscribers=(), place=T2)

    await bakeoff_stores.schedules.save(changed)

    assert await bakeoff_stores.schedules.list_all() == (changed,)


@in_memory_too
async def test_a_name_is_unique_in_its_scope(bakeoff_stores: BakeoffStores) -> None:
    await bakeoff_stores.schedules.save(a_schedule())

    with pytest.raises(ScheduleError, match="There is a schedule 'weekly' already: give this"):
        await bakeoff_stores.schedules.save(a_schedule("s2"))

    await bakeoff_stores.schedules.save(a_schedule("s2", scope=T2.scope))
    assert [schedule.id for schedule in await bakeoff_stores.schedules.list_all()] == ["s1", "s2"]


async def test_schedules_are_listed_by_name_and_scope(bakeoff_stores: BakeoffStores) -> None:
    for schedule_id, name, scope in (("1", "b", ""), ("2", "a", T1.scope), ("3", "a", "")):
        await bakeoff_stores.schedules.save(a_schedule(schedule_id, name=name, scope=scope))

    assert [schedule.id for schedule in await bakeoff_stores.schedules.list_all()] == [
        "3",
        "2",
        "1",
    ]
    assert [schedule.id for schedule in await bakeoff_stores.schedules.list_all("")] == ["3", "1"]


@in_memory_too
async def test_a_slot_is_taken_once_and_none_before_it(bakeoff_stores: BakeoffStores) -> None:
    await bakeoff_stores.schedules.save(a_schedule())

    taken = [await bakeoff_stores.schedules.claim_slot("s1", slot) for slot in (NEXT, NEXT, MONDAY)]

    assert taken == [True, False, False]
    assert [schedule.last_slot for schedule in await bakeoff_stores.schedules.list_all()] == [NEXT]


async def test_an_unknown_schedule_has_no_slot(bakeoff_stores: BakeoffStores) -> None:
    assert not await bakeoff_stores.schedules.claim_slot("s1", MONDAY)


@in_memory_too
async def test_a_slot_taken_while_somebody_edits_stays_taken(bakeoff_stores: BakeoffStores) -> None:
    await bakeoff_stores.schedules.save(a_schedule())
    [seen] = await bakeoff_stores.schedules.list_all()
    await bakeoff_stores.schedules.claim_slot("s1", MONDAY)

    await bakeoff_stores.schedules.save(replace(seen, paused=True))

    assert not await bakeoff_stores.schedules.claim_slot("s1", MONDAY)
    assert await bakeoff_stores.schedules.claim_slot("s1", NEXT)


@in_memory_too
async def test_in_another_zone_the_last_slot_starts_again(bakeoff_stores: BakeoffStores) -> None:
    await bakeoff_stores.schedules.save(a_schedule())
    await bakeoff_stores.schedules.claim_slot("s1", "2026-11-23T22:00")

    await bakeoff_stores.schedules.save(a_schedule(zone="America/New_York", last_slot=""))

    assert await bakeoff_stores.schedules.claim_slot("s1", "2026-11-23T18:00")


@in_memory_too
async def test_a_removed_schedule_is_gone(bakeoff_stores: BakeoffStores) -> None:
    await bakeoff_stores.schedules.save(a_schedule())

    assert await bakeoff_stores.schedules.remove("s1")

    assert not await bakeoff_stores.schedules.remove("s1")
    assert await bakeoff_stores.schedules.list_all() == ()


async def test_of_many_processes_one_takes_a_slot(engine: AsyncEngine, url: str) -> None:
    await SqlSchedules(engine).save(a_schedule())
    others = [open_engine(url) for _ in range(3)]
    slots = [f"2026-11-23T09:{minute:02}" for minute in range(20)]

    async def took(kept: SqlSchedules) -> list[str]:
        return [slot for slot in slots if await kept.claim_slot("s1", slot)]

    taken = await asyncio.gather(*(took(SqlSchedules(one)) for one in (engine, *others)))
    for other in others:
        await other.dispose()

    once = [slot for found in taken for slot in found]
    assert len(once) == len({*once})
    assert slots[-1] in once
