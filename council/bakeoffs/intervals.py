"""Intervals of means and rates (Student's t, bootstrap, Wilson) and Holm's correction."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from council.bakeoffs.record_arrays import PRECISION, Floats
from council.tally.distributions import LEVEL, normal_quantile, t_quantile

Interval = tuple[float, float]

FULL_RANGE: Interval = (0.0, 1.0)
MIN_ROUNDS_FOR_BOOTSTRAP = 30
RESAMPLES = 2_000
MAX_DISTINCT_VALUES = 64  # more values are binned into this many bins of equal width
_SEED = 20261121  # for RandomState, whose stream numpy guarantees never to change


def share_interval(values: Floats, level: float = LEVEL) -> Interval:
    """Return the interval of the mean of shares, one per round; 0 to 1 for fewer than two rounds.

    Rounds that are all alike have no spread. They leave a chance of 1 − ((1 − level)/2)^(1/n) that
    a round differs, and the interval allows for it.
    """
    if len(values) < 2:  # noqa: PLR2004
        return FULL_RANGE
    return _clip_to_shares(values, mean_interval(values, level), level)


def share_t_interval(values: Floats) -> Interval:
    """Return the same interval by t alone, which is faster than the bootstrap."""
    return _clip_to_shares(values, t_interval(values), LEVEL) if len(values) > 1 else FULL_RANGE


def _clip_to_shares(values: Floats, interval: Interval, level: float) -> Interval:
    low, high = interval
    mean = float(values.mean())
    if np.ptp(values) < PRECISION:
        unseen = 1 - ((1 - level) / 2) ** (1 / len(values))
        low, high = mean * (1 - unseen), mean + (1 - mean) * unseen
    return max(0.0, low), min(1.0, high)


def mean_interval(values: Floats, level: float = LEVEL) -> Interval:
    """Return the interval of the mean of two or more independent values.

    By t below thirty values, else by bootstrap, drawn as counts of the values: the same at any n.
    """
    if len(values) < MIN_ROUNDS_FOR_BOOTSTRAP:
        return t_interval(values, level)
    distinct, counts = _count_values(values)
    resampled = np.random.RandomState(_SEED).multinomial(
        len(values), counts / len(values), RESAMPLES
    )
    means = resampled @ distinct / len(values)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def t_interval(values: Floats, level: float = LEVEL) -> Interval:
    """Return Student's interval of the mean of two or more independent values."""
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / sqrt(len(values))
    half = t_quantile((1 + level) / 2, len(values) - 1) * error
    return mean - half, mean + half


def _count_values(values: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values and their counts; too many values are binned and averaged."""
    distinct, index = np.unique(values, return_inverse=True)
    if len(distinct) > MAX_DISTINCT_VALUES:
        width = (distinct[-1] - distinct[0]) / MAX_DISTINCT_VALUES
        _, index = np.unique(((values - distinct[0]) / width).astype(int), return_inverse=True)
    counts = np.bincount(index)
    return np.bincount(index, weights=values) / counts, counts.astype(float)


def wilson_interval(hits: int, of: int) -> Interval:
    """Return Wilson's interval of the rate `hits / of`."""
    z2 = normal_quantile((1 + LEVEL) / 2) ** 2
    centre = (hits + z2 / 2) / (of + z2)
    half = sqrt(z2) / (of + z2) * sqrt(hits * (of - hits) / of + z2 / 4)
    return max(0.0, centre - half), min(1.0, centre + half)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return p-values corrected for being tested together (Holm 1979); None is no test."""
    known = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    so_far = 0.0
    for rank, (p, index) in enumerate(known):
        so_far = max(so_far, min(1.0, p * (len(known) - rank)))
        corrected[index] = so_far
    return tuple(corrected)
