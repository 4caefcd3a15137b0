"""Effects with how sure they are, and how many units more would settle them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite, log, sqrt

import numpy as np

from council.bakeoffs.intervals import LEVEL, Interval, normal_quantile, t_chance, t_quantile
from council.bakeoffs.record_arrays import PRECISION, Floats
from council.bias.report import Effect

# --- Effects with how sure they are, and how many units more would settle them.

FEWEST = 3  # units, below which nothing is said
MOST_NEEDED = 1_000_000  # units more, above which nobody can say

WITHIN_ONE: Interval = (-1.0, 1.0)
ANY_NUMBER: Interval = (-inf, inf)


def mean_effect(values: Floats, unit: str, within: Interval = WITHIN_ONE) -> Effect:
    """Give the mean of independent values as an effect, by Student's t; none below FEWEST.

    Values lie `within` two bounds. Where all are alike there is no spread to judge by: they leave
    open a chance of 1 − .025^(1/n) that one is otherwise, as far away as the bounds allow. `p` is
    never below the 2^(1 − k) of k values that all lie on one side of 0.
    """
    n = len(values)
    if n < FEWEST:
        return Effect(n, unit)
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    if spread < PRECISION:
        return _of_one_value(mean, n, unit, within)
    error = spread / sqrt(n)
    signs = 2.0 ** (1 - int((np.abs(values) > PRECISION).sum()))
    found = effect_by_t(mean, error, n, unit)
    low, high = found.interval or within
    p = None if found.p is None else min(1.0, max(found.p, signs))
    return replace(found, interval=(max(low, within[0]), min(high, within[1])), p=p)


def effect_by_t(value: float, error: float, n: int, unit: str, fitted: int = 1) -> Effect:
    """Give an effect by its standard error over n units, which `fitted` numbers were fitted to."""
    freedom = n - fitted
    half = t_quantile((1 + LEVEL) / 2, freedom) * error
    return Effect(
        n,
        unit,
        value,
        (value - half, value + half),
        t_chance(value / error, freedom),
        more=_more(value, error, n, fitted),
    )


def described(values: Floats, unit: str, within: Interval = WITHIN_ONE) -> Effect:
    """Give the mean as an effect that is tested against nothing."""
    return replace(mean_effect(values, unit, within), p=None, more=None)


def _of_one_value(mean: float, n: int, unit: str, within: Interval) -> Effect:
    p = 1.0 if abs(mean) < PRECISION else 2.0 ** (1 - n)
    if not all(map(isfinite, within)):
        return Effect(n, unit, mean, p=p)
    otherwise = 1 - ((1 - LEVEL) / 2) ** (1 / n)
    low, high = mean - (mean - within[0]) * otherwise, mean + (within[1] - mean) * otherwise
    more = None
    if abs(mean) >= PRECISION:
        far = within[0] if mean > 0 else within[1]
        needed = log((1 - LEVEL) / 2) / log(far / (far - mean))
        more = max(0, ceil(needed) - n)
    return Effect(n, unit, mean, (low, high), p, more=more)


def _more(value: float, error: float, n: int, fitted: int) -> int | None:
    """Give how many units more have the interval exclude 0, if the value stays as it is."""
    if abs(value) < PRECISION:
        return None
    # The error falls with the root of the units, and so does t with their freedom.
    needed, each = float(n), error * sqrt(n) / abs(value)
    if each * normal_quantile((1 + LEVEL) / 2) > sqrt(MOST_NEEDED):
        return None
    for _ in range(20):
        before = needed
        needed = (each * t_quantile((1 + LEVEL) / 2, max(1.0, needed - fitted))) ** 2
        if abs(needed - before) < 0.01:  # noqa: PLR2004
            break
    return max(0, ceil(needed) - n)


# --- Many tests at once, held together.


def holm(chances: Sequence[float | None]) -> tuple[float | None, ...]:
    """Give p-values corrected for all of them being tested at once, at most 1 (Holm 1979).

    None is no test: it counts for nothing and stays None.
    """
    known = sorted((p, at) for at, p in enumerate(chances) if p is not None)
    corrected: list[float | None] = [None] * len(chances)
    least = 0.0
    for done, (p, at) in enumerate(known):
        least = max(least, min(1.0, p * (len(known) - done)))
        corrected[at] = least
    return tuple(corrected)


# --- A permutation test: what slots would get if a judge did not mind where an answer stands.

DRAWS = 2_000
MORE_DRAWS = 20_000  # where hardly any draw comes near, so that many tests can be corrected for
FEW = 10
DEALT = 100  # ballots; more are drawn from the normal limit of their sums
_SEED = 20261121


@dataclass(frozen=True, slots=True)
class SlotShares:
    """Ballots of one judge: shares less ½ by slot, an array a size of slate.

    `sums` are the slots' totals, `scale` their standard deviations under dealing, and `ballots`
    how many there are.
    """

    parts: tuple[Floats, ...]
    sums: Floats
    scale: Floats
    ballots: int

    @classmethod
    def of(cls, parts: list[Floats]) -> "SlotShares | None":
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
