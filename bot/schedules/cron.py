"""Cron as five fields with their standard meaning, and what is refused.

Sunday is 0 or 7; where both day fields are named, either will do; `1#1` is the month's first
Monday, `L5` its last Friday, `L` its last day.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from croniter import CroniterError, croniter

from council.errors import ScheduleError

FINEST_MINUTES = 5
FIELDS = 5
EXAMPLE = '"0 9 * * 1" is every Monday at 09:00'
ALIASES = {
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
_ONE_ALONE = re.compile(r"\b(\w+)-\1(?:/\d+)?(?=,|$)")
_CLOCK = re.compile(r"[\d*][\d*,/-]*")


@dataclass(frozen=True, slots=True)
class Fields:
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
    return len(words) >= FIELDS and all(map(_CLOCK.fullmatch, words[:2]))


def checked(text: str) -> str:
    """Give a cron as five fields; ScheduleError for one that is none, never comes, or too often."""
    cron = ALIASES.get(text.strip().lower(), " ".join(text.split()))
    parts = cron.split()
    if cron.startswith("@"):
        raise ScheduleError(f"There is no {cron!r}: write {' or '.join([*ALIASES][:5])}.")
    if len(parts) != FIELDS:
        raise ScheduleError(
            f"A cron has five fields (minute, hour, day, month, weekday), and {cron!r} has "
            f"{len(parts)}: {EXAMPLE}."
        )
    cron = " ".join(_ONE_ALONE.sub(r"\1", part) for part in parts)
    for part in parts:
        if not _FIELD.fullmatch(part):
            raise ScheduleError(f"{part!r} in {cron!r} is no field of a cron: {EXAMPLE}.")
    try:
        found = fields_of(cron)
        croniter(cron, _START).get_next(datetime)
    except CroniterError as error:
        raise _refused(cron, error) from None
    if any(gap < FINEST_MINUTES for gap in _gaps(found)):
        raise ScheduleError(
            f"{cron!r} comes more often than every {FINEST_MINUTES} minutes, and each run is paid: "
            'write "*/30 * * * *" or "every hour", for example.'
        )
    return cron


def fields_of(cron: str) -> Fields:
    """Give what each field of a cron allows; CroniterError where it is none."""
    expanded, nth = croniter.expand(cron)
    listed: list[Any] = [None if "*" in values else tuple(values) for values in expanded]
    minutes, hours, days, months, weekdays = listed
    turns = tuple(
        (day, turn) for day, found in sorted(nth.items()) for turn in sorted(found, key=str)
    )
    return Fields(minutes, hours, days, months, weekdays, turns)


def runs_a_month(cron: str) -> float:
    """Give how often a cron comes in a month, on the average of a year."""
    found = fields_of(cron)
    times = len(found.minutes or range(60)) * len(found.hours or range(24))
    _, _, *days = cron.split()
    daily = croniter(f"0 0 {' '.join(days)}", _START)
    after = _START.replace(year=_START.year + 1)
    count = 0
    while daily.get_next(datetime) <= after:
        count += 1
    return times * count / 12


def _refused(cron: str, error: Exception) -> ScheduleError:
    if "failed to find" in str(error).lower():
        return ScheduleError(
            f"{cron!r} never comes: no such day is in any such month. Name a day there is: "
            f"{EXAMPLE}."
        )
    return ScheduleError(f"{cron!r} is no cron: {EXAMPLE}.")


def _gaps(found: Fields) -> Iterator[int]:
    """Give the minutes between times of a day, and from its last to the next day's first."""
    hours, minutes = found.hours or range(24), found.minutes or range(60)
    times = sorted(60 * hour + minute for hour in hours for minute in minutes)
    yield from (later - sooner for sooner, later in pairwise(times))
    yield times[0] + _DAY_MINUTES - times[-1]
