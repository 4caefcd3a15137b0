"""Names of an answer's author, masked in it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from council.families import FAMILIES, Family
from council.scrub.mentions import CASES, VERSION, any_of, marked

MASK = "[model name removed]"


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text with its author's traces masked, and what was masked."""

    text: str
    found: tuple[str, ...]


# Boundaries of ASCII words: in Chinese a name has no space before it.
_START, _END = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
_ROUTE = r"(?:[a-z0-9_.-]{1,40}/){0,3}"


def scrub(text: str, own: Iterable[str] = ()) -> Scrubbed:
    """Mask self-identification, and the author's own ids wherever they stand.

    `own` are the author's seat key, model id and display name.
    """
    patterns = [_mentions(family) for family in _signed(marked(text))]
    return _masked(text, patterns + [_exact(name) for name in own if name])


def ready() -> None:
    """Compile what every text is searched for, which else the first answer would wait for."""
    marked("")


def without_names(text: str, families: Iterable[str]) -> Scrubbed:
    """Mask every name and maker of these families, whoever is meant: for a judge's reasons."""
    chosen = set(families)
    return _masked(text, [_mentions(family) for family in FAMILIES if family.name in chosen])


def _signed(marked_text: str) -> list[Family]:
    if not marked_text:
        return []
    # Most answers name nobody, and no start should wait for fifteen languages.
    from council.scrub.signs import signed

    return [FAMILIES[at] for at in signed(marked_text)]


def _masked(text: str, patterns: Iterable[re.Pattern[str]]) -> Scrubbed:
    found: dict[str, None] = {}
    for pattern in patterns:
        found |= dict.fromkeys(match[0].strip() for match in pattern.finditer(text))
        text = pattern.sub(MASK, text)
    return Scrubbed(text, tuple(found))


@cache
def _exact(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/]){re.escape(name)}(?![\w/])", re.IGNORECASE)


@cache
def _mentions(family: Family) -> re.Pattern[str]:
    names = any_of((*family.names, *family.makers))
    tail = r"(?:[-:][\w.:-]{0,40}\w|\d[\w.]{0,20}\w|\d)?"
    return re.compile(
        rf"{_START}{_ROUTE}(?:{names}){VERSION}{tail}(?:{_END}|(?={CASES}{_END}))", re.IGNORECASE
    )
