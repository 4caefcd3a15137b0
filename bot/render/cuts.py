"""Places where something can be cut in two, and the furthest of them that a page still holds.

Knows no post and no Markdown; what a page holds is asked of whoever pages.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from rich.cells import split_graphemes

T = TypeVar("T")

_REACH = 40_000  # no page holds more characters than this
_SENTENCE = re.compile(r"(?<=[.!?…。！？])[\"'”’)»]?\s+|\n\s*|(?<=[。！？])")
# What would begin a list, a heading or a quote stays with the words before it.
_WORD = re.compile(r"\s+(?![-+*#>=~`|:]|\d+[.)])")

_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")


class Halves(NamedTuple, Generic[T]):
    """What stays on the page, and what goes to the next."""

    head: T
    rest: T


@dataclass(frozen=True, slots=True)
class Cuts(Generic[T]):
    """Places in order, and what a cut at each of them gives."""

    places: Sequence[int]
    at: Callable[[int], Halves[T]]


def furthest(cuts: Cuts[T], holds: Callable[[T], bool]) -> Halves[T] | None:
    """Give the cut with the longest head that holds; None if none does.

    Heads are tried from the shortest, twice as many places at a time, then by halves: what is
    far too long for a page is never laid out.
    """
    low, high = 0, 1  # the first `low` places are known to hold
    while high <= len(cuts.places) and holds(cuts.at(cuts.places[high - 1]).head):
        low, high = high, high * 2
    high = min(high, len(cuts.places) + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(cuts.at(cuts.places[middle - 1]).head):
            low = middle
        else:
            high = middle
    return cuts.at(cuts.places[low - 1]) if low else None


def first_found(kinds: Iterator[Cuts[T]], holds: Callable[[T], bool]) -> Halves[T] | None:
    """Give the furthest cut of the first kind that has one."""
    return next((found for cuts in kinds if (found := furthest(cuts, holds))), None)


def text_cut(
    text: str,
    at: Callable[[int], Halves[T]],
    holds: Callable[[T], bool],
    *,
    in_words: bool = True,
) -> Halves[T] | None:
    """Cut text after a sentence, unless half the page would stay empty; else after a word.

    A word that no page holds is cut between two characters, unless that is not wanted.
    """
    words = furthest(Cuts(_ends(_WORD, text), at), holds)
    if words is None and not in_words:
        return None
    if words is None:
        return first_found(iter([Cuts(_characters(text), at), Cuts(_points(text), at)]), holds)
    sentences = furthest(Cuts(_ends(_SENTENCE, text), at), holds)
    if sentences and len(str(sentences.head)) * 2 >= len(str(words.head)):
        return sentences
    return words


def _ends(pattern: re.Pattern[str], text: str) -> list[int]:
    """Give where each match ends inside the text."""
    ends = [found.end() for found in pattern.finditer(text, 0, _REACH)]
    return [end for end in ends if text[:end].strip() and text[end:].strip()]


def _characters(text: str) -> list[int]:
    """Give every place between two characters as people count them."""
    in_flags = {flag.start() + 1 for flag in _FLAG.finditer(text, 0, _REACH)}
    ends = [end for _, end, _ in split_graphemes(text[:_REACH])[0] if end < len(text)]
    return [end for end in ends if end not in in_flags]


def _points(text: str) -> range:
    return range(1, min(len(text), _REACH))
