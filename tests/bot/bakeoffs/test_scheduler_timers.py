"""Timers of the library: they fire, follow the rows, and end with the bot."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bot.bakeoffs.cron import Slots, schedule_slots
from bot.bakeoffs.parts import SCHEDULES
from bot.bakeoffs.scheduler import Scheduler, SlotTrigger
from tests.bot.bakeoffs.scheduler_fakes import SLOT, WEEKLY, SchedulerHarness, make_harness

PATIENCE_SECONDS = 10
ID = f"sched:{WEEKLY.id}@{SLOT}"


@dataclass(slots=True)
class Shifted:
    """A clock that goes as the real one does, on another day."""

    lead: timedelta

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.lead

    def trigger(self, slots: Slots) -> SlotTrigger:
        """Return a trigger for the library, which knows the real time alone."""
        lead = self.lead

        class Leading(SlotTrigger):
            def get_next_fire_time(
                self, previous_fire_time: datetime | None, now: datetime
            ) -> datetime:
                before = previous_fire_time and previous_fire_time + lead
                found = super().get_next_fire_time(before, now + lead)
                return found - lead

        return Leading(slots)


@asynccontextmanager
async def running(
    seconds_before: float, look_seconds: float = 60
) -> AsyncIterator[SchedulerHarness]:
    """Run a scheduler so many seconds before the slot of its schedule."""
    harness = await make_harness()
    slot = schedule_slots(WEEKLY).after(harness.clock())
    clock = Shifted(slot - timedelta(seconds=seconds_before) - datetime.now(UTC))
    harness.app.now = clock
    harness.scheduler = Scheduler(harness.app, harness.runs, clock.trigger, look_seconds)
    task = asyncio.create_task(harness.scheduler.run())
    await asyncio.sleep(0)
    try:
        yield harness
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until_held(harness: SchedulerHarness, count: int = 1) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(harness.runs.started) < count:  # noqa: ASYNC110 - a timer of a library gives no sign
            await asyncio.sleep(0.01)


async def test_a_timer_fires_at_the_slot_of_a_schedule_that_was_made_just_now() -> None:
    async with running(0.5) as harness:
        await harness.save_schedule()
        await harness.app.pubsub.publish(SCHEDULES)
        await until_held(harness)

        assert harness.runs.ids == [ID]


async def test_a_schedule_of_another_process_is_found_at_the_next_reload() -> None:
    async with running(0.5, look_seconds=0.1) as harness:
        await harness.save_schedule()

        await until_held(harness)

        assert harness.runs.ids == [ID]


def timers_of(harness: SchedulerHarness) -> dict[str, Slots]:
    return {job.id: job.trigger.slots for job in harness.scheduler.timers.get_jobs()}


async def test_timers_follow_the_rows() -> None:
    harness = await make_harness()
    await harness.save_schedule()
    await harness.reload()
    assert timers_of(harness) == {WEEKLY.id: schedule_slots(WEEKLY)}
    changed = replace(WEEKLY, cron="0 10 * * 1", zone="Europe/Budapest")
    await harness.save_schedule(changed)
    await harness.reload()
    assert timers_of(harness) == {WEEKLY.id: schedule_slots(changed)}

    await harness.save_schedule(replace(changed, paused=True))
    await harness.reload()

    assert timers_of(harness) == {}
