"""A permutation test: what slots would get if a judge did not mind where an answer stands.

Within each ballot the shares are dealt to its slots anew. The statistic is the largest mean of a
slot, in standard deviations of such dealing.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from council.bakeoffs.columns import PRECISION, Floats

DRAWS = 2_000
MORE_DRAWS = 20_000  # where hardly any draw comes near, so that many tests can be corrected for
FEW = 10
DEALT = 100  # ballots; more are drawn from the normal limit of their sums
_SEED = 20261121


@dataclass(frozen=True, slots=True)
class Shuffles:
    """Ballots of one judge: shares less ½ by slot, an array a size of slate.

    `sums` are the slots' totals, `scale` their standard deviations under dealing, and `ballots`
    how many there are.
    """

    parts: tuple[Floats, ...]
    sums: Floats
    scale: Floats
    ballots: int

    @classmethod
    def of(cls, parts: list[Floats]) -> "Shuffles | None":
        """Give the test of these ballots; None where every one of them ties all it saw."""
        widest = max(part.shape[1] for part in parts)
        sums, variance = np.zeros((2, widest))
        for part in parts:
            sums[: part.shape[1]] += part.sum(axis=0)
            variance[: part.shape[1]] += (part**2).mean(axis=1).sum()
        said = variance > PRECISION
        if not said.any():
            return None
        # A slot that was only ever tied cannot stand out.
        scale = np.sqrt(np.where(said, variance, np.inf))
        return cls(tuple(parts), sums, scale, sum(map(len, parts)))

    @property
    def most(self) -> int:
        """The slot that stands out most, from 0."""
        return int(np.argmax(np.abs(self.sums) / self.scale))

    def chance(self) -> float:
        """Give the chance that dealing alone has a slot stand out as much."""
        hits = self._hits(DRAWS)
        if hits >= FEW:
            return (1 + hits) / (1 + DRAWS)
        return (1 + self._hits(MORE_DRAWS)) / (1 + MORE_DRAWS)

    def needed(self) -> int | None:
        """Give how many ballots like these would settle it; None where no slot stands out."""
        found = self._statistic(self.sums)
        if found < PRECISION:
            return None
        limit = float(np.quantile(self._drawn(DRAWS), 0.95))
        return ceil(self.ballots * (limit / found) ** 2)

    def _hits(self, draws: int) -> int:
        return int((self._drawn(draws) >= self._statistic(self.sums) - PRECISION).sum())

    def _statistic(self, sums: Floats) -> float:
        return float((np.abs(sums) / self.scale).max())

    def _drawn(self, draws: int) -> Floats:
        chance = np.random.RandomState(_SEED)
        sums = np.zeros((draws, len(self.sums)))
        for part in self.parts:
            deal = _dealt if len(part) <= DEALT else _limit
            sums[:, : part.shape[1]] += deal(part, draws, chance)
        found: Floats = (np.abs(sums) / self.scale).max(axis=1)
        return found


def _dealt(part: Floats, draws: int, chance: np.random.RandomState) -> Floats:
    """Give the slots' sums after dealing each ballot's shares anew, so many times."""
    sums = np.zeros((draws, part.shape[1]))
    for ballot in part:
        sums += ballot[chance.random_sample(sums.shape).argsort(axis=1)]
    return sums


def _limit(part: Floats, draws: int, chance: np.random.RandomState) -> Floats:
    """Give the same from its normal limit: slots of equal variance whose sum is 0."""
    slots = part.shape[1]
    variance = (part**2).mean(axis=1).sum() * slots / (slots - 1)
    free = chance.standard_normal((draws, slots))
    centred: Floats = (free - free.mean(axis=1, keepdims=True)) * np.sqrt(variance)
    return centred
