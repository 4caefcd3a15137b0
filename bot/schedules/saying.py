"""A cron in plain words, as it was understood: "every Monday and Thursday at 18:00"."""

from collections.abc import Iterable, Sequence

from bot.schedules.cron import LAST, Fields, fields_of
from bot.schedules.names import DAYS, MONTHS, TURNS, WEEKDAYS, WEEKEND, ordinal

_MOST_TIMES = 6
_HOURS, _MINUTES = range(24), range(60)
_TURNS = {number: word for word, number in TURNS.items()} | {LAST: "last"}
_SETS = {
    WEEKDAYS: "every weekday",
    tuple(sorted(WEEKEND)): "every Saturday and Sunday",
    tuple(range(7)): "every day",
}


def in_words(cron: str) -> str:
    """Give when a sound cron comes; one that is too odd for words is quoted."""
    found = fields_of(cron)
    clock, calendar = _clock(found), _calendar(found)
    if not clock or not calendar:
        return f'by the cron "{cron}"'
    if calendar == "every day" and clock.startswith("every"):
        return clock
    return f"{calendar}, {clock}" if clock.startswith("every") else f"{calendar} {clock}"


def _clock(found: Fields) -> str:
    """Give the times of a day: "at 09:00 and 18:00", "every 2 hours", "every 15 minutes"."""
    hours, minutes = found.hours or tuple(_HOURS), found.minutes or tuple(_MINUTES)
    if len(hours) * len(minutes) <= _MOST_TIMES and found.hours:
        return f"at {_listed(f'{hour:02}:{minute:02}' for hour in hours for minute in minutes)}"
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


def _calendar(found: Fields) -> str:
    weekdays = _weekdays(found)
    days = f"on the {_listed(map(_day, found.days))}" if found.days else ""
    either = " or ".join(part for part in (days, weekdays) if part)
    if found.months:
        months = _listed(MONTHS[month - 1] for month in found.months)
        return f"{either or 'every day'} in {months}"
    if days and not weekdays:
        return f"{days} of every month"
    return f"{either} of the month" if found.nth else either or "every day"


def _weekdays(found: Fields) -> str:
    """Give "every Monday", "on the first Monday and last Friday"; nothing for any day."""
    if found.nth:
        turns = [f"{_TURNS.get(turn, turn)} {DAYS[day]}" for day, turn in found.nth]
        plain = [day for day in found.weekdays or () if day not in dict(found.nth)]
        return f"on the {_listed([*turns, *(f'every {DAYS[day]}' for day in plain)])}"
    if not found.weekdays:
        return ""
    known = _SETS.get(tuple(sorted(found.weekdays)))
    # A week begins with its Monday.
    days = sorted(found.weekdays, key=lambda day: (day - 1) % 7)
    return known or f"every {_listed(DAYS[day] for day in days)}"


def _day(day: int | str) -> str:
    return "last day" if day == LAST else ordinal(int(day))


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
