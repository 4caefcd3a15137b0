"""Whether a schedule has a slot to run now, or had one that nobody can run in time any more."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.schedules.slots import Slot, Slots
from council.bakeoffs.models import Schedule

GRACE_SECONDS = 3600  # how late a slot may still run


@dataclass(frozen=True, slots=True)
class Due:
    """The newest slot that was not taken; one that is late is not run any more."""

    slot: Slot
    is_late: bool


def slots_of(schedule: Schedule) -> Slots:
    """Give the slots of a schedule."""
    return Slots(schedule.cron, schedule.zone)


def due(schedule: Schedule, now: datetime) -> Due | None:
    """Give what a schedule has to run now: of several slots that were missed only the newest."""
    newest = slots_of(schedule).newest(now)
    if schedule.paused or newest.key <= schedule.last_slot:
        return None
    return Due(newest, now - newest.moment > timedelta(seconds=GRACE_SECONDS))
