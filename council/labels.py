"""Public labels: the letters that hide the authors of one round.

Judges see slot letters A…J instead (`council.slates`); the two alphabets never meet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NewType

from council.draws import shuffled

Label = NewType("Label", str)

PUBLIC_LETTERS = tuple("KLMNOPQRSTUVWXYZ")


@dataclass(frozen=True, slots=True)
class LabelMap:
    """The secret pairing of authors and labels, in panel order; opened at the tally."""

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
        """Give the author's label, or None for a seat that did not answer."""
        return dict(self.pairs).get(author)

    def author_of(self, label: Label) -> str:
        """Give who hides behind a label; every label of the round has one author."""
        return next(author for author, own in self.pairs if own == label)


def draw_labels(authors: Sequence[str], seed: str) -> LabelMap:
    """Give each author a label of its own from K…Z, at random by the seed (at most sixteen)."""
    letters = shuffled(PUBLIC_LETTERS, seed, "label")
    return LabelMap(tuple((author, Label(letters[i])) for i, author in enumerate(authors)))
