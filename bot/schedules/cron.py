"""The names of days and months, and turns, as people write and read them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import Any
from zoneinfo import ZoneInfo

from croniter import CroniterError, croniter

from council.bakeoffs.models import Schedule, slot_of
from council.errors import ScheduleError

# --- The names of days and months, and turns, as people write and read them.

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
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
_ABBREVIATION_LENGTH = 3


def parse_day(word: str) -> int | None:
    """Give the day of the week, Sunday as 0, of "mon", "Mondays"; None of any other word."""
    return _DAY_NUMBERS.get(word, _DAY_NUMBERS.get(word.removesuffix("s")))


def parse_month(word: str) -> int | None:
    """Give the month, January as 1; None of any other word."""
    return _MONTH_NUMBERS.get(word)


def _ordinal(number: int) -> str:
    """Give "1st", "22nd", "13th"."""
    teens = number // 10 % 10 == 1
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _number_names(
    names: tuple[str, ...], first: int, *others: tuple[str, int]
) -> Mapping[str, int]:
    whole = {name.lower(): number for number, name in enumerate(names, first)}
    return (
        {name[:_ABBREVIATION_LENGTH]: number for name, number in whole.items()}
        | whole
        | dict(others)
    )


_DAY_NUMBERS = _number_names(_DAYS, 0, ("tues", 2), ("thur", 4), ("thurs", 4))
_MONTH_NUMBERS = _number_names(_MONTHS, 1, ("sept", 9))


# --- Cron as five fields with their standard meaning, and what is refused.

_MIN_INTERVAL_MINUTES = 5
_FIELD_COUNT = 5
_EXAMPLE = '"0 9 * * 1" is every Monday at 09:00'
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
LAST = "l"
_DAY_MINUTES = 24 * 60
# Any start will do: what never comes from here never comes.
_START = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
_NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat"
_PART = rf"(?:\*|\d+|{_NAMES})"
_ITEM = rf"(?:{_PART}(?:-{_PART})?(?:/\d+)?|{_PART}#[1-5]|l[0-7]?)"
_FIELD = re.compile(rf"{_ITEM}(?:,{_ITEM})*", re.IGNORECASE)
# Of "9-9" croniter makes every hour there is.
_SINGLE_VALUE_RANGE = re.compile(r"\b(\w+)-\1(?:/\d+)?(?=,|$)")
_CLOCK_FIELD = re.compile(r"[\d*][\d*,/-]*")


@dataclass(frozen=True, slots=True)
class _Fields:
    """What a cron allows; None is any. `nth` are weekdays (Sunday 0) by their turn in a month."""

    minutes: tuple[int, ...] | None
    hours: tuple[int, ...] | None
    days: tuple[int | str, ...] | None
    months: tuple[int, ...] | None
    weekdays: tuple[int, ...] | None
    nth: tuple[tuple[int, int | str], ...] = field(default=())


def is_cron(words: list[str]) -> bool:
    """Say whether words are meant as a cron, sound or not."""
    if len(words) == 1 and words[0].startswith("@"):
        return True
    return len(words) >= _FIELD_COUNT and all(map(_CLOCK_FIELD.fullmatch, words[:2]))


def validate_cron(text: str) -> str:
    """Give a cron as five fields; ScheduleError for one that is none, never comes, or too often."""
    cron = _ALIASES.get(text.strip().lower(), " ".join(text.split()))
    parts = cron.split()
    if cron.startswith("@"):
        raise ScheduleError(f"There is no {cron!r}: write {' or '.join([*_ALIASES][:5])}.")
    if len(parts) != _FIELD_COUNT:
        raise ScheduleError(
            f"A cron has five fields (minute, hour, day, month, weekday), and {cron!r} has "
            f"{len(parts)}: {_EXAMPLE}."
        )
    cron = " ".join(_SINGLE_VALUE_RANGE.sub(r"\1", part) for part in parts)
    for part in parts:
        if not _FIELD.fullmatch(part):
            raise ScheduleError(f"{part!r} in {cron!r} is no field of a cron: {_EXAMPLE}.")
    try:
        found = _parse_fields(cron)
        croniter(cron, _START).get_next(datetime)
    except CroniterError as error:
        raise _cron_error(cron, error) from None
    if any(gap < _MIN_INTERVAL_MINUTES for gap in _minute_gaps(found)):
        raise ScheduleError(
            f"{cron!r} comes more often than every {_MIN_INTERVAL_MINUTES} minutes, and each run "
            "is paid: "
            'write "*/30 * * * *" or "every hour", for example.'
        )
    return cron


def _parse_fields(cron: str) -> _Fields:
    """Give what each field of a cron allows; CroniterError where it is none."""
    expanded, nth = croniter.expand(cron)
    listed: list[Any] = [None if "*" in values else tuple(values) for values in expanded]
    minutes, hours, days, months, weekdays = listed
    turns = tuple(
        (day, turn) for day, found in sorted(nth.items()) for turn in sorted(found, key=str)
    )
    return _Fields(minutes, hours, days, months, weekdays, turns)


def runs_a_month(cron: str) -> float:
    """Give how often a cron comes in a month, on the average of a year."""
    found = _parse_fields(cron)
    times = len(found.minutes or range(60)) * len(found.hours or range(24))
    _, _, *days = cron.split()
    daily = croniter(f"0 0 {' '.join(days)}", _START)
    after = _START.replace(year=_START.year + 1)
    count = 0
    while daily.get_next(datetime) <= after:
        count += 1
    return times * count / 12


def _cron_error(cron: str, error: Exception) -> ScheduleError:
    if "failed to find" in str(error).lower():
        return ScheduleError(
            f"{cron!r} never comes: no such day is in any such month. Name a day there is: "
            f"{_EXAMPLE}."
        )
    return ScheduleError(f"{cron!r} is no cron: {_EXAMPLE}.")


def _minute_gaps(found: _Fields) -> Iterator[int]:
    """Give the minutes between times of a day, and from its last to the next day's first."""
    hours, minutes = found.hours or range(24), found.minutes or range(60)
    times = sorted(60 * hour + minute for hour in hours for minute in minutes)
    yield from (later - sooner for sooner, later in pairwise(times))
    yield times[0] + _DAY_MINUTES - times[-1]


# --- A cron in plain words, as it was understood: "every Monday and Thursday at 18:00".

_MAX_LISTED_TIMES = 6
_HOURS, _MINUTES = range(24), range(60)
_ORDINAL_WORDS = {number: word for word, number in ORDINALS.items()} | {LAST: "last"}
_WEEKDAY_SETS = {
    WEEKDAYS: "every weekday",
    tuple(sorted(WEEKEND)): "every Saturday and Sunday",
    tuple(range(7)): "every day",
}


def in_words(cron: str) -> str:
    """Give when a sound cron comes; one that is too odd for words is quoted."""
    found = _parse_fields(cron)
    clock, calendar = _describe_clock(found), _describe_calendar(found)
    if not clock or not calendar:
        return f'by the cron "{cron}"'
    if calendar == "every day" and clock.startswith("every"):
        return clock
    return f"{calendar}, {clock}" if clock.startswith("every") else f"{calendar} {clock}"


def _describe_clock(found: _Fields) -> str:
    """Give the times of a day: "at 09:00 and 18:00", "every 2 hours", "every 15 minutes"."""
    hours, minutes = found.hours or tuple(_HOURS), found.minutes or tuple(_MINUTES)
    if len(hours) * len(minutes) <= _MAX_LISTED_TIMES and found.hours:
        return f"at {_join_words(f'{hour:02}:{minute:02}' for hour in hours for minute in minutes)}"
    every_hour = _step(hours, len(_HOURS))
    if len(minutes) == 1 and every_hour:
        past = f" at {minutes[0]} minutes past" if minutes[0] else ""
        return f"every {'hour' if every_hour == 1 else f'{every_hour} hours'}{past}"
    every_minute = _step(minutes, len(_MINUTES))
    if every_hour == 1 and every_minute:
        return f"every {'minute' if every_minute == 1 else f'{every_minute} minutes'}"
    return ""


def _step(values: Sequence[int], whole: int) -> int:
    """Give the step by which values divide a whole from 0 on; 0 where they do not."""
    step = whole // len(values)
    return step if tuple(values) == tuple(range(0, whole, step)) else 0


def _describe_calendar(found: _Fields) -> str:
    weekdays = _describe_weekdays(found)
    days = f"on the {_join_words(map(_day_text, found.days))}" if found.days else ""
    either = " or ".join(part for part in (days, weekdays) if part)
    if found.months:
        months = _join_words(_MONTHS[month - 1] for month in found.months)
        return f"{either or 'every day'} in {months}"
    if days and not weekdays:
        return f"{days} of every month"
    return f"{either} of the month" if found.nth else either or "every day"


def _describe_weekdays(found: _Fields) -> str:
    """Give "every Monday", "on the first Monday and last Friday"; nothing for any day."""
    if found.nth:
        turns = [f"{_ORDINAL_WORDS.get(turn, turn)} {_DAYS[day]}" for day, turn in found.nth]
        plain = [day for day in found.weekdays or () if day not in dict(found.nth)]
        return f"on the {_join_words([*turns, *(f'every {_DAYS[day]}' for day in plain)])}"
    if not found.weekdays:
        return ""
    known = _WEEKDAY_SETS.get(tuple(sorted(found.weekdays)))
    # A week begins with its Monday.
    days = sorted(found.weekdays, key=lambda day: (day - 1) % 7)
    return known or f"every {_join_words(_DAYS[day] for day in days)}"


def _day_text(day: int | str) -> str:
    return "last day" if day == LAST else _ordinal(int(day))


def _join_words(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


# --- The slots of a cron in a time zone, right through every change of the clocks.

_SECOND, _ZERO = timedelta(seconds=1), timedelta()


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
        times = croniter(self.cron, _wall_clock(moment, zone))
        last = moment
        while True:
            found = _first_moment(times.get_next(datetime), zone)
            if found > last:
                yield Slot(found.astimezone(zone))
                last = found

    def newest(self, moment: datetime) -> Slot:
        """Give the last slot that is not after a moment."""
        zone = ZoneInfo(self.zone)
        # The second time round, the clock has shown the whole hour before.
        shown = _wall_clock(moment, zone) + _offset_change(moment.astimezone(zone))
        times = croniter(self.cron, shown + _SECOND)
        while (found := _first_moment(times.get_prev(datetime), zone)) > moment:
            pass
        return Slot(found.astimezone(zone))

    def next_few(self, moment: datetime, count: int = 3) -> tuple[Slot, ...]:
        """Give so many slots after a moment."""
        return tuple(islice(self.following(moment), count))


def _wall_clock(moment: datetime, zone: ZoneInfo) -> datetime:
    """Give what the wall clock shows; without a zone croniter knows of no changes."""
    return moment.astimezone(zone).replace(tzinfo=None, microsecond=0, fold=0)


def _offset_change(local: datetime) -> timedelta:
    """Give how far the clock was turned back, while it shows times for the second time."""
    first = local.replace(fold=0)
    return (first.utcoffset() or _ZERO) - (local.utcoffset() or _ZERO)


def _first_moment(shown: datetime, zone: ZoneInfo) -> datetime:
    """Give the first moment at which the wall clock shows a time, or has passed it, in UTC."""
    local = shown.replace(tzinfo=zone, fold=0)
    first = local.astimezone(UTC)
    if _wall_clock(first, zone) == shown:
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


# --- Whether a schedule has a slot to run now, or had one that nobody can run in time any more.

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
