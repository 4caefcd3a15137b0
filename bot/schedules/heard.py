"""What plain words say of when: times, days and steps, a word after another."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from bot.schedules.cron import LAST
from bot.schedules.names import TURNS, WEEKDAYS, WEEKEND, day_named, month_named
from council.errors import ScheduleError

EXAMPLES = '"every monday 09:00", "every weekday 9:30", "on the 1st 08:00" or "every 2 hours"'
MIN, HOUR, WEEK, MONTH = "min", "hour", "week", "month"
_FILLERS = {"a", "and", "at", "daily", "day", "days", "each", "every", "from", "in", "o'clock"}
_FILLERS |= {"of", "on", "once", "run", "running", "the", "&"}
_TWICE = {"twice": 2, "thrice": 3}
_SETS: dict[str, tuple[int, ...]] = dict.fromkeys(
    ("weekday", "weekdays", "workday", "workdays"), WEEKDAYS
)
_SETS |= dict.fromkeys(("weekend", "weekends"), WEEKEND)
_USUAL = {"week": WEEK, "weekly": WEEK, "weeks": WEEK}
_USUAL |= {"month": MONTH, "monthly": MONTH, "months": MONTH}
_UNIT = re.compile(r"(min|hour|day|week|month|year)(?:ute)?s?")
_TIME = re.compile(r"(\d{1,2})(?:[:.h](\d{2}))?(am|pm)?")
_PAST_HOUR = re.compile(r":([0-5]\d)")
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:t.*)?")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_RANGE = re.compile(r"([a-z]+)-([a-z]+)")
_HALF_DAY, _HOURS, _MINUTES, _WEEK_DAYS, _LONGEST_MONTH = 12, 24, 60, 7, 31
_WEEKDAY = r"\b((?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)\s+(?:to|through|until)\s+"
_SAME = (
    (r"\b(\d{1,2}(?:[:.]\d{2})?)\s+(am|pm)\b", r"\1\2"),
    (_WEEKDAY, r"\1-"),
    (r"\bquarter(?: of an)? hour\b", "15 minutes"),
    (r"\bhalf(?: an)? hour\b", "30 minutes"),
    (r"\b(?:an|each|every) hour\b|\bhourly\b", "every 1 hour"),
    (r"\bevery minute\b", "every 1 minutes"),
    (r"\bevery other\b", "every 2"),
    (r"\bevery second (?=(?:minute|hour|day|week|month|year)\b)", "every 2 "),
    (r"\bnoon\b|\bmidday\b", "12:00"),
    (r"\bmidnight\b", "00:00"),
)


@dataclass(slots=True)
class Heard:
    """What was heard so far; Sunday is 0. `turns` are those of which it is not said yet of what.

    `fewest` are the times that were promised, `past_hour` the minute of "every hour at :15", and
    `usual` the week or month in which any day would do.
    """

    times: list[tuple[int, int]] = field(default_factory=list)
    weekdays: list[int] = field(default_factory=list)
    turns: list[int | str] = field(default_factory=list)
    nth: list[tuple[int, int | str]] = field(default_factory=list)
    days: list[int | str] = field(default_factory=list)
    months: list[int] = field(default_factory=list)
    step: tuple[int, str] | None = None
    past_hour: int = 0
    fewest: int = 0
    usual: str = ""


def heard_in(words: Iterable[str], today: date) -> Heard:
    """Give what words say; ScheduleError for the first that means nothing here."""
    heard, rest = Heard(), _tidied(" ".join(words))
    while rest:
        taken = _take(heard, rest, today)
        if not taken:
            raise ScheduleError(
                f"I do not know what {rest[0]!r} means for a schedule: write {EXAMPLES}, or a cron "
                'in quotes, "0 9 * * 1".'
            )
        rest = rest[taken:]
    return heard


def _tidied(text: str) -> list[str]:
    """Give words small, each with one meaning: "9 am" is one word, "hourly" is "every 1 hour"."""
    text = text.lower().replace(",", " ")
    for said, meant in _SAME:
        text = re.sub(said, meant, text)
    return text.split()


def _take(heard: Heard, rest: list[str], today: date) -> int:
    """Take in what comes next; give how many words that was, 0 for one that means nothing."""
    word, after, third = (*rest, "", "")[:3]
    unit = _UNIT.fullmatch(third)
    if word == "every" and after.isdecimal() and unit:
        heard.step = (int(after), unit[1])
        return 3
    if after == "times" and word.isdecimal():
        heard.fewest = int(word)
        return 2
    if found := _DATE.fullmatch(word):
        raise _one_day(word, found, today)
    # A number alone is an hour only where that is said.
    if word == "at" and after.isdecimal() and (found := _TIME.fullmatch(after)):
        return 1 + _time(heard, after, found)
    if not word.isdecimal() and (found := _TIME.fullmatch(word)):
        return _time(heard, word, found)
    return _day(heard, word, after) or _other(heard, word)


def _time(heard: Heard, word: str, found: re.Match[str]) -> int:
    hour, minute, half = int(found[1]), int(found[2] or 0), found[3]
    if half and 1 <= hour <= _HALF_DAY:
        hour = hour % _HALF_DAY + (_HALF_DAY if half == "pm" else 0)
    elif half:
        hour = _HOURS
    if hour >= _HOURS or minute >= _MINUTES:
        raise ScheduleError(f"{word!r} is no time of day: write 09:00, 18:30 or 9am.")
    heard.times.append((hour, minute))
    return 1


def _one_day(word: str, found: re.Match[str], today: date) -> ScheduleError:
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return ScheduleError(f"There is no day {word!r}: write {EXAMPLES}.")
    if day < today:
        return ScheduleError(f"{day} is past, and a schedule recurs: write {EXAMPLES}.")
    return ScheduleError(
        f"{day} comes once, and a schedule recurs: write {EXAMPLES}; for one run there is "
        "`/council bakeoff`."
    )


def _day(heard: Heard, word: str, after: str) -> int:
    """Take in what names days: a weekday, several of them, a day of the month, a turn."""
    if (weekday := day_named(word)) is not None:
        heard.nth += [(weekday, turn) for turn in heard.turns]
        heard.weekdays += [] if heard.turns else [weekday]
        heard.turns = []
    elif word in _SETS:
        heard.weekdays += _SETS[word]
    elif days := _days_between(word):
        heard.weekdays += days
    elif word == "last" and after == "day":
        heard.days.append(LAST)
        return 2
    elif word in TURNS or word == "last":
        heard.turns.append(TURNS.get(word, LAST))
    elif found := _ORDINAL.fullmatch(word):
        _of_month(heard, int(found[1]), after)
    else:
        return 0
    return 1


def _days_between(word: str) -> list[int]:
    """Give the days of "monday-friday"; none for any other word."""
    found = _RANGE.fullmatch(word)
    first, last = map(day_named, found.groups()) if found else (None, None)
    if first is None or last is None:
        return []
    days = (last - first) % _WEEK_DAYS
    return [(first + day) % _WEEK_DAYS for day in range(days + 1)]


def _of_month(heard: Heard, number: int, after: str) -> None:
    """Take in "1st": a day of the month, or a turn where a weekday follows."""
    if day_named(after) is not None and number in TURNS.values():
        heard.turns.append(number)
    elif 1 <= number <= _LONGEST_MONTH:
        heard.days.append(number)
    else:
        raise ScheduleError(f"No month has a day {number}: write 1st to 31st, or last day.")


def _other(heard: Heard, word: str) -> int:
    if (month := month_named(word)) is not None:
        heard.months.append(month)
    elif found := _PAST_HOUR.fullmatch(word):
        heard.past_hour = int(found[1])
    elif word in _TWICE:
        heard.fewest = _TWICE[word]
    elif word in _USUAL:
        heard.usual = heard.usual or _USUAL[word]
    elif word not in _FILLERS:
        return 0
    return 1
