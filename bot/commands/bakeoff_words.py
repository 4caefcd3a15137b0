"""What may follow `/council bakeoff`: a suite with its choices, or an act on a bake-off."""

import re
from dataclasses import dataclass
from typing import Literal

from council.errors import BakeoffError
from council.money import cap_micro

Verb = Literal["start", "list", "show", "cancel", "resume"]

LAST = "last"
_OPTION = r"(?:panel|cap|suite):\S+|now"
# One word with its choices; a question has more of them.
_SUITE = rf"(?:(?:{_OPTION})\s+)*\S*(?:\s+(?:{_OPTION}))*"
GRAMMAR = rf"{_SUITE}|list|(?:show|cancel|resume)\s+\S+(?:\s+cap:\S+)?"
_ACTS: dict[str, Verb] = {"show": "show", "cancel": "cancel", "resume": "resume"}
_CAP = re.compile(r"\$?(\d+(?:\.\d+)?)\$?")
HOW = "Say `/council bakeoff SUITE panel:NAME cap:$1.50`; panel and cap may be left out."


@dataclass(frozen=True, slots=True)
class Words:
    """What is wanted: `name` is a suite's to start one, else a bake-off's id or `last`."""

    verb: Verb
    name: str = ""
    panel: str | None = None
    cap_micro: int | None = None
    now: bool = False


def read_words(text: str) -> Words:
    """Read what follows the command; BakeoffError, which says how, for what cannot be read."""
    words = text.split()
    if not words or [word.lower() for word in words] == ["list"]:
        return Words("list")
    options = dict(_option(word) for word in words if _is_option(word))
    names = [word for word in words if not _is_option(word)]
    names += [options["suite"]] if "suite" in options else []
    cap = read_cap(options["cap"]) if "cap" in options else None
    if names and names[0].lower() in _ACTS:
        return _act(_ACTS[names[0].lower()], names[1:], cap)
    if len(names) != 1:
        raise BakeoffError(f"That names {len(names) or 'no'} suites where one is wanted. {HOW}")
    return Words("start", names[0], options.get("panel"), cap, "now" in options)


def _act(verb: Verb, names: list[str], cap: int | None) -> Words:
    if len(names) > 1:
        raise BakeoffError(f"Name one bake-off to {verb}, or `{LAST}`.")
    return Words(verb, names[0] if names else LAST, cap_micro=cap)


def _is_option(word: str) -> bool:
    return re.fullmatch(_OPTION, word, re.IGNORECASE) is not None


def _option(word: str) -> tuple[str, str]:
    name, _, value = word.partition(":")
    return name.lower(), value


def read_cap(text: str) -> int:
    """Give the micro-dollars of "$1.50", "1.5" or "2$"; BakeoffError for what is no amount."""
    found = _CAP.fullmatch(text.strip())
    micro = cap_micro(float(found[1])) if found else 0
    if micro <= 0:
        raise BakeoffError(f"{text!r} is no cap: write an amount in dollars, as in cap:$1.50.")
    return micro
