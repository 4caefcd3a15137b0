"""What judges gave to authors in many rounds, and the shares that follow when judges weigh."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from council.bakeoffs.columns import PRECISION, Floats, Truths


@dataclass(frozen=True, slots=True)
class Given:
    """The counted ballots of rounds of the same seats, oldest first.

    `shares` are Borda shares, (round, judge, member); NaN where a judge was not shown an answer or
    cast no ballot. `makers` go with `judges`.
    """

    rounds: tuple[str, ...]
    judges: tuple[str, ...]
    makers: tuple[str, ...]
    members: tuple[str, ...]
    shares: Floats

    @property
    def voted(self) -> Truths:
        """Which judges cast a ballot that counts, (round, judge)."""
        return np.array((~np.isnan(self.shares)).any(axis=2))

    def of_judges(self, weights: Mapping[str, float]) -> Floats:
        """Give the weights of these judges, in their order."""
        return np.array([weights[judge] for judge in self.judges])


def weighted_shares(given: Given, weights: Floats) -> Floats:
    """Give each member's share in each round, in pair form, NaN where nobody ranked it.

    p_cd is the weight of the judges who saw both and put c above d (a tie half), as a part of the
    weight of all who saw both; the share is the mean of p_cd over the rivals d. `weights` are
    (judge) or (round, judge), of any sum; with equal ones this is the official share.
    """
    voices = np.broadcast_to(weights, given.shares.shape[:2])
    totals = np.zeros((len(given.rounds), len(given.members)))
    rivals = np.zeros_like(totals)
    for one, other in combinations(range(len(given.members)), 2):
        won = _won(given.shares[:, :, one], given.shares[:, :, other])
        known = ~np.isnan(won)
        heard = np.where(known, voices, 0.0).sum(axis=1)
        share = (np.nan_to_num(won) * voices).sum(axis=1) / np.where(heard > 0, heard, 1.0)
        totals[:, one] += np.where(heard > 0, share, 0.0)
        totals[:, other] += np.where(heard > 0, 1 - share, 0.0)
        rivals[:, [one, other]] += (heard > 0)[:, None]
    return np.where(rivals > 0, totals / np.where(rivals > 0, rivals, 1.0), np.nan)


def _won(one: Floats, other: Floats) -> Floats:
    """Give 1 where the first is above the second, ½ where they tie, NaN where not both are seen."""
    lead = one - other
    return np.where(np.abs(lead) < PRECISION, 0.5, (1 + np.sign(lead)) / 2)
