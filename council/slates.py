"""Slates: the order in which each judge sees the labels.

Authors follow a balanced design: over a full panel every answer stands in every slot equally
often, so judges that vote by position alone end in an exact tie. Seats that see every answer
follow a cyclic Latin rectangle.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from council.draws import shuffled
from council.labels import Label, LabelMap

SLOT_LETTERS = tuple("ABCDEFGHIJ")
FEWEST_TO_RANK = 2  # one answer alone says nothing about any other


@dataclass(frozen=True, slots=True)
class Slate:
    """The labels one judge sees, in display order; slot letters go by position."""

    judge: str
    shown: tuple[Label, ...]

    @property
    def letters(self) -> tuple[str, ...]:
        """The slot letters of this slate, A first."""
        return SLOT_LETTERS[: len(self.shown)]

    def label_at(self, letter: str) -> Label:
        """Give the label shown in a slot."""
        return self.shown[SLOT_LETTERS.index(letter)]


def draw_slates(labels: LabelMap, onlookers: Sequence[str], seed: str) -> tuple[Slate, ...]:
    """Give each judge its slate: authors without their own answer, onlookers with all of them.

    A judge left with fewer than two answers gets no slate, since it could rank nothing.
    """
    return (*_author_slates(labels, seed), *_onlooker_slates(labels, onlookers, seed))


def _author_slates(labels: LabelMap, seed: str) -> tuple[Slate, ...]:
    count = len(labels.pairs)
    if count - 1 < FEWEST_TO_RANK:
        return ()
    # Place k of this permutation holds the member that is author k and judge k of the design.
    seats = shuffled(range(count), seed, "author")
    rows = {seats[k]: row for k, row in enumerate(_design(count))}
    return tuple(
        Slate(author, tuple(labels.labels[seats[shown]] for shown in rows[i]))
        for i, author in enumerate(labels.authors)
    )


def _onlooker_slates(labels: LabelMap, onlookers: Sequence[str], seed: str) -> tuple[Slate, ...]:
    count = len(labels.pairs)
    if count < FEWEST_TO_RANK:
        return ()
    base = shuffled(labels.labels, seed, "rectangle")
    turns = shuffled(range(count), seed, "turn")
    return tuple(
        Slate(judge, base[turns[i % count] :] + base[: turns[i % count]])
        for i, judge in enumerate(onlookers)
    )


@cache
def _design(count: int) -> tuple[tuple[int, ...], ...]:
    """Give the balanced design for a number of authors, three to ten: a row for each judge."""
    text = files("council").joinpath("council_designs.json").read_text(encoding="utf-8")
    return tuple(tuple(row) for row in json.loads(text)[str(count)])
