"""Parser of schedules as people type them: name, suite, times, zone, channel, cap. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from zoneinfo import available_timezones

from bot.bakeoffs.cron import (
    DAY_NUMBERS,
    LAST,
    ORDINALS,
    WEEKDAYS,
    WEEKEND,
    is_cron,
    parse_day,
    validate_cron,
)
from council.errors import ScheduleError
from council.money import cap_micro_usd

# --- Time zones

UTC = "UTC"
_MIN_CITY_SIMILARITY = 0.8  # of 1, by difflib
_UNUSABLE_ZONES = {"Factory", "localtime", "posixrules"}


def find_zone(word: str) -> str | None:
    """Return the canonical name of an IANA zone, ignoring case; None if there is none."""
    return _zones().get(word.casefold())


def known_zones() -> tuple[str, ...]:
    """Return the names of all zones of a region, in order, and UTC."""
    return (UTC, *(name for name in _zones().values() if "/" in name))


def suggest_zone(word: str) -> str | None:
    """Return the zone whose city is most like that of a word; None if none is close."""
    # Of two zones of one city, the first counts.
    cities = {name.rpartition("/")[2].casefold(): name for name in reversed(known_zones()[1:])}
    city = word.casefold().rpartition("/")[2]
    near = get_close_matches(city, cities, n=1, cutoff=_MIN_CITY_SIMILARITY)
    return cities[near[0]] if near else None


@cache
def _zones() -> Mapping[str, str]:
    return {name.casefold(): name for name in sorted(available_timezones() - _UNUSABLE_ZONES)}


# --- Plain words to cron

_EXAMPLES = '"every monday 09:00", "every weekday 9:30", "on the 1st 08:00" or "every 2 hours"'
_ANY = "*"
_HALF_DAY_HOURS, _HOURS, _MINUTES, _WEEK_DAYS, _LONGEST_MONTH = 12, 24, 60, 7, 31
_UNITS_IN_WHOLE = {"minute": 60, "hour": 24}
_DIVISION_HINTS = {
    "minute": "minutes do not divide an hour evenly. Write every 5, 10, 15, 20 or 30 minutes",
    "hour": "hours do not divide a day evenly. Write every 2, 3, 4, 6, 8 or 12 hours",
}
_DAY = rf"(?:{'|'.join(DAY_NUMBERS)})s?"
_PHRASE = re.compile(
    rf"""(?:
    every\ (?P<count>\d\d?)\ (?P<unit>minute|hour)s?
    | (?P<hourly>hourly|every\ hour)
    | (?P<turn>{"|".join(ORDINALS)}|last)\ (?P<turn_day>{_DAY})
    | (?P<from>{_DAY})(?:-|\ to\ )(?P<until>{_DAY})
    | (?P<weekday>{_DAY})
    | (?P<many>weekday|weekend)s?
    | (?P<day>\d\d?)(?:st|nd|rd|th)
    | (?P<month_end>last\ day)
    | (?P<time>(?=\d\d?(?::|\ ?[ap]m))(?P<hour>\d\d?)(?::(?P<minute>\d\d))?\ ?(?P<half>[ap]m)?)
    | (?P<period>week|month)(?:ly)?
    | (?P<date>\d\d\d\d-\d\d?-\d\d?)
    | every|each|days?|daily|a|and|at|from|in|of|on|the
    )(?:\ |$)""",
    re.VERBOSE | re.ASCII,
)


@dataclass(slots=True)
class _Times:
    """What phrases have said so far; weekdays count from Sunday as 0.

    `step` is how often on a day, and `period` the week or month of which any day will do.
    """

    times: set[tuple[int, int]] = field(default_factory=set)
    weekdays: set[int] = field(default_factory=set)
    nth: list[tuple[int, int | str]] = field(default_factory=list)
    days: set[int | str] = field(default_factory=set)
    step: tuple[int, str] = (0, "")
    period: str = ""


def words_to_cron(words: str) -> str:
    """Return the cron that words describe; raise ScheduleError with what to write instead."""
    text, times = " ".join(words.lower().replace(",", " ").split()), _Times()
    while text:
        match = _PHRASE.match(text)
        if not match:
            word = text.split()[0][:40]
            raise ScheduleError(
                f"I don't understand {word!r} in a schedule. Write {_EXAMPLES}, a cron "
                'expression in quotes, "0 9 * * 1", or a time zone such as Europe/Budapest.'
            )
        said = {name: word for name, word in match.groupdict().items() if word}
        if not _note_clock(times, said):
            _note_days(times, said)
        text = text[match.end() :]
    (minutes, hours), (days, weekdays) = _clock_fields(times), _calendar_fields(times)
    return f"{minutes} {hours} {days} * {weekdays}"


def _note_clock(times: _Times, said: Mapping[str, str]) -> bool:
    """Note when on a day, or how often; return False for a phrase about days."""
    match said:
        case {"count": count, "unit": unit}:
            times.step = (int(count), unit)
        case {"hourly": _}:
            times.step = (1, "hour")
        case {"time": _}:
            times.times.add(_parse_time(said))
        case _:
            return False
    return True


def _parse_time(said: Mapping[str, str]) -> tuple[int, int]:
    hour, minute, half = int(said["hour"]), int(said.get("minute", 0)), said.get("half", "")
    is_valid = hour < _HOURS and minute < _MINUTES
    if half:
        is_valid = 1 <= hour <= _HALF_DAY_HOURS and minute < _MINUTES
        hour = hour % _HALF_DAY_HOURS + (_HALF_DAY_HOURS if half == "pm" else 0)
    if not is_valid:
        word = said["time"].strip()
        raise ScheduleError(f"{word!r} is not a time of day. Write 09:00, 18:30 or 9am.")
    return hour, minute


def _note_days(times: _Times, said: Mapping[str, str]) -> None:
    match said:
        case {"turn": turn, "turn_day": day}:
            times.nth.append((parse_day(day), ORDINALS.get(turn, LAST)))
        case {"from": first, "until": last}:
            start, count = parse_day(first), (parse_day(last) - parse_day(first)) % _WEEK_DAYS
            times.weekdays |= {(start + day) % _WEEK_DAYS for day in range(count + 1)}
        case {"weekday": day}:
            times.weekdays.add(parse_day(day))
        case {"many": many}:
            times.weekdays |= {*(WEEKDAYS if many == "weekday" else WEEKEND)}
        case {"day": number}:
            if not 1 <= int(number) <= _LONGEST_MONTH:
                raise ScheduleError(f"No month has a day {number}. Write 1st to 31st, or last day.")
            times.days.add(int(number))
        case {"month_end": _}:
            times.days.add(LAST)
        case {"period": period}:
            times.period = times.period or period
        case {"date": date}:
            raise ScheduleError(
                f"A schedule repeats, so it has no date, in the past or to come: {date}. Write "
                f"{_EXAMPLES}. For a single run, use `/council bakeoff`."
            )


def _clock_fields(times: _Times) -> tuple[str, str]:
    count, unit = times.step
    if unit:
        if times.times:
            raise ScheduleError("Say either how often or at which times, not both.")
        step = _step_field(count, unit)
        return (step, _ANY) if unit == "minute" else ("0", step)
    if not times.times:
        raise ScheduleError(f"Add a time in hours and minutes: {_EXAMPLES}.")
    hours, minutes = ({time[index] for time in times.times} for index in (0, 1))
    if len(times.times) != len(hours) * len(minutes):
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
        return "0"
    return _ANY if count == 1 else f"*/{count}"


def _calendar_fields(times: _Times) -> tuple[str, str]:
    """Return the fields of days of the month and of weekdays."""
    # "Every second monday" could also mean every other one.
    if times.nth and times.period != "month":
        raise ScheduleError(
            'Say of what it is the first or last, for example "first monday of the month 09:00".'
        )
    if bool(times.weekdays) + bool(times.nth) + bool(times.days) > 1:
        raise ScheduleError("Name days of the week or days of the month, not both.")
    day, weekday = _list_field(times.days), _list_field(times.weekdays)
    if times.nth:
        turns = [f"L{day}" if turn == LAST else f"{day}#{turn}" for day, turn in times.nth]
        weekday = ",".join(dict.fromkeys(turns))
    elif (day, weekday) == (_ANY, _ANY):
        day = "1" if times.period == "month" else _ANY
        weekday = "1" if times.period == "week" else _ANY
    return day, weekday


def _list_field(values: Iterable[int | str]) -> str:
    """Return the field that allows these values; "*" for no values."""
    numbers = sorted(value for value in values if isinstance(value, int))
    words = sorted(value.upper() for value in values if isinstance(value, str))
    return ",".join(map(str, (*numbers, *words))) or _ANY


# --- The whole request

SCHEDULE_EXAMPLE = "add weekly-sql suite:sql every monday 09:00 Europe/Budapest"
NO_CAP = -1
_MAX_NAME_LENGTH = 60
_QUOTES = str.maketrans("“”„«»‘’`", '"""""\'\'\'')
_WORD = re.compile(r"\w+:\"[^\"]*\"|\"[^\"]*\"|'[^']*'|<#[^>]*>|\S+")
_OPTION = re.compile(r"(suite|panel|cap|zone):(.*)", re.IGNORECASE | re.DOTALL)
_CHANNEL = re.compile(r"<#([^|>]+)(?:\|[^>]*)?>|#([^\s,]+)")
_NAME = re.compile(rf"\w[\w.-]{{0,{_MAX_NAME_LENGTH - 1}}}")
_ZONE = re.compile(r"[A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+")
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


def read_schedule_fields(fields: Mapping[str, str]) -> ScheduleRequest:
    """Return the request of the fields of a form or command; empty ones are left out.

    Their names are those of ScheduleRequest, and "cap" for the cap. Only "when" is parsed as what a
    person typed. Raise ScheduleError with what to change.
    """
    given = {name: value.strip() for name, value in fields.items() if value.strip()}
    name = given.get("name", "")
    if not _NAME.fullmatch(name):
        raise ScheduleError(
            "Name the schedule in one word of letters, digits, - and _, such as weekly-sql."
        )
    parts: dict[str, str] = {
        key: given[key] for key in ("name", "suite", "panel", "channel", "cap") if key in given
    }
    if "zone" in given:
        parts["zone"] = _parse_zone(given["zone"])
    return _read_words(_WORD.findall(given.get("when", "").translate(_QUOTES)), parts)


def _read_words(words: Iterable[str], parts: dict[str, str]) -> ScheduleRequest:
    """Return the request of typed words, added to what is known."""
    when = " ".join(_unquote(word) for word in words if not _parse_option(word, parts)).strip()
    cron = validate_cron(when if is_cron(when) else words_to_cron(when)) if when else ""
    cap_micro = _parse_cap(parts.pop("cap")) if "cap" in parts else None
    return ScheduleRequest(**parts, cron=cron, when=when, cap_micro=cap_micro)


def _parse_option(word: str, parts: dict[str, str]) -> bool:
    """Parse a word into `parts`; return False for a word about time."""
    if option := _OPTION.fullmatch(word):
        kind, value = option[1].lower(), _unquote(option[2])
        if not value:
            raise ScheduleError(
                f"Write the value right after {word!r}, without a space: {SCHEDULE_EXAMPLE}."
            )
        _set_part(parts, kind, _parse_zone(value) if kind == "zone" else value)
    elif channel := _CHANNEL.fullmatch(word):
        _set_part(parts, "channel", channel[1] or channel[2])
    elif find_zone(word) or _ZONE.fullmatch(word):
        _set_part(parts, "zone", _parse_zone(word))
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
    nearest = suggest_zone(word) or "Europe/Budapest"
    raise ScheduleError(f"There is no time zone {word!r}. Write it as in {nearest}.")


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
