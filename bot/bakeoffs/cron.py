"""Cron parser and slot calculator: five-field crons in a time zone. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from operator import itemgetter
from zoneinfo import ZoneInfo

from croniter import CroniterError, croniter

from council.bakeoffs.models import Schedule, slot_at
from council.errors import ScheduleError

GRACE_SECONDS = 3600  # a slot may run this late


# --- Names of days and months

DAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
WEEKDAYS, WEEKEND = (1, 2, 3, 4, 5), (0, 6)


def parse_day(word: str) -> int:
    """Return the day of the week (Sunday is 0) of "mon" or "mondays", in lower case."""
    return DAY_NUMBERS[word.removesuffix("s")]


DAY_NUMBERS = {name.lower(): number for number, name in enumerate(DAY_NAMES)}
DAY_NUMBERS |= {name[:3]: number for name, number in DAY_NUMBERS.items()}
DAY_NUMBERS["thur"] = 4


# --- Cron expressions

_MIN_INTERVAL_MINUTES = 5
_FIELD_COUNT = 5
_EXAMPLE = '"0 9 * * 1" means every Monday at 09:00'
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}
LAST = "l"
_DAY_MINUTES = 24 * 60
# An arbitrary start: a cron with no run after it never runs.
_START = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
_NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat"
_PART = rf"(?:\*|\d+|{_NAMES})"
_ITEM = rf"(?:{_PART}(?:-{_PART})?(?:/\d+)?|{_PART}#[1-5]|l[0-7]?)"
_FIELD = re.compile(rf"{_ITEM}(?:,{_ITEM})*", re.IGNORECASE)
# croniter reads "9-9" as every hour.
_SINGLE_VALUE_RANGE = re.compile(r"\b(\w+)-\1(?:/\d+)?(?=,|$)")
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?", re.ASCII)
_CLOCK_FIELD = re.compile(r"[\d*][\d*,/-]*")


@dataclass(frozen=True, slots=True)
class CronFields:
    """The values each field allows, None for any; `nth` pairs weekdays with 1 to 5 or LAST."""

    minutes: tuple[int, ...] | None
    hours: tuple[int, ...] | None
    days: tuple[int | str, ...] | None
    months: tuple[int, ...] | None
    weekdays: tuple[int, ...] | None
    nth: tuple[tuple[int, int | str], ...] = field(default=())


def is_cron(text: str) -> bool:
    """Return whether a text looks like a cron, valid or not."""
    words = text.split()
    if len(words) == 1 and words[0].startswith("@"):
        return True
    return len(words) >= _FIELD_COUNT and all(map(_CLOCK_FIELD.fullmatch, words[:2]))


def validate_cron(text: str) -> str:
    """Return the cron, normalized; raise ScheduleError if it is bad, never runs or too often."""
    cron = _ALIASES.get(text.strip().lower(), " ".join(text.split()))
    parts = cron.split()
    if cron.startswith("@"):
        raise ScheduleError(f"There is no {cron!r}. Write {' or '.join(_ALIASES)}.")
    if len(parts) != _FIELD_COUNT:
        raise ScheduleError(
            f"A cron expression has five fields (minute, hour, day, month, weekday), but {cron!r} "
            f"has {len(parts)}: {_EXAMPLE}."
        )
    cron = " ".join(_SINGLE_VALUE_RANGE.sub(r"\1", part) for part in parts)
    for part in parts:
        if not _FIELD.fullmatch(part):
            raise ScheduleError(f"{part!r} in {cron!r} is not a valid field: {_EXAMPLE}.")
    try:
        fields = parse_fields(cron)
        croniter(cron, _START).get_next(datetime)
    except CroniterError as error:
        if "failed to find" in str(error).lower():
            raise ScheduleError(
                f"{cron!r} never runs, because no month has that day. Choose another day: "
                f"{_EXAMPLE}."
            ) from None
        raise ScheduleError(f"{cron!r} is not a cron expression: {_EXAMPLE}.") from None
    if any(gap < _MIN_INTERVAL_MINUTES for gap in _minute_gaps(fields)):
        raise ScheduleError(
            f"{cron!r} runs more often than every {_MIN_INTERVAL_MINUTES} minutes, and you pay "
            'for each run. Write "*/30 * * * *" or "every hour", for example.'
        )
    return cron


def weekly_cron(days: Iterable[int], time: str) -> str:
    """Return the cron of days of the week, Sunday as 0, at a time such as "09:30".

    Raise ScheduleError if there are no days, or if it is no time of day.
    """
    chosen = sorted(set(days))
    if not chosen:
        raise ScheduleError("Tick at least one day of the week.")
    clock = _TIME.fullmatch(time)
    if clock is None:
        raise ScheduleError("Choose a time of day.")
    return validate_cron(f"{int(clock[2])} {int(clock[1])} * * {','.join(map(str, chosen))}")


def weekly_times(cron: str) -> tuple[tuple[int, ...], str] | None:
    """Return the days and the time of a valid cron like those of `weekly_cron`; None for others."""
    fields = parse_fields(cron)
    if fields.days or fields.months or fields.nth or not (fields.minutes and fields.hours):
        return None
    if len(fields.minutes) > 1 or len(fields.hours) > 1:
        return None
    days = tuple(sorted({day % 7 for day in fields.weekdays or range(7)}))
    return days, f"{fields.hours[0]:02}:{fields.minutes[0]:02}"


def parse_fields(cron: str) -> CronFields:
    """Return the values each field allows. Raise CroniterError for an invalid cron."""
    expanded, nth = croniter.expand(cron)
    minutes, hours, days, months, weekdays = (
        None if "*" in values else tuple(values) for values in expanded
    )
    turns = [(day, turn) for day, turns in nth.items() for turn in sorted(turns, key=str)]
    return CronFields(
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=weekdays,
        nth=tuple(sorted(turns, key=itemgetter(0))),
    )


def monthly_runs(cron: str) -> float:
    """Return how often the cron runs in a month, averaged over a year."""
    fields = parse_fields(cron)
    times = len(fields.minutes or range(60)) * len(fields.hours or range(24))
    _, _, *days = cron.split()
    daily = croniter(f"0 0 {' '.join(days)}", _START)
    after = _START.replace(year=_START.year + 1)
    count = 0
    while daily.get_next(datetime) <= after:
        count += 1
    return times * count / 12


def _minute_gaps(fields: CronFields) -> Iterator[int]:
    """Yield the minutes between consecutive times of a day, then those to the next day's first."""
    hours, minutes = fields.hours or range(24), fields.minutes or range(60)
    times = sorted(60 * hour + minute for hour in hours for minute in minutes)
    yield from (later - sooner for sooner, later in pairwise(times))
    yield times[0] + _DAY_MINUTES - times[-1]


# --- Slots in a time zone

_SECOND, _ZERO = timedelta(seconds=1), timedelta()


@dataclass(frozen=True, slots=True)
class Slots:
    """The run times of a valid cron, in its time zone, correct across clock changes."""

    cron: str
    zone: str

    def after(self, moment: datetime) -> datetime:
        """Return the first slot after a moment."""
        return next(self.iterate_after(moment))

    def iterate_after(self, moment: datetime) -> Iterator[datetime]:
        """Yield the slots after a moment without end, each moment once."""
        zone = ZoneInfo(self.zone)
        times = croniter(self.cron, _wall_clock(moment, zone))
        last = moment
        while True:
            run_at = _first_moment(times.get_next(datetime), zone)
            if run_at > last:
                yield run_at.astimezone(zone)
                last = run_at

    def newest(self, moment: datetime) -> datetime:
        """Return the latest slot at or before a moment."""
        zone = ZoneInfo(self.zone)
        # In a repeated hour the wall clock has already shown the whole hour.
        wall = _wall_clock(moment, zone) + _offset_change(moment.astimezone(zone))
        times = croniter(self.cron, wall + _SECOND)
        while (run_at := _first_moment(times.get_prev(datetime), zone)) > moment:
            pass
        return run_at.astimezone(zone)

    def next_slots(self, moment: datetime, count: int = 3) -> tuple[datetime, ...]:
        """Return the next `count` slots after a moment."""
        return tuple(islice(self.iterate_after(moment), count))


def _wall_clock(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return the naive local time: given a zone, croniter would skip or repeat runs."""
    return moment.astimezone(zone).replace(tzinfo=None, microsecond=0, fold=0)


def _offset_change(local: datetime) -> timedelta:
    """Return how far the clock was turned back while it repeats an hour, else zero."""
    first = local.replace(fold=0)
    return (first.utcoffset() or _ZERO) - (local.utcoffset() or _ZERO)


def _first_moment(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return in UTC the first moment at which the wall clock shows or has passed a time."""
    local = wall.replace(tzinfo=zone, fold=0)
    first = local.astimezone(UTC)
    if _wall_clock(first, zone) == wall:
        return first
    return _end_of_gap(local.replace(fold=1).astimezone(UTC), first, zone)


def _end_of_gap(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the moment between two at which the clock is turned forward (binary search)."""
    offset = after.astimezone(zone).utcoffset()
    while after - before > _SECOND:
        middle = (before + (after - before) // 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after


# --- Due slots


@dataclass(frozen=True, slots=True)
class DueSlot:
    """The newest slot not yet taken; `is_late` if it is past GRACE_SECONDS and must not run."""

    moment: datetime
    is_late: bool

    @property
    def key(self) -> str:
        """Return the wall-clock time to the minute; it identifies the slot."""
        return slot_at(self.moment)


def schedule_slots(schedule: Schedule) -> Slots:
    """Return the slots of a schedule."""
    return Slots(schedule.cron, schedule.zone)


def find_due_slot(schedule: Schedule, now: datetime) -> DueSlot | None:
    """Return the slot to run now, or None; of several missed slots, only the newest."""
    newest = schedule_slots(schedule).newest(now)
    due = DueSlot(newest, now - newest > timedelta(seconds=GRACE_SECONDS))
    return None if schedule.paused or due.key <= schedule.last_slot else due
