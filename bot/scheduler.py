"""The slots of a schedule, as APScheduler asks for them."""

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
from bot.bakeoffs.lifecycle import hold
from bot.chat import Chat, MessageGoneError, Post, PostingForbiddenError
from bot.commands.schedules import ReportTarget, fitted, still_going, way_to
from bot.context import SCHEDULES, AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.observability import logs
from bot.render.schedules import dropped_post, paused_post, skipped_post
from bot.schedules.cron import Due, Slots, due, slots_of
from council.bakeoffs.models import Bakeoff, Schedule
from council.errors import CouncilError, PanelError, SuiteError

# --- The slots of a schedule, as APScheduler asks for them.


# APScheduler ships no types.
class SlotTrigger(BaseTrigger):  # type: ignore[misc]
    """Gives one slot after another."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Give the slot after the last one, or after now where there was none.

        Of all that came while nobody could fire, APScheduler then takes the newest.
        """
        return self._slots.after(previous_fire_time or now).moment


# --- What happens at a slot: a bake-off is begun, or it is said why none is.

Hold = Callable[[AppContext, Chat | None, Bakeoff], Awaitable[object]]

# What no later slot will mend by itself.
_CANNOT = (PostingForbiddenError, AccessDeniedError, PanelError, SuiteError)


class SlotRunner:
    """Fires one slot of a schedule at a time; bake-offs are held in `doing`."""

    def __init__(self, app: AppContext, hold: Hold, doing: BackgroundTasks) -> None:
        self._app = app
        self._hold = hold
        self._doing = doing
        self._busy: set[str] = set()

    async def fire(self, schedule_id: str) -> None:
        """Do what a schedule has due; what cannot be done now is left for the next look."""
        if schedule_id in self._busy:
            return
        self._busy.add(schedule_id)
        log = structlog.get_logger()
        try:
            await self._fire(schedule_id)
        except CouncilError as error:
            log.warning("schedule_not_fired", schedule_id=schedule_id, why=str(error))
        # The outermost handler of a timer: nobody else hears of it.
        except Exception as error:  # noqa: BLE001
            logs.unforeseen("schedule_failed", error, schedule_id=schedule_id)
        finally:
            self._busy.discard(schedule_id)

    async def _fire(self, schedule_id: str) -> None:
        schedule = await self._row(schedule_id)
        found = due(schedule, self._app.now()) if schedule else None
        way = way_to(self._app, schedule.place) if schedule else None
        # A chat that is not connected is waited for; what gets too late meanwhile is told then.
        if not schedule or not found or not way:
            return
        await self._at_slot(way, schedule, found)
        await self._app.bakeoff_stores.schedules.take(schedule.id, found.slot.key)

    async def _at_slot(self, way: ReportTarget, schedule: Schedule, found: Due) -> None:
        if found.is_late:
            await self._left_out(
                way, schedule, found, dropped_post(schedule, found, self._app.now())
            )
            return
        if before := await still_going(self._app, schedule, but=found.slot.key):
            await self._left_out(way, schedule, found, skipped_post(schedule, found, before))
            return
        try:
            bakeoff = await fitted(self._app, schedule, found.slot.key)
            if way.chat:
                await way.chat.check_postable(schedule.place)
        except _CANNOT as error:
            await self._pause(way, schedule, found, str(error))
            return
        if await self._app.bakeoff_stores.bakeoffs.open(bakeoff):
            structlog.get_logger().info(
                "schedule_fired", schedule=schedule.name, bakeoff_id=bakeoff.id
            )
            self._doing.begin(self._held(way, schedule, found, bakeoff))

    async def _held(
        self, way: ReportTarget, schedule: Schedule, found: Due, bakeoff: Bakeoff
    ) -> None:
        try:
            await self._hold(self._app, way.chat, bakeoff)
        except PostingForbiddenError as error:
            await self._pause(way, schedule, found, str(error))
        # Whoever holds it has told of it and logged it.
        except CouncilError as error:
            log = structlog.get_logger()
            log.warning("scheduled_bakeoff_stopped", bakeoff_id=bakeoff.id, why=str(error))

    async def _left_out(
        self, way: ReportTarget, schedule: Schedule, found: Due, post: Post
    ) -> None:
        """Say in the place that a slot has no run, once."""
        log = structlog.get_logger()
        log.warning("slot_left_out", schedule=schedule.name, slot=found.slot.key, why=post.summary)
        if way.chat is None:
            return
        bakeoff_id = schedule.bakeoff_id(found.slot.key)
        try:
            await self._app.outbox.send(way.chat, bakeoff_id, "left out", post, schedule.place)
        except (PostingForbiddenError, MessageGoneError) as error:
            await self._pause(way, schedule, found, str(error))

    async def _pause(self, way: ReportTarget, schedule: Schedule, found: Due, why: str) -> None:
        """Have a schedule that cannot run paused, once whoever made it was told."""
        log = structlog.get_logger()
        log.warning("schedule_paused", schedule=schedule.name, slot=found.slot.key, why=why)
        if way.chat:
            place = way.chat.private_place(schedule.made_by, schedule.place)
            bakeoff_id, post = schedule.bakeoff_id(found.slot.key), paused_post(schedule, why)
            with suppress(
                PostingForbiddenError, MessageGoneError
            ):  # then nobody is there to be told
                await self._app.outbox.send(way.chat, bakeoff_id, "paused", post, place)
        if now := await self._row(schedule.id):
            await self._app.bakeoff_stores.schedules.keep(replace(now, paused=True))
        await self._app.pubsub.publish(SCHEDULES)

    async def _row(self, schedule_id: str) -> Schedule | None:
        """Give the row as it is now."""
        rows = await self._app.bakeoff_stores.schedules.every()
        return next((row for row in rows if row.id == schedule_id), None)


# --- The scheduler as long as the bot runs: schedules are rows, and timers of this process wait.

LOOK_SECONDS = 30.0


class Scheduler:
    """Starts what is due; `trigger` gives the timer of a schedule's slots."""

    def __init__(
        self,
        app: AppContext,
        hold: Hold = hold,
        trigger: Callable[[Slots], Any] = SlotTrigger,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._app = app
        self._trigger = trigger
        self._look_seconds = look_seconds
        self.doing = BackgroundTasks()
        self._firing = SlotRunner(app, hold, self.doing)
        self._waiting: dict[str, Slots] = {}
        self._unsound: set[str] = set()
        self._timers = AsyncIOScheduler(
            timezone=UTC,
            job_defaults={
                "coalesce": True,
                "max_instances": 1,
                # What is too late is decided, and told, by `due`; a timer would only drop it.
                "misfire_grace_time": None,
            },
        )

    async def run(self) -> None:
        """Start what is due until cancelled; bake-offs that were begun are not ended with it."""
        self._timers.start()
        try:
            with self._app.pubsub.subscription(SCHEDULES) as changed:
                while True:
                    await self.look()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._look_seconds):
                            await changed.get()
        finally:
            self._timers.shutdown(wait=False)
            await asyncio.sleep(0)  # it takes effect with the next turn of the loop
            await self.doing.close()

    async def look(self) -> None:
        """Set the timers by the rows as they are now, and start what is due already."""
        try:
            rows = await self._app.bakeoff_stores.schedules.every()
        except CouncilError as error:  # the next look may find the database well again
            structlog.get_logger().error("schedules_not_read", why=str(error))
            return
        sound = {row.id: row for row in rows if not row.paused and self._is_sound(row)}
        self._set_timers(sound)
        for row in sound.values():
            if due(row, self._app.now()):
                self.doing.begin(self.fire(row.id))

    async def fire(self, schedule_id: str) -> None:
        """Start what a schedule has due, once among all processes."""
        await self._firing.fire(schedule_id)

    @property
    def waiting(self) -> Mapping[str, Slots]:
        """The schedules that have a timer, by id, and its slots."""
        return self._waiting

    def _set_timers(self, rows: Mapping[str, Schedule]) -> None:
        wanted = {id_: slots_of(row) for id_, row in rows.items()}
        for gone in self._waiting.keys() - wanted.keys():
            self._timers.remove_job(gone)
        for id_, slots in wanted.items():
            if self._waiting.get(id_) != slots:
                self._timers.add_job(
                    self.fire, self._trigger(slots), (id_,), id=id_, replace_existing=True
                )
        self._waiting = wanted

    def _is_sound(self, row: Schedule) -> bool:
        """Say whether a row has slots at all; one that somebody broke is logged once."""
        try:
            slots_of(row).after(self._app.now())
        except (ValueError, KeyError, OSError) as error:
            if row.id not in self._unsound:
                self._unsound.add(row.id)
                why = f"{type(error).__name__}: {error}"
                structlog.get_logger().error("schedule_unsound", schedule=row.name, why=why)
            return False
        self._unsound.discard(row.id)
        return True


# --- What starts scheduled bake-offs: timers over the schedules that are kept.
