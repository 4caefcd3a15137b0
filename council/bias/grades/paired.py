"""Differences between paired grades: their mean, its interval, and the chance that it is none."""

from dataclasses import dataclass, replace
from math import ceil, sqrt

import numpy as np

from council.bakeoffs.columns import PRECISION, Floats
from council.bakeoffs.intervals import t_chance, t_interval
from council.bias.report import Effect

FEWEST = 3  # items, below which no spread is worth a word
UNIT = "items"


@dataclass(frozen=True, slots=True)
class Paired:
    """A mean difference in grades over items, with the t of Student's paired test."""

    effect: Effect
    t: float | None = None

    def corrected(self, p_holm: float | None) -> "Paired":
        """Give the same with its p as it is among all tests of the report."""
        return replace(self, effect=replace(self.effect, p_holm=p_holm))


def paired(differences: Floats) -> Paired:
    """Test differences, one an item, against a mean of 0: two-sided, with the 95 % t-interval.

    NaN is an item that cannot be compared. Fewer than three leave t, interval and p None. So do
    differences that are all alike, save that p is the sign test's 2^(1 − n) where they are not 0.
    """
    known = differences[~np.isnan(differences)]
    n = len(known)
    if not n:
        return Paired(Effect(0, UNIT))
    mean = float(known.mean())
    if n < FEWEST:
        return Paired(Effect(n, UNIT, mean))
    if np.ptp(known) < PRECISION:
        certain = None if abs(mean) < PRECISION else 2.0 ** (1 - n)
        return Paired(Effect(n, UNIT, mean, p=certain))
    t = mean / (float(known.std(ddof=1)) / sqrt(n))
    interval = t_interval(known)
    effect = Effect(n, UNIT, mean, interval, t_chance(t, n - 1), more=_more(n, mean, interval))
    return Paired(effect, t)


def _more(n: int, mean: float, interval: tuple[float, float]) -> int | None:
    """Give how many more items would shrink the interval to less than the mean, as √n does."""
    if abs(mean) < PRECISION:
        return None
    half = (interval[1] - interval[0]) / 2
    return max(0, ceil(n * (half / mean) ** 2) - n)
