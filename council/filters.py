"""Filters: checks of texts and judges, which a plug-in brings and a panel turns on.

Pure. What they find is shown; it changes no count and removes nothing.
"""

from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from council.answers import Exchange
from council.errors import PanelError
from council.panel import Panel
from council.prompt_injection import find_suspicions
from council.registry import Registry
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
    """The checks of panels with `text_checks`, a `filter` or a `canary_share`.

    `check_text` returns what is odd about an answer, worded like Answer.suspicions, and `flags`
    whose ballots jump against earlier rounds. `ask` asks the filter model in a
    running round (RoundSession, Draw, Member) and fails no round. `read` returns its exchange with
    nonce, scores and fault as reply and seed give them, `suspects` what it suspects. `checks` says
    of a closed round which kinds of checks it had, and whether each found something. `with_canary`
    returns a round's method (council.methods.Method) with the canary that its judges see, if any.
    """

    check_text: Callable[[Question, str], tuple[str, ...]]
    flags: Callable[[Round, Draw], tuple[Flag, ...]]
    ask: Callable[..., Coroutine[Any, Any, None]]
    read: Callable[[Round, Exchange], Exchange]
    suspects: Callable[[Round], tuple[Suspect, ...]]
    checks: Callable[[Round], Mapping[str, bool]]
    with_canary: Callable[[Round, Any], Any]


def find_filters(registry: Registry) -> Filters:
    """Return the filters; raise PanelError if no plug-in has them."""
    if registry.filters is None:
        raise PanelError(
            "No plug-in here has filters. Enable the one that has them, or remove text_checks, "
            "filter and canary_share from the panel."
        )
    found: Filters = registry.filters.load(Filters)
    return found


def uses_filters(panel: Panel) -> bool:
    """Return whether a panel turns on filters."""
    return bool(panel.filter or panel.terms.text_checks or panel.terms.canary_share)


def check_filters(panel: Panel, registry: Registry) -> None:
    """Raise PanelError for a panel that turns on filters which no plug-in has."""
    if uses_filters(panel):
        find_filters(registry)


def find_all_suspicions(round_: Round, text: str) -> tuple[str, ...]:
    """Return how an answer tries to steer judges, and what its panel's text checks find.

    A stored round is shown without them where no plug-in has filters; it does not run there.
    """
    found = find_suspicions(text)
    filters = _filters_to_show(round_.registry) if round_.panel.terms.text_checks else None
    return (*found, *filters.check_text(round_.question, text)) if filters else found


def find_suspects(round_: Round) -> tuple[Suspect, ...]:
    """Return what the filter model of a round's panel suspects, if it has one and that is known."""
    filters = _filters_to_show(round_.registry) if round_.panel.filter else None
    return filters.suspects(round_) if filters else ()


def _filters_to_show(registry: Registry) -> Filters | None:
    with suppress(PanelError):
        return find_filters(registry)
    return None


def filter_checks(round_: Round) -> Mapping[str, bool]:
    """Return which filters a closed round had, and whether each found something."""
    is_on = round_.panel.filter or round_.panel.terms.text_checks
    return find_filters(round_.registry).checks(round_) if is_on else {}
