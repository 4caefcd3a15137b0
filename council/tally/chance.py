"""How often random ballots would give some answer a share as high as the winner's.

Exact while the ballots have at most a million outcomes together, else from seeded draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
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
            options = pairs.gains([*permutations(slate)])
            totals = (totals[:, None, :] + options[None, :, :]).reshape(-1, pairs.count)
        return Chance(totals.max(axis=1), exact=True)
    totals = np.zeros((DRAWS, pairs.count))
    for j, slate in enumerate(slates):
        totals += pairs.gains([shuffled(slate, seed, f"chance {i} {j}") for i in range(DRAWS)])
    return Chance(totals.max(axis=1), exact=False)


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

    def gains(self, orders: Sequence[_Order]) -> _Shares:
        """Give what each strict order of one slate adds to each label's share, a row an order."""
        places = np.array([[self._at[label] for label in order] for order in orders])
        gained = np.zeros((len(orders), self.count))
        rows = np.arange(len(orders))
        for better, worse in combinations(range(places.shape[1]), 2):
            winners = places[:, better]
            gained[rows, winners] += self._weights[winners, places[:, worse]]
        return gained
