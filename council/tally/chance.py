"""How often random ballots would give some answer a share as high as the winner's.

Exact while the ballots have at most a million outcomes together, else from seeded draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from council.draws import shuffled
from council.labels import Label
from council.tally.standings import TOLERANCE

MOST_OUTCOMES = 1_000_000
DRAWS = 2_000

_Shares = NDArray[np.float64]
_Order = tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Chance:
    """The best share of every random outcome, exact or drawn."""

    best_shares: _Shares
    exact: bool

    def of_reaching(self, share: float) -> float:
        """Give the chance, 0 to 1, that some answer reaches at least this share."""
        hits = int(np.count_nonzero(self.best_shares >= share - TOLERANCE))
        if self.exact:
            return hits / len(self.best_shares)
        return (1 + hits) / (1 + len(self.best_shares))


def chance(slates: Sequence[_Order], seed: str) -> Chance:
    """Give the best shares that random strict ballots over the same slates would lead to."""
    labels = sorted({label for slate in slates for label in slate})
    pairs = _PairWeights(labels, slates)
    if prod(factorial(len(slate)) for slate in slates) <= MOST_OUTCOMES:
        totals = np.zeros((1, pairs.count))
        for slate in slates:
            options = np.array([pairs.gains(order) for order in permutations(slate)])
            totals = (totals[:, None, :] + options[None, :, :]).reshape(-1, pairs.count)
        return Chance(totals.max(axis=1), exact=True)
    drawn = np.array([_draw(pairs, slates, seed, i) for i in range(DRAWS)])
    return Chance(drawn.max(axis=1), exact=False)


def _draw(pairs: "_PairWeights", slates: Sequence[_Order], seed: str, i: int) -> _Shares:
    orders = (shuffled(slate, seed, f"chance {i} {j}") for j, slate in enumerate(slates))
    return sum((pairs.gains(order) for order in orders), np.zeros(pairs.count))


class _PairWeights:
    """What each pair won on one ballot adds to a share: 1 over (judges who saw it × rivals)."""

    def __init__(self, labels: Sequence[Label], slates: Sequence[_Order]) -> None:
        self._at = {label: i for i, label in enumerate(labels)}
        seen = np.zeros((len(labels), len(labels)))
        for slate in slates:
            places = [self._at[label] for label in slate]
            seen[np.ix_(places, places)] += 1
        np.fill_diagonal(seen, 0)
        self.count = len(labels)
        rivals = np.count_nonzero(seen, axis=1)
        with np.errstate(divide="ignore"):
            self._weights = np.where(seen > 0, 1 / (seen * rivals[:, None]), 0.0)

    def gains(self, order: _Order) -> _Shares:
        """Give what one strict ballot adds to each label's share."""
        places = np.array([self._at[label] for label in order])
        gained = np.zeros(self.count)
        won = np.triu(self._weights[np.ix_(places, places)], k=1)
        gained[places] = won.sum(axis=1)
        return gained
