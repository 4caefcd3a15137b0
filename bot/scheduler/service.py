"""The scheduler as long as the bot runs: schedules are rows, and timers of this process wait.

Rows are read again every half minute, and at once when the bus says that some process has changed
one. What a timer missed is found then, too.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC
from typing import Any

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.bakeoffs.lifecycle import hold
from bot.commands.context import SCHEDULES, Desk
from bot.coordination.tasks import Doing
from bot.scheduler.firing import Firing, Hold
from bot.scheduler.trigger import SlotTrigger
from bot.schedules.cron import Slots, due, slots_of
from council.bakeoffs.models import Schedule
from council.errors import CouncilError

LOOK_SECONDS = 30.0


class Scheduler:
    """Starts what is due; `trigger` gives the timer of a schedule's slots."""

    def __init__(
        self,
        desk: Desk,
        hold: Hold = hold,
        trigger: Callable[[Slots], Any] = SlotTrigger,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._desk = desk
        self._trigger = trigger
        self._look_seconds = look_seconds
        self.doing = Doing()
        self._firing = Firing(desk, hold, self.doing)
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
            with self._desk.bus.heard(SCHEDULES) as changed:
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
            rows = await self._desk.bench.schedules.every()
        except CouncilError as error:  # the next look may find the database well again
            structlog.get_logger().error("schedules_not_read", why=str(error))
            return
        sound = {row.id: row for row in rows if not row.paused and self._is_sound(row)}
        self._set_timers(sound)
        for row in sound.values():
            if due(row, self._desk.now()):
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
            slots_of(row).after(self._desk.now())
        except (ValueError, KeyError, OSError) as error:
            if row.id not in self._unsound:
                self._unsound.add(row.id)
                why = f"{type(error).__name__}: {error}"
                structlog.get_logger().error("schedule_unsound", schedule=row.name, why=why)
            return False
        self._unsound.discard(row.id)
        return True
