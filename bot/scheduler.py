"""Scheduler: start the bake-offs of schedules when their slots are due.

Schedules are rows; every process with this scheduler has timers for them, and the id of a slot's
bake-off makes sure that only one process starts it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger

from bot.access import AccessDeniedError
from bot.bakeoffs.lifecycle import run_bakeoff
from bot.chat import Chat, MessageGoneError, Post, PostingForbiddenError
from bot.commands.schedules import (
    ReportTarget,
    new_scheduled_bakeoff,
    report_target,
    unfinished_run,
)
from bot.context import SCHEDULES, AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.observability import logs
from bot.render.schedules import dropped_post, paused_post, skipped_post
from bot.schedules.cron import DueSlot, Slots, find_due_slot, schedule_slots
from council.bakeoffs.models import Bakeoff, Schedule
from council.errors import CouncilError, PanelError, SuiteError

RELOAD_SECONDS = 30.0  # between reads of all schedules, unless a change is announced

RunBakeoff = Callable[[AppContext, Chat | None, Bakeoff], Awaitable[object]]

# What no later slot will mend: the schedule is paused.
_PERMANENT_ERRORS = (PostingForbiddenError, AccessDeniedError, PanelError, SuiteError)


# APScheduler ships no types.
class SlotTrigger(BaseTrigger):  # type: ignore[misc]
    """APScheduler trigger that fires at each slot of a schedule."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Return the slot after the previous one, or after now if there was none.

        Of all slots that were missed, APScheduler then fires only the newest.
        """
        return self._slots.after(previous_fire_time or now).moment


class Scheduler:
    """Starts what is due; `trigger` builds the timer for the slots of a schedule."""

    def __init__(
        self,
        app: AppContext,
        run_bakeoff: RunBakeoff = run_bakeoff,
        trigger: Callable[[Slots], Any] = SlotTrigger,
        reload_seconds: float = RELOAD_SECONDS,
    ) -> None:
        self._app = app
        self._trigger = trigger
        self._reload_seconds = reload_seconds
        self.tasks = BackgroundTasks()
        self._slot_runner = SlotRunner(app, run_bakeoff, self.tasks)
        self._scheduled: dict[str, Slots] = {}
        self._invalid: set[str] = set()
        self._timers = AsyncIOScheduler(
            timezone=UTC,
            job_defaults={
                "coalesce": True,
                "max_instances": 1,
                # `due` decides what is too late, and reports it; a timer would only drop it.
                "misfire_grace_time": None,
            },
        )

    async def run(self) -> None:
        """Start what is due until cancelled; bake-offs that were started run on."""
        self._timers.start()
        try:
            with self._app.pubsub.subscription(SCHEDULES) as changes:
                while True:
                    await self.reload()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._reload_seconds):
                            await changes.get()
        finally:
            self._timers.shutdown(wait=False)
            await asyncio.sleep(0)  # the shutdown takes effect in the next turn of the event loop
            await self.tasks.close()

    async def reload(self) -> None:
        """Set the timers from the stored schedules, and start what is due already."""
        try:
            schedules = await self._app.bakeoff_stores.schedules.list_all()
        except CouncilError as error:  # the next reload may succeed
            structlog.get_logger().error("schedules_not_read", why=str(error))
            return
        active = {row.id: row for row in schedules if not row.paused and self._is_valid(row)}
        self._set_timers(active)
        for schedule in active.values():
            if find_due_slot(schedule, self._app.now()):
                self.tasks.start(self.fire(schedule.id))

    async def fire(self, schedule_id: str) -> None:
        """Start what a schedule has due, once among all processes."""
        await self._slot_runner.fire(schedule_id)

    @property
    def scheduled(self) -> Mapping[str, Slots]:
        """The slots of the schedules that have a timer, by schedule id."""
        return self._scheduled

    def _set_timers(self, schedules: Mapping[str, Schedule]) -> None:
        wanted = {id_: schedule_slots(schedule) for id_, schedule in schedules.items()}
        for removed in self._scheduled.keys() - wanted.keys():
            self._timers.remove_job(removed)
        for id_, slots in wanted.items():
            if self._scheduled.get(id_) != slots:
                self._timers.add_job(
                    self.fire, self._trigger(slots), (id_,), id=id_, replace_existing=True
                )
        self._scheduled = wanted

    def _is_valid(self, schedule: Schedule) -> bool:
        """Return whether a schedule has slots at all; log an invalid row once."""
        try:
            schedule_slots(schedule).after(self._app.now())
        except (ValueError, KeyError, OSError) as error:
            if schedule.id not in self._invalid:
                self._invalid.add(schedule.id)
                why = f"{type(error).__name__}: {error}"
                structlog.get_logger().error("schedule_unsound", schedule=schedule.name, why=why)
            return False
        self._invalid.discard(schedule.id)
        return True


class SlotRunner:
    """Starts the bake-off of a slot, or reports why not; one slot of a schedule at a time."""

    def __init__(self, app: AppContext, run_bakeoff: RunBakeoff, tasks: BackgroundTasks) -> None:
        self._app = app
        self._run_bakeoff = run_bakeoff
        self._tasks = tasks
        self._busy: set[str] = set()

    async def fire(self, schedule_id: str) -> None:
        """Start what a schedule has due; the next reload retries what fails."""
        if schedule_id in self._busy:
            return
        self._busy.add(schedule_id)
        try:
            await self._fire(schedule_id)
        except CouncilError as error:
            log = structlog.get_logger()
            log.warning("schedule_not_fired", schedule_id=schedule_id, why=str(error))
        # The outermost handler of a timer: nobody else sees the error.
        except Exception as error:  # noqa: BLE001
            logs.log_unexpected_error("schedule_failed", error, schedule_id=schedule_id)
        finally:
            self._busy.discard(schedule_id)

    async def _fire(self, schedule_id: str) -> None:
        schedule = await self._load(schedule_id)
        found = find_due_slot(schedule, self._app.now()) if schedule else None
        target = report_target(self._app, schedule.place) if schedule else None
        # Wait for a chat that is not connected; a slot that gets too late is reported then.
        if not schedule or not found or not target:
            return
        await self._start(target, schedule, found)
        await self._app.bakeoff_stores.schedules.claim_slot(schedule.id, found.slot.key)

    async def _start(self, target: ReportTarget, schedule: Schedule, found: DueSlot) -> None:
        if found.is_late:
            post = dropped_post(schedule, found, self._app.now())
            await self._report_skipped(target, schedule, found, post)
            return
        if before := await unfinished_run(self._app, schedule, but=found.slot.key):
            post = skipped_post(schedule, found, before)
            await self._report_skipped(target, schedule, found, post)
            return
        try:
            bakeoff = await new_scheduled_bakeoff(self._app, schedule, found.slot.key)
            if target.chat:
                await target.chat.check_postable(schedule.place)
        except _PERMANENT_ERRORS as error:
            await self._pause(target, schedule, found, str(error))
            return
        if await self._app.bakeoff_stores.bakeoffs.open(bakeoff):
            log = structlog.get_logger()
            log.info("schedule_fired", schedule=schedule.name, bakeoff_id=bakeoff.id)
            self._tasks.start(self._run(target, schedule, found, bakeoff))

    async def _run(
        self, target: ReportTarget, schedule: Schedule, found: DueSlot, bakeoff: Bakeoff
    ) -> None:
        try:
            await self._run_bakeoff(self._app, target.chat, bakeoff)
        except PostingForbiddenError as error:
            await self._pause(target, schedule, found, str(error))
        # The process that runs it has reported and logged it.
        except CouncilError as error:
            log = structlog.get_logger()
            log.warning("scheduled_bakeoff_stopped", bakeoff_id=bakeoff.id, why=str(error))

    async def _report_skipped(
        self, target: ReportTarget, schedule: Schedule, found: DueSlot, post: Post
    ) -> None:
        """Post once that a slot has no run."""
        log = structlog.get_logger()
        log.warning("slot_left_out", schedule=schedule.name, slot=found.slot.key, why=post.summary)
        if target.chat is None:
            return
        bakeoff_id = schedule.bakeoff_id(found.slot.key)
        try:
            await self._app.outbox.send(target.chat, bakeoff_id, "left out", post, schedule.place)
        except (PostingForbiddenError, MessageGoneError) as error:
            await self._pause(target, schedule, found, str(error))

    async def _pause(
        self, target: ReportTarget, schedule: Schedule, found: DueSlot, why: str
    ) -> None:
        """Pause a schedule that cannot run, after telling its author privately."""
        log = structlog.get_logger()
        log.warning("schedule_paused", schedule=schedule.name, slot=found.slot.key, why=why)
        if target.chat:
            place = target.chat.private_place(schedule.made_by, schedule.place)
            bakeoff_id, post = schedule.bakeoff_id(found.slot.key), paused_post(schedule, why)
            with suppress(PostingForbiddenError, MessageGoneError):  # then nobody can be told
                await self._app.outbox.send(target.chat, bakeoff_id, "paused", post, place)
        if current := await self._load(schedule.id):
            await self._app.bakeoff_stores.schedules.save(replace(current, paused=True))
        await self._app.pubsub.publish(SCHEDULES)

    async def _load(self, schedule_id: str) -> Schedule | None:
        schedules = await self._app.bakeoff_stores.schedules.list_all()
        return next((row for row in schedules if row.id == schedule_id), None)
