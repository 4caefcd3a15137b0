"""Labels that hide the authors of a round, and slates: the order in which each judge sees them."""

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import NewType

from council.panel import IF_REPEATED, IF_SET
from council.randomness import shuffle

Label = NewType("Label", str)

PUBLIC_LETTERS = tuple("KLMNOPQRSTUVWXYZ")
SLOT_LETTERS = tuple("ABCDEFGHIJ")
MIN_TO_RANK = 2  # a single answer cannot be compared with anything


@dataclass(frozen=True, slots=True)
class LabelMap:
    """The secret pairing of authors and labels, in panel order; revealed with the tally."""

    pairs: tuple[tuple[str, Label], ...]

    @property
    def labels(self) -> tuple[Label, ...]:
        """Every label in play, in panel order of its author."""
        return tuple(label for _, label in self.pairs)

    @property
    def authors(self) -> tuple[str, ...]:
        """Every author, in panel order."""
        return tuple(author for author, _ in self.pairs)

    def label_of(self, author: str) -> Label | None:
        """Return the author's label, or None for a seat that did not answer."""
        return dict(self.pairs).get(author)

    def author_of(self, label: Label) -> str:
        """Return the author of a label; every label of the round has exactly one."""
        return next(author for author, own in self.pairs if own == label)


def voter_name(judge: str, pass_number: int) -> str:
    """Return the name of one of a judge's rankings: the judge's own for its first pass."""
    return judge if pass_number == 1 else f"{judge} pass {pass_number}"


def draw_labels(authors: Sequence[str], seed: str) -> LabelMap:
    """Assign each author (at most sixteen) a distinct label from K to Z, at random by the seed."""
    letters = shuffle(PUBLIC_LETTERS, seed, "label")
    return LabelMap(tuple((author, Label(letters[i])) for i, author in enumerate(authors)))


LOW_IS_GOOD, WORST_COMES_FIRST = INVERTED = ("low is good", "worst first")  # wordings of slates


@dataclass(frozen=True, slots=True)
class Slate:
    """The labels one judge sees, in display order; the slot letter is the position.

    `pass_number` counts the rankings that the method asks of a judge, from 1. `wording` is how its
    prompt is worded, "" unless the method varies it.
    """

    judge: str
    shown: tuple[Label, ...]
    pass_number: int = field(default=1, metadata=IF_REPEATED)
    wording: str = field(default="", metadata=IF_SET)

    @property
    def voter(self) -> str:
        """The judge, and the pass beyond its first: a text that is unique in a round."""
        return voter_name(self.judge, self.pass_number)

    @property
    def letters(self) -> tuple[str, ...]:
        """The slot letters of this slate, A first."""
        return SLOT_LETTERS[: len(self.shown)]

    def label_at(self, letter: str) -> Label:
        """Return the label shown in a slot."""
        return self.shown[SLOT_LETTERS.index(letter)]


def draw_slates(labels: LabelMap, onlookers: Sequence[str], seed: str) -> tuple[Slate, ...]:
    """Return the slates: authors never see their own answer; fewer than two answers give none."""
    count = len(labels.pairs)
    if count < MIN_TO_RANK:
        return ()
    own = _author_slates(labels, seed) if count > MIN_TO_RANK else ()
    base = shuffle(labels.labels, seed, "rectangle")
    turns = shuffle(range(count), seed, "turn")
    others = (
        Slate(judge, base[turns[i % count] :] + base[: turns[i % count]])
        for i, judge in enumerate(onlookers)
    )
    return (*own, *others)


def reverse_slates(slates: Sequence[Slate], judges: Container[str]) -> tuple[Slate, ...]:
    """Return the slates, with each of these judges seeing as many in reverse as forward.

    Of an odd number of passes, the later half is in reverse, after one more; an even number is as
    it was, since its method sees to that.
    """
    drawn: dict[str, list[Slate]] = {}
    for slate in slates:
        drawn.setdefault(slate.judge, []).append(slate)
    for judge, own in drawn.items():
        if judge in judges and len(own) % 2:
            forward = own[: len(own) // 2 + 1]
            drawn[judge] = forward + [
                replace(
                    slate, shown=slate.shown[::-1], pass_number=slate.pass_number + len(forward)
                )
                for slate in forward
            ]
    return tuple(slate for own in drawn.values() for slate in own)


def _author_slates(labels: LabelMap, seed: str) -> tuple[Slate, ...]:
    count = len(labels.pairs)
    # seats[k] is the member that is author k and judge k of the design.
    seats = shuffle(range(count), seed, "author")
    rows = {seats[k]: row for k, row in enumerate(_design(count))}
    return tuple(
        Slate(author, tuple(labels.labels[seats[shown]] for shown in rows[i]))
        for i, author in enumerate(labels.authors)
    )


@cache
def _design(count: int) -> tuple[tuple[int, ...], ...]:
    """Return the balanced design for three to ten authors, one row per judge."""
    text = files("council").joinpath("council_designs.json").read_text(encoding="utf-8")
    return tuple(tuple(row) for row in json.loads(text)[str(count)])
