"""Plain words as a cron: "every monday and thursday 18:00", "on the 1st 08:00", "every 2 hours"."""

from collections.abc import Iterable
from datetime import date

from bot.schedules.cron import LAST
from bot.schedules.heard import EXAMPLES, HOUR, MIN, MONTH, WEEK, Heard, heard_in
from council.errors import ScheduleError

_ANY = "*"
_WHOLE = {MIN: 60, HOUR: 24, MONTH: 12}
_FITTING = {
    MIN: "minutes do not divide an hour evenly: write every 5, 10, 15, 20 or 30 minutes",
    HOUR: "hours do not divide a day evenly: write every 2, 3, 4, 6, 8 or 12 hours",
    MONTH: "months do not divide a year evenly: write every 2, 3, 4 or 6 months",
}


def cron_of(words: Iterable[str], today: date) -> str:
    """Give the cron that plain words mean; ScheduleError, with what to write, where they do not."""
    heard = heard_in(words, today)
    return " ".join((*_clock(heard), *_calendar(heard)))


def _clock(heard: Heard) -> tuple[str, str]:
    """Give the fields of the clock: minute and hour."""
    count, unit = heard.step or (0, "")
    if unit in {MIN, HOUR}:
        if heard.times or heard.fewest:
            raise ScheduleError("Say either how often or at which times, not both.")
        step = _stepped(count, unit)
        return (step, _ANY) if unit == MIN else (str(heard.past_hour), step)
    if not heard.times:
        raise ScheduleError(f"At what time? Write it in hours and minutes: {EXAMPLES}.")
    return _times(heard)


def _stepped(count: int, unit: str) -> str:
    """Give the field for every so many of a unit."""
    whole = _WHOLE[unit]
    if not count or whole % count:
        raise ScheduleError(f"{count} {_FITTING[unit]}.")
    if count == whole:
        return "1" if unit == MONTH else "0"
    return _ANY if count == 1 else f"*/{count}"


def _times(heard: Heard) -> tuple[str, str]:
    times = set(heard.times)
    hours, minutes = ({time[at] for time in times} for at in (0, 1))
    if len(times) < heard.fewest:
        raise ScheduleError(
            f"At which {heard.fewest} times? Write all of them: twice a day 09:00 18:00."
        )
    if len(times) != len(hours) * len(minutes):
        raise ScheduleError(
            "The times of one schedule share their minute, as 09:00 and 18:00 do: make a schedule "
            "for each time instead."
        )
    return _listed(minutes), _listed(hours)


def _calendar(heard: Heard) -> tuple[str, str, str]:
    """Give the fields of the calendar: day, month and weekday."""
    _check_days(heard)
    count, unit = heard.step or (1, heard.usual)
    month = _listed(heard.months)
    if unit == MONTH:
        month = _stepped(count, unit) if month == _ANY else month
    elif unit not in {MIN, HOUR} and (count != 1 or unit == "year"):
        raise ScheduleError(
            f"Every {count} {unit}s is more than a calendar can tell: name the days, as in "
            f"{EXAMPLES}."
        )
    day, weekday = _listed(heard.days), _listed(heard.weekdays)
    if heard.nth:
        turns = [f"L{day}" if turn == LAST else f"{day}#{turn}" for day, turn in heard.nth]
        weekday = ",".join(dict.fromkeys(turns))
    if (day, weekday) == (_ANY, _ANY):
        day, weekday = {MONTH: ("1", _ANY), WEEK: (_ANY, "1")}.get(unit, (_ANY, _ANY))
    return day, month, weekday


def _check_days(heard: Heard) -> None:
    in_month = heard.months or MONTH in {heard.usual, (heard.step or (0, ""))[1]}
    # "Every second monday" may be every other one.
    if heard.turns or (heard.nth and not in_month):
        raise ScheduleError(
            'First, second or last of what? Write, for example, "first monday of the month 09:00".'
        )
    if bool(heard.weekdays) + bool(heard.nth) + bool(heard.days) > 1:
        raise ScheduleError(
            "Name days of the week or days of the month, not both: a cron comes on either."
        )


def _listed(values: Iterable[int | str]) -> str:
    """Give a field that allows these; any, where there are none."""
    numbers = sorted({value for value in values if isinstance(value, int)})
    words = sorted({value.upper() for value in values if isinstance(value, str)})
    return ",".join(map(str, (*numbers, *words))) or _ANY
