"""What is typed for a schedule, read: `weekly-sql suite:sql panel:house every monday 09:00 …`."""

import re
from dataclasses import dataclass
from datetime import date

from bot.schedules.cron import checked, is_cron
from bot.schedules.phrases import cron_of
from bot.schedules.zones import nearest_zone, zone_named
from council.errors import ScheduleError
from council.money import cap_micro

EXAMPLE = "add weekly-sql suite:sql every monday 09:00 Europe/Budapest"
NO_CAP = -1
LONGEST_NAME = 60
_QUOTES = str.maketrans("“”„«»‘’`", '"""""\'\'\'')
_WORD = re.compile(r"\w+:\"[^\"]*\"|\"[^\"]*\"|'[^']*'|<#[^>]*>|\S+")
_OPTION = re.compile(r"(suite|panel|cap|zone|tz|cron):(.*)", re.IGNORECASE | re.DOTALL)
_CHANNEL = re.compile(r"<#([^|>]+)(?:\|[^>]*)?>|#([^\s,]+)")
_NAME = re.compile(rf"\w[\w.-]{{0,{LONGEST_NAME - 1}}}")
_ZONE = re.compile(r"[A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+")
_ABBREVIATED = {"pst", "pdt", "mdt", "cdt", "cst", "edt", "bst", "ist", "cest", "eest"}
_ABBREVIATED |= {"jst", "kst", "msk", "aest", "aedt", "acst", "awst", "nzst", "nzdt"}
_DOLLARS = re.compile(r"\$?(\d{1,6}(?:\.\d{1,6})?)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was typed; what was left out is empty. `cron` is sound, and `when` its own words.

    `channel` is as it was written, without `#`; `cap_micro` is NO_CAP where a cap is taken away.
    """

    name: str = ""
    suite: str = ""
    panel: str = ""
    cron: str = ""
    when: str = ""
    zone: str = ""
    channel: str = ""
    cap_micro: int | None = None


def read(text: str, today: date) -> Wanted:
    """Read what was typed after `add` or `edit`; ScheduleError says what to write instead."""
    name, *words = _WORD.findall(text.translate(_QUOTES)) or [""]
    if not _NAME.fullmatch(name) or _OPTION.fullmatch(name):
        raise ScheduleError(
            f"Begin with a name for the schedule, of letters, digits, - and _: {EXAMPLE}."
        )
    parts: dict[str, str] = {"name": name}
    when = [word for word in words if not _is_part(word, parts)]
    cap = parts.pop("cap", "")
    cron = _cron(parts.pop("cron", ""), when, today)
    told = " ".join(_unquoted(word) for word in when) or cron
    return Wanted(**parts, cron=cron, when=told, cap_micro=_cap(cap) if cap else None)


def _is_part(word: str, parts: dict[str, str]) -> bool:
    """Take a word for what it says of itself to be; False for one that says when."""
    if option := _OPTION.fullmatch(word):
        kind, value = option[1].lower().replace("tz", "zone"), _unquoted(option[2])
        if not value:
            raise ScheduleError(f"Say which after {word!r}, without a space: {EXAMPLE}.")
        _put(parts, kind, _zone(value) if kind == "zone" else value)
    elif channel := _CHANNEL.fullmatch(word):
        _put(parts, "channel", channel[1] or channel[2])
    elif zone := zone_named(word):
        _put(parts, "zone", zone)
    elif _ZONE.fullmatch(word):
        _put(parts, "zone", _zone(word))
    elif word.casefold() in _ABBREVIATED:
        raise ScheduleError(
            f"{word!r} is no zone that keeps its clock right in summer and winter: write "
            "Region/City, as in Europe/Budapest."
        )
    elif nearest := _city(word):
        raise ScheduleError(f"Name the time zone in full: {nearest} for {word!r}.")
    else:
        return False
    return True


def _put(parts: dict[str, str], kind: str, value: str) -> None:
    if parts.setdefault(kind, value) != value:
        raise ScheduleError(
            f"A schedule has one {kind}, and you name {parts[kind]!r} and {value!r}: leave one out."
        )


def _zone(word: str) -> str:
    if zone := zone_named(word):
        return zone
    nearest = nearest_zone(word)
    hint = f"did you mean {nearest}?" if nearest else "write Region/City, as in Europe/Budapest."
    raise ScheduleError(f"There is no time zone {word!r}: {hint}")


def _city(word: str) -> str | None:
    """Give the zone of a city that is named alone, by its very name."""
    nearest = nearest_zone(word) if word.isalpha() else None
    return nearest if nearest and nearest.rpartition("/")[2].lower() == word.lower() else None


def _cron(given: str, when: list[str], today: date) -> str:
    """Give the cron that was typed or meant; "" where nothing says when."""
    if given and when:
        raise ScheduleError(f"Say when either in words or as a cron: leave {' '.join(when)!r} out.")
    words = " ".join(map(_unquoted, [given, *when])).split()
    if not words:
        return ""
    return checked(" ".join(words)) if is_cron(words) else checked(cron_of(words, today))


def _unquoted(word: str) -> str:
    ends = word[:1], word[-1:]
    return word[1:-1].strip() if ends in {('"', '"'), ("'", "'")} and len(word) > 1 else word


def _cap(text: str) -> int:
    if text.lower() == "none":
        return NO_CAP
    found = _DOLLARS.fullmatch(text)
    cap = cap_micro(float(found[1])) if found else 0
    if not cap:
        raise ScheduleError(f"{text!r} is no cap: write cap:$2, or cap:none for none.")
    return cap
