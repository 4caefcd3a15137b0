"""The grades of one framing as arrays, and their means for each item.

NaN stands for an item without such a grade, and never leaves this package.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.columns import Floats, Truths
from council.bias.grades.grade import Framing, Grade

Numbers = NDArray[np.int64]

NOBODY = -1  # the author's number of what somebody wrote who never judges


@dataclass(frozen=True, slots=True)
class Sheet:
    """Grades that were given, an entry each: which item, by whom, to whose work, and the score.

    Judges go by their place in `judges`, and so do authors that judge; items are counted from 0.
    """

    framing: Framing
    judges: tuple[str, ...]
    items: int
    item: Numbers
    judge: Numbers
    author: Numbers
    score: Floats

    @property
    def by_peers(self) -> Truths:
        """Whether a grade was given to the work of another judge."""
        return np.asarray((self.author != NOBODY) & (self.author != self.judge))

    def own(self, judge: int) -> Floats:
        """Give S, by item: what a judge gave to its own work."""
        return self.means((self.judge == judge) & (self.author == judge))

    def received(self, judge: int) -> Floats:
        """Give R, by item: the mean of what the other judges gave to its work."""
        return self.means((self.judge != judge) & (self.author == judge))

    def given(self, judge: int) -> Floats:
        """Give G, by item: the mean of what it gave to the work of the other judges."""
        return self.means((self.judge == judge) & self.by_peers)

    def elsewhere(self, judge: int) -> Floats:
        """Give O, by item: the mean of what the other judges gave to each other's work."""
        return self.means((self.judge != judge) & (self.author != judge) & self.by_peers)

    def means(self, chosen: Truths, score: Floats | None = None) -> Floats:
        """Give the mean score of chosen grades for each item, NaN for an item that has none."""
        scores = self.score if score is None else score
        totals = np.bincount(self.item[chosen], scores[chosen], minlength=self.items)
        counts = np.bincount(self.item[chosen], minlength=self.items)
        none = np.full(self.items, np.nan)
        means: Floats = np.divide(totals, counts, out=none, where=counts > 0)
        return means


def judges_of(grades: Iterable[Grade]) -> tuple[str, ...]:
    """Give everybody who was asked for a grade, by name."""
    return tuple(sorted({grade.judge for grade in grades}))


def sheet_of(grades: Sequence[Grade], judges: Sequence[str], framing: Framing) -> Sheet:
    """Give the grades of one framing; those that are absent are in none of its arrays."""
    numbers = {judge: at for at, judge in enumerate(judges)}
    given = [grade for grade in grades if grade.framing is framing and grade.score is not None]
    items: dict[str, int] = {}
    return Sheet(
        framing,
        tuple(judges),
        item=np.array([items.setdefault(one.item, len(items)) for one in given], np.int64),
        items=len(items),
        judge=np.array([numbers[one.judge] for one in given], np.int64),
        author=np.array([numbers.get(one.author, NOBODY) for one in given], np.int64),
        score=np.array([one.score for one in given], float),
    )
