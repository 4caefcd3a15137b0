"""Filters against prompt injection, which research plugs in and a panel turns on.

Pure. What they find is shown; it changes no count and removes nothing.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from council.answers import Exchange
from council.errors import PanelError
from council.prompt_injection import find_suspicions
from council.rounds import Draw, Question, Round
from council.tally import Flag

FILTER = "filter"  # the kind of a filter model's exchanges
# Kinds of checks in bias reports, besides FILTER.
PATTERNS, MEASURES, JUMPS = "patterns", "measures", "jumps"


@dataclass(frozen=True, slots=True)
class Suspect:
    """What a filter model suspects: a member's answer, or the reason of a judge (`is_reason`)."""

    seat: str
    is_reason: bool
    why: str  # in the model's words; "" once they are erased


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of panels with `text_checks` or a `filter`.

    `check_text` returns what is odd about an answer, worded like Answer.suspicions, and `flags`
    whose ballots jump against earlier rounds. `ask` asks the filter model in a
    running round (RoundSession, Draw, Member) and fails no round. `read` returns its exchange with
    nonce, scores and fault as reply and seed give them, `suspects` what it suspects. `checks` says
    of a closed round which kinds of checks it had, and whether each found something.
    """

    check_text: Callable[[Question, str], tuple[str, ...]]
    flags: Callable[[Round, Draw], tuple[Flag, ...]]
    ask: Callable[..., Coroutine[Any, Any, None]]
    read: Callable[[Round, Exchange], Exchange]
    suspects: Callable[[Round], tuple[Suspect, ...]]
    checks: Callable[[Round], Mapping[str, bool]]


_PLUGGED_IN: dict[str, Filters] = {}


def plug_in(filters: Filters) -> None:
    """Make the filters known."""
    _PLUGGED_IN[FILTER] = filters


def find_filters() -> Filters:
    """Return the filters; raise PanelError in a program without them."""
    if not _PLUGGED_IN:
        raise PanelError(
            "This program has no filters. Remove text_checks and filter from the panel."
        )
    return _PLUGGED_IN[FILTER]


def find_all_suspicions(round_: Round, text: str) -> tuple[str, ...]:
    """Return how an answer tries to steer judges, and what its panel's text checks find."""
    found = find_suspicions(text)
    if not round_.panel.terms.text_checks:
        return found
    return (*found, *find_filters().check_text(round_.question, text))


def find_suspects(round_: Round) -> tuple[Suspect, ...]:
    """Return what the filter model of a round's panel suspects, if it has one."""
    return find_filters().suspects(round_) if round_.panel.filter else ()


def filter_checks(round_: Round) -> Mapping[str, bool]:
    """Return which filters a closed round had, and whether each found something."""
    is_on = round_.panel.filter or round_.panel.terms.text_checks
    return find_filters().checks(round_) if is_on else {}
