"""The slots of a cron in a time zone, right through every change of the clocks.

A cron speaks of what a wall clock shows. A time that the clock shows twice has its slot the first
time; one that it leaves out has it at the first moment after the gap.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from croniter import croniter

from council.bakeoffs.models import slot_of

_SECOND, _NONE = timedelta(seconds=1), timedelta()


@dataclass(frozen=True, slots=True)
class Slot:
    """One time a schedule comes: the moment, in the schedule's zone."""

    moment: datetime

    @property
    def key(self) -> str:
        """What the wall clock shows then, to the minute."""
        return slot_of(self.moment)


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of a sound cron in a zone."""

    cron: str
    zone: str

    def after(self, moment: datetime) -> Slot:
        """Give the first slot after a moment."""
        return next(self.following(moment))

    def following(self, moment: datetime) -> Iterator[Slot]:
        """Give the slots after a moment, each moment once; they never end."""
        zone = ZoneInfo(self.zone)
        times = croniter(self.cron, _shown(moment, zone))
        last = moment
        while True:
            found = _moment(times.get_next(datetime), zone)
            if found > last:
                yield Slot(found.astimezone(zone))
                last = found

    def newest(self, moment: datetime) -> Slot:
        """Give the last slot that is not after a moment."""
        zone = ZoneInfo(self.zone)
        # The second time round, the clock has shown the whole hour before.
        shown = _shown(moment, zone) + _turned_back(moment.astimezone(zone))
        times = croniter(self.cron, shown + _SECOND)
        while (found := _moment(times.get_prev(datetime), zone)) > moment:
            pass
        return Slot(found.astimezone(zone))

    def next_few(self, moment: datetime, count: int = 3) -> tuple[Slot, ...]:
        """Give so many slots after a moment."""
        return tuple(islice(self.following(moment), count))


def _shown(moment: datetime, zone: ZoneInfo) -> datetime:
    """Give what the wall clock shows; without a zone croniter knows of no changes."""
    return moment.astimezone(zone).replace(tzinfo=None, microsecond=0, fold=0)


def _turned_back(local: datetime) -> timedelta:
    """Give how far the clock was turned back, while it shows times for the second time."""
    first = local.replace(fold=0)
    return (first.utcoffset() or _NONE) - (local.utcoffset() or _NONE)


def _moment(shown: datetime, zone: ZoneInfo) -> datetime:
    """Give the first moment at which the wall clock shows a time, or has passed it, in UTC."""
    local = shown.replace(tzinfo=zone, fold=0)
    first = local.astimezone(UTC)
    if _shown(first, zone) == shown:
        return first
    return _end_of_gap(local.replace(fold=1).astimezone(UTC), first, zone)


def _end_of_gap(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """Give the moment between two at which the clock is turned forward."""
    offset = after.astimezone(zone).utcoffset()
    while after - before > _SECOND:
        middle = before + (after - before) // 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after
