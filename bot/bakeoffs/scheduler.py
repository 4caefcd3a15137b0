"""Scheduler: start the bake-offs of schedules when their slots are due.

Schedules are rows; every process with this scheduler has timers for them, and the id of a slot's
bake-off makes sure that only one process starts it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger

from bot.access import AccessDeniedError
from bot.bakeoffs.commands.schedules import new_scheduled_bakeoff, unfinished_run
from bot.bakeoffs.cron import DueSlot, Slots, find_due_slot, schedule_slots
from bot.bakeoffs.lifecycle import run_bakeoff
from bot.bakeoffs.parts import SCHEDULES, bakeoff_stores
from bot.bakeoffs.render.schedules import dropped_post, paused_post, skipped_post
from bot.chat import Chat, MessageGoneError, Post, PostingForbiddenError
from bot.context import AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.observability import logs
from council.bakeoffs.models import Bakeoff, Schedule
from council.errors import CouncilError, PanelError, SuiteError
from council.places import LOCAL_CHATS

log = structlog.get_logger()

RELOAD_SECONDS = 30.0  # between reads of all schedules, unless a change is announced

RunBakeoff = Callable[[AppContext, Chat | None, Bakeoff], Awaitable[object]]

# Errors that no later run would fix: the schedule is paused.
_PERMANENT_ERRORS = (PostingForbiddenError, AccessDeniedError, PanelError, SuiteError)


# APScheduler ships no types.
class SlotTrigger(BaseTrigger):  # type: ignore[misc]
    """APScheduler trigger that fires at each slot of a schedule."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Return the slot after the previous one, or after now if there was none.

        Of all slots that were missed, APScheduler then fires only the newest.
        """
        return self.slots.after(previous_fire_time or now)


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
        self._run_bakeoff = run_bakeoff
        self._busy: set[str] = set()
        self._invalid: set[str] = set()
        self.timers = AsyncIOScheduler(
            timezone=UTC,
            job_defaults={
                "coalesce": True,
                "max_instances": 1,
                # What is too late is reported; the timer would only drop it.
                "misfire_grace_time": None,
            },
        )

    async def run(self) -> None:
        """Start what is due until cancelled; bake-offs that were started run on."""
        self.timers.start()
        try:
            with self._app.pubsub.subscription(SCHEDULES) as changes:
                while True:
                    await self.reload()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._reload_seconds):
                            await changes.get()
        finally:
            self.timers.shutdown(wait=False)
            await asyncio.sleep(0)  # the shutdown takes effect in the next turn of the event loop
            await self.tasks.close()

    async def reload(self) -> None:
        """Set the timers from the stored schedules, and start what is due already."""
        try:
            schedules = await bakeoff_stores(self._app).schedules.list_all()
        except CouncilError as error:  # the next reload may succeed
            structlog.get_logger().error("schedules_not_read", why=str(error))
            return
        self.timers.remove_all_jobs()
        for schedule in schedules:
            if schedule.paused or not self._is_valid(schedule):
                continue
            trigger = self._trigger(schedule_slots(schedule))
            self.timers.add_job(self.fire, trigger, (schedule.id,), id=schedule.id)
            if find_due_slot(schedule, self._app.now()):
                self.tasks.start(self.fire(schedule.id))

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

    async def fire(self, schedule_id: str) -> None:
        """Start what a schedule has due, once among all processes; the next reload retries it."""
        if schedule_id in self._busy:
            return
        self._busy.add(schedule_id)
        try:
            await self._start_due(schedule_id)
        except CouncilError as error:
            log.warning("schedule_not_fired", schedule_id=schedule_id, why=str(error))
        # The outermost handler of a timer: nobody else sees the error.
        except Exception as error:  # noqa: BLE001
            logs.log_unexpected_error("schedule_failed", error, schedule_id=schedule_id)
        finally:
            self._busy.discard(schedule_id)

    async def _start_due(self, schedule_id: str) -> None:
        """Start the bake-off of the newest slot, or report why not, and note the slot as used."""
        schedule = await self._load(schedule_id)
        due = find_due_slot(schedule, self._app.now()) if schedule else None
        if not schedule or not due:
            return
        chat = self._app.find_chat(schedule.place)
        # Wait for a chat that is not connected; a slot that gets too late is reported then.
        if chat is None and schedule.place.chat not in LOCAL_CHATS:
            return
        if due.is_late:
            post = dropped_post(schedule, due, self._app.now())
            await self._report_skipped(chat, schedule, due, post)
        elif await unfinished_run(self._app, schedule, but=due.key):
            await self._report_skipped(chat, schedule, due, skipped_post(schedule, due))
        else:
            await self._start(chat, schedule, due)
        await bakeoff_stores(self._app).schedules.claim_slot(schedule.id, due.key)

    async def _start(self, chat: Chat | None, schedule: Schedule, due: DueSlot) -> None:
        try:
            bakeoff = await new_scheduled_bakeoff(self._app, schedule, due.key)
            if chat:
                await chat.check_postable(schedule.place)
        except _PERMANENT_ERRORS as error:
            await self._pause(chat, schedule, due, str(error))
            return
        if await bakeoff_stores(self._app).bakeoffs.open(bakeoff):
            log.info("schedule_fired", schedule=schedule.name, bakeoff_id=bakeoff.id)
            self.tasks.start(self._run(chat, schedule, due, bakeoff))

    async def _run(
        self, chat: Chat | None, schedule: Schedule, due: DueSlot, bakeoff: Bakeoff
    ) -> None:
        try:
            await self._run_bakeoff(self._app, chat, bakeoff)
        except PostingForbiddenError as error:
            await self._pause(chat, schedule, due, str(error))
        # The process that runs it has reported and logged it.
        except CouncilError as error:
            log.warning("scheduled_bakeoff_stopped", bakeoff_id=bakeoff.id, why=str(error))

    async def _report_skipped(
        self, chat: Chat | None, schedule: Schedule, due: DueSlot, post: Post
    ) -> None:
        log.warning("slot_left_out", schedule=schedule.name, slot=due.key, why=post.summary)
        if chat is None:
            return
        bakeoff_id = schedule.bakeoff_id(due.key)
        try:
            await self._app.outbox.send(chat, bakeoff_id, "left out", post, schedule.place)
        except (PostingForbiddenError, MessageGoneError) as error:
            await self._pause(chat, schedule, due, str(error))

    async def _pause(self, chat: Chat | None, schedule: Schedule, due: DueSlot, why: str) -> None:
        """Pause a schedule that cannot run, after telling its author privately."""
        log.warning("schedule_paused", schedule=schedule.name, slot=due.key, why=why)
        if chat:
            place = chat.private_place(schedule.made_by, schedule.place)
            bakeoff_id, post = schedule.bakeoff_id(due.key), paused_post(schedule, why)
            with suppress(PostingForbiddenError, MessageGoneError):  # then nobody can be told
                await self._app.outbox.send(chat, bakeoff_id, "paused", post, place)
        if current := await self._load(schedule.id):
            await bakeoff_stores(self._app).schedules.save(replace(current, paused=True))
        await self._app.pubsub.publish(SCHEDULES)

    async def _load(self, schedule_id: str) -> Schedule | None:
        schedules = await bakeoff_stores(self._app).schedules.list_all()
        return next((row for row in schedules if row.id == schedule_id), None)
