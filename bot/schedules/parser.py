"""Parser of schedules as people type them: name, suite, times, zone, channel, cap. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from functools import cache
from zoneinfo import available_timezones

from bot.schedules.cron import (
    LAST,
    ORDINALS,
    WEEKDAYS,
    WEEKEND,
    is_cron,
    parse_day,
    parse_month,
    validate_cron,
)
from council.errors import ScheduleError
from council.money import cap_micro_usd

# --- Time zones

UTC = "UTC"
_MIN_ZONE_SIMILARITY, _MIN_CITY_SIMILARITY = 0.7, 0.8  # of 1, by difflib
_UNUSABLE_ZONES = {"Factory", "localtime", "posixrules"}
_LEGACY_REGIONS = {"Brazil", "Canada", "Chile", "Etc", "Mexico", "SystemV", "US"}


def find_zone(word: str) -> str | None:
    """Return the canonical name of an IANA zone, ignoring case; None if there is none."""
    return _zones().get(word.casefold())


def known_zones() -> tuple[str, ...]:
    """Return the names of all zones of a region, in order, and UTC."""
    return (UTC, *(name for name in sorted(_zones().values()) if "/" in name))


def suggest_zone(word: str) -> str | None:
    """Return the zone with the most similar name or city; None if none is close."""
    plain = word.casefold()
    zones, cities = _zones(), _cities()
    # Short names all look alike: PST is not a misspelt EST.
    city = get_close_matches(plain.rpartition("/")[2], cities, n=1, cutoff=_MIN_CITY_SIMILARITY)
    if "/" in plain and (zone := get_close_matches(plain, zones, n=1, cutoff=_MIN_ZONE_SIMILARITY)):
        return zones[zone[0]]
    return cities[city[0]] if city else None


@cache
def _zones() -> Mapping[str, str]:
    return {name.casefold(): name for name in sorted(available_timezones() - _UNUSABLE_ZONES)}


@cache
def _cities() -> Mapping[str, str]:
    """Return the zones that are named after a city, by the city's name."""
    cities: dict[str, str] = {}
    for name in _zones().values():
        region, _, city = name.rpartition("/")
        if region and region not in _LEGACY_REGIONS:
            cities.setdefault(city.casefold(), name)
    return cities


# --- Plain words

_EXAMPLES = '"every monday 09:00", "every weekday 9:30", "on the 1st 08:00" or "every 2 hours"'
_MINUTE, _HOUR, _WEEK, _MONTH = "min", "hour", "week", "month"
_FILLERS = {"a", "and", "at", "daily", "day", "days", "each", "every", "from", "in", "o'clock"}
_FILLERS |= {"of", "on", "once", "run", "running", "the", "&"}
_TIMES_A_DAY = {"twice": 2, "thrice": 3}
_WEEKDAY_SETS: dict[str, tuple[int, ...]] = dict.fromkeys(
    ("weekday", "weekdays", "workday", "workdays"), WEEKDAYS
)
_WEEKDAY_SETS |= dict.fromkeys(("weekend", "weekends"), WEEKEND)
_PERIODS = {"week": _WEEK, "weekly": _WEEK, "weeks": _WEEK}
_PERIODS |= {"month": _MONTH, "monthly": _MONTH, "months": _MONTH}
_UNIT = re.compile(r"(min|hour|day|week|month|year)(?:ute)?s?")
_TIME = re.compile(r"(\d{1,2})(?:[:.h](\d{2}))?(am|pm)?")
_PAST_HOUR = re.compile(r":([0-5]\d)")
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:t.*)?")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_RANGE = re.compile(r"([a-z]+)-([a-z]+)")
_HALF_DAY_HOURS, _HOURS, _MINUTES, _WEEK_DAYS, _LONGEST_MONTH = 12, 24, 60, 7, 31
_WEEKDAY = r"\b((?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)\s+(?:to|through|until)\s+"
_SYNONYMS = (
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
class _ParseState:
    """What the words have said so far; weekdays count from Sunday as 0.

    `turns` are ordinals whose weekday has not followed yet. `min_times` is how many times of day
    were promised ("twice"), `past_hour` the minute of "every hour at :15", and `period` the week or
    month of which any day will do.
    """

    times: list[tuple[int, int]] = field(default_factory=list)
    weekdays: list[int] = field(default_factory=list)
    turns: list[int | str] = field(default_factory=list)
    nth: list[tuple[int, int | str]] = field(default_factory=list)
    days: list[int | str] = field(default_factory=list)
    months: list[int] = field(default_factory=list)
    step: tuple[int, str] | None = None
    past_hour: int = 0
    min_times: int = 0
    period: str = ""


def _normalize(text: str) -> list[str]:
    """Return lower-case words in one spelling: "9 am" as "9am", "hourly" as "every 1 hour"."""
    text = text.lower().replace(",", " ")
    for spelling, replacement in _SYNONYMS:
        text = re.sub(spelling, replacement, text)
    return text.split()


def _parse_next(state: _ParseState, rest: list[str], today: date) -> int:
    """Parse the next words into the state; return how many were used, 0 if unknown."""
    word, after, third = (*rest, "", "")[:3]
    unit = _UNIT.fullmatch(third)
    if word == "every" and after.isdecimal() and unit:
        state.step = (int(after), unit[1])
        return 3
    if after == "times" and word.isdecimal():
        state.min_times = int(word)
        return 2
    if match := _DATE.fullmatch(word):
        raise _date_error(word, match, today)
    # A bare number is an hour only after "at".
    if word == "at" and after.isdecimal() and (match := _TIME.fullmatch(after)):
        return 1 + _parse_time(state, after, match)
    if not word.isdecimal() and (match := _TIME.fullmatch(word)):
        return _parse_time(state, word, match)
    return _parse_day_word(state, word, after) or _parse_other(state, word)


def _parse_time(state: _ParseState, word: str, match: re.Match[str]) -> int:
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3]
    if half and 1 <= hour <= _HALF_DAY_HOURS:
        hour = hour % _HALF_DAY_HOURS + (_HALF_DAY_HOURS if half == "pm" else 0)
    elif half:
        hour = _HOURS
    if hour >= _HOURS or minute >= _MINUTES:
        raise ScheduleError(f"{word!r} is not a time of day. Write 09:00, 18:30 or 9am.")
    state.times.append((hour, minute))
    return 1


def _date_error(word: str, match: re.Match[str], today: date) -> ScheduleError:
    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return ScheduleError(f"There is no day {word!r}. Write {_EXAMPLES}.")
    if day < today:
        return ScheduleError(f"{day} is in the past, and a schedule repeats. Write {_EXAMPLES}.")
    return ScheduleError(
        f"{day} comes only once, and a schedule repeats. Write {_EXAMPLES}. For a single run, "
        "use `/council bakeoff`."
    )


def _parse_day_word(state: _ParseState, word: str, after: str) -> int:
    """Parse a weekday, several of them, a day of the month or an ordinal; return words used."""
    if (weekday := parse_day(word)) is not None:
        state.nth += [(weekday, turn) for turn in state.turns]
        state.weekdays += [] if state.turns else [weekday]
        state.turns = []
    elif word in _WEEKDAY_SETS:
        state.weekdays += _WEEKDAY_SETS[word]
    elif days := _parse_day_range(word):
        state.weekdays += days
    elif word == "last" and after == "day":
        state.days.append(LAST)
        return 2
    elif word in ORDINALS or word == "last":
        state.turns.append(ORDINALS.get(word, LAST))
    elif match := _ORDINAL.fullmatch(word):
        _add_ordinal(state, int(match[1]), after)
    else:
        return 0
    return 1


def _parse_day_range(word: str) -> list[int]:
    """Return the weekdays of "monday-friday"; none for any other word."""
    match = _RANGE.fullmatch(word)
    first, last = map(parse_day, match.groups()) if match else (None, None)
    if first is None or last is None:
        return []
    days = (last - first) % _WEEK_DAYS
    return [(first + day) % _WEEK_DAYS for day in range(days + 1)]


def _add_ordinal(state: _ParseState, number: int, after: str) -> None:
    """Add "1st" as a day of the month, or as an ordinal if a weekday follows."""
    if parse_day(after) is not None and number in ORDINALS.values():
        state.turns.append(number)
    elif 1 <= number <= _LONGEST_MONTH:
        state.days.append(number)
    else:
        raise ScheduleError(f"No month has a day {number}. Write 1st to 31st, or last day.")


def _parse_other(state: _ParseState, word: str) -> int:
    if (month := parse_month(word)) is not None:
        state.months.append(month)
    elif match := _PAST_HOUR.fullmatch(word):
        state.past_hour = int(match[1])
    elif word in _TIMES_A_DAY:
        state.min_times = _TIMES_A_DAY[word]
    elif word in _PERIODS:
        state.period = state.period or _PERIODS[word]
    elif word not in _FILLERS:
        return 0
    return 1


# --- Plain words to cron

_ANY = "*"
_UNITS_IN_WHOLE = {_MINUTE: 60, _HOUR: 24, _MONTH: 12}
_DIVISION_HINTS = {
    _MINUTE: "minutes do not divide an hour evenly. Write every 5, 10, 15, 20 or 30 minutes",
    _HOUR: "hours do not divide a day evenly. Write every 2, 3, 4, 6, 8 or 12 hours",
    _MONTH: "months do not divide a year evenly. Write every 2, 3, 4 or 6 months",
}


def words_to_cron(words: Iterable[str], today: date) -> str:
    """Return the cron that words describe; raise ScheduleError with what to write instead."""
    state, rest = _ParseState(), _normalize(" ".join(words))
    while rest:
        used = _parse_next(state, rest, today)
        if not used:
            raise ScheduleError(
                f"I don't understand {rest[0]!r} in a schedule. Write {_EXAMPLES}, or a cron "
                'expression in quotes, "0 9 * * 1".'
            )
        rest = rest[used:]
    return " ".join((*_clock_fields(state), *_calendar_fields(state)))


def _clock_fields(state: _ParseState) -> tuple[str, str]:
    count, unit = state.step or (0, "")
    if unit in {_MINUTE, _HOUR}:
        if state.times or state.min_times:
            raise ScheduleError("Say either how often or at which times, not both.")
        step = _step_field(count, unit)
        return (step, _ANY) if unit == _MINUTE else (str(state.past_hour), step)
    times = set(state.times)
    if not times:
        raise ScheduleError(f"Add a time in hours and minutes: {_EXAMPLES}.")
    hours, minutes = ({time[index] for time in times} for index in (0, 1))
    if len(times) < state.min_times:
        raise ScheduleError(
            f"Write all {state.min_times} times, for example: twice a day 09:00 18:00."
        )
    if len(times) != len(hours) * len(minutes):
        raise ScheduleError(
            "The times of one schedule must have the same minutes, like 09:00 and 18:00. Create "
            "one schedule for each time."
        )
    return _list_field(minutes), _list_field(hours)


def _step_field(count: int, unit: str) -> str:
    """Return the field for every `count` units."""
    whole = _UNITS_IN_WHOLE[unit]
    if not count or whole % count:
        raise ScheduleError(f"{count} {_DIVISION_HINTS[unit]}.")
    if count == whole:
        return "1" if unit == _MONTH else "0"
    return _ANY if count == 1 else f"*/{count}"


def _calendar_fields(state: _ParseState) -> tuple[str, str, str]:
    _check_days(state)
    count, unit = state.step or (1, state.period)
    month = _list_field(state.months)
    if unit == _MONTH:
        month = _step_field(count, unit) if month == _ANY else month
    elif unit not in {_MINUTE, _HOUR} and (count != 1 or unit == "year"):
        raise ScheduleError(
            f"“Every {count} {unit}s” is not supported. Name the days instead, for example "
            f"{_EXAMPLES}."
        )
    day, weekday = _list_field(state.days), _list_field(state.weekdays)
    if state.nth:
        turns = [f"L{day}" if turn == LAST else f"{day}#{turn}" for day, turn in state.nth]
        weekday = ",".join(dict.fromkeys(turns))
    if (day, weekday) == (_ANY, _ANY):
        day, weekday = {_MONTH: ("1", _ANY), _WEEK: (_ANY, "1")}.get(unit, (_ANY, _ANY))
    return day, month, weekday


def _check_days(state: _ParseState) -> None:
    in_month = state.months or _MONTH in {state.period, (state.step or (0, ""))[1]}
    # "Every second monday" could also mean every other one.
    if state.turns or (state.nth and not in_month):
        raise ScheduleError(
            'Say which day after first, second or last, for example "first monday of the month '
            '09:00".'
        )
    if bool(state.weekdays) + bool(state.nth) + bool(state.days) > 1:
        raise ScheduleError("Name days of the week or days of the month, not both.")


def _list_field(values: Iterable[int | str]) -> str:
    """Return the field that allows these values; "*" for no values."""
    numbers = sorted({value for value in values if isinstance(value, int)})
    words = sorted({value.upper() for value in values if isinstance(value, str)})
    return ",".join(map(str, (*numbers, *words))) or _ANY


# --- The whole request

SCHEDULE_EXAMPLE = "add weekly-sql suite:sql every monday 09:00 Europe/Budapest"
NO_CAP = -1
_MAX_NAME_LENGTH = 60
_QUOTES = str.maketrans("“”„«»‘’`", '"""""\'\'\'')
_WORD = re.compile(r"\w+:\"[^\"]*\"|\"[^\"]*\"|'[^']*'|<#[^>]*>|\S+")
_OPTION = re.compile(r"(suite|panel|cap|zone|tz|cron):(.*)", re.IGNORECASE | re.DOTALL)
_CHANNEL = re.compile(r"<#([^|>]+)(?:\|[^>]*)?>|#([^\s,]+)")
_NAME = re.compile(rf"\w[\w.-]{{0,{_MAX_NAME_LENGTH - 1}}}")
_ZONE = re.compile(r"[A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+")
_ZONE_ABBREVIATIONS = {"pst", "pdt", "mdt", "cdt", "cst", "edt", "bst", "ist", "cest", "eest"}
_ZONE_ABBREVIATIONS |= {"jst", "kst", "msk", "aest", "aedt", "acst", "awst", "nzst", "nzdt"}
_DOLLARS = re.compile(r"\$?(\d{1,6}(?:\.\d{1,6})?)")


@dataclass(frozen=True, slots=True)
class ScheduleRequest:
    """What was typed; omitted parts are empty, and a `cap_micro` of NO_CAP removes the cap.

    `cron` is valid, `when` are the words it was parsed from, `channel` has no `#`.
    """

    name: str = ""
    suite: str = ""
    panel: str = ""
    cron: str = ""
    when: str = ""
    zone: str = ""
    channel: str = ""
    cap_micro: int | None = None


def parse_schedule(text: str, today: date) -> ScheduleRequest:
    """Parse what was typed after `add` or `edit`; raise ScheduleError with what to write."""
    name, *words = _WORD.findall(text.translate(_QUOTES)) or [""]
    if not _NAME.fullmatch(name) or _OPTION.fullmatch(name):
        raise ScheduleError(
            "Start with a name for the schedule, made of letters, digits, - and _: "
            f"{SCHEDULE_EXAMPLE}."
        )
    parts: dict[str, str] = {"name": name}
    when = [word for word in words if not _parse_option(word, parts)]
    cron = _parse_cron(parts.pop("cron", ""), when, today)
    cap_micro = _parse_cap(parts.pop("cap")) if "cap" in parts else None
    description = " ".join(map(_unquote, when)) or cron
    return ScheduleRequest(**parts, cron=cron, when=description, cap_micro=cap_micro)


def _parse_option(word: str, parts: dict[str, str]) -> bool:
    """Parse a word into `parts`; return False for a word about time."""
    if option := _OPTION.fullmatch(word):
        kind, value = option[1].lower().replace("tz", "zone"), _unquote(option[2])
        if not value:
            raise ScheduleError(
                f"Write the value right after {word!r}, without a space: {SCHEDULE_EXAMPLE}."
            )
        _set_part(parts, kind, _parse_zone(value) if kind == "zone" else value)
    elif channel := _CHANNEL.fullmatch(word):
        _set_part(parts, "channel", channel[1] or channel[2])
    elif zone := find_zone(word):
        _set_part(parts, "zone", zone)
    elif _ZONE.fullmatch(word):
        _set_part(parts, "zone", _parse_zone(word))
    elif word.casefold() in _ZONE_ABBREVIATIONS:
        raise ScheduleError(
            f"{word!r} ignores daylight saving time. Write Region/City, for example "
            "Europe/Budapest."
        )
    elif word.isalpha() and (zone := _cities().get(word.casefold())):
        raise ScheduleError(f"Write the time zone in full: {zone} instead of {word!r}.")
    else:
        return False
    return True


def _set_part(parts: dict[str, str], kind: str, value: str) -> None:
    if parts.setdefault(kind, value) != value:
        raise ScheduleError(
            f"A schedule has one {kind}, but you name {parts[kind]!r} and {value!r}. Leave one out."
        )


def _parse_zone(word: str) -> str:
    if zone := find_zone(word):
        return zone
    nearest = suggest_zone(word)
    hint = (
        f"did you mean {nearest}?"
        if nearest
        else ("write Region/City, for example Europe/Budapest.")
    )
    raise ScheduleError(f"There is no time zone {word!r}: {hint}")


def _parse_cron(cron: str, when: list[str], today: date) -> str:
    """Return the cron that was typed or described; "" if nothing says when."""
    if cron and when:
        raise ScheduleError(
            f"Say when either in words or as a cron expression: leave {' '.join(when)!r} out."
        )
    words = " ".join(map(_unquote, [cron, *when])).split()
    if not words:
        return ""
    return validate_cron(" ".join(words) if is_cron(words) else words_to_cron(words, today))


def _unquote(word: str) -> str:
    ends = word[:1], word[-1:]
    return word[1:-1].strip() if ends in {('"', '"'), ("'", "'")} and len(word) > 1 else word


def _parse_cap(text: str) -> int:
    if text.lower() == "none":
        return NO_CAP
    match = _DOLLARS.fullmatch(text)
    cap = cap_micro_usd(float(match[1])) if match else 0
    if not cap:
        raise ScheduleError(f"{text!r} is not a cap. Write cap:$2, or cap:none for no cap.")
    return cap
