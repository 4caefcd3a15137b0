"""Intervals of means and rates (Student's t, bootstrap, Wilson), p-values, Holm's correction."""

from collections.abc import Sequence
from functools import cache
from math import exp, inf, isfinite, isnan, lgamma, log, log1p, nan, pi, sqrt
from statistics import NormalDist

import numpy as np

from council.bakeoffs.record_arrays import PRECISION, Floats

Interval = tuple[float, float]

LEVEL = 0.95
FULL_RANGE: Interval = (0.0, 1.0)
MIN_ROUNDS_FOR_BOOTSTRAP = 30
RESAMPLES = 2_000
MAX_DISTINCT_VALUES = 64  # more values are binned into this many bins of equal width
_TOLERANCE = 1e-14  # of a continued fraction
_NEWTON_TOLERANCE = 1e-8  # of the last step, which squares the error
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


def t_p_value(t: float, freedom: float) -> float:
    """Return the two-sided p-value of Student's t: I_x(ν/2, ½) with x = ν/(ν + t²)."""
    if t == 0 or not isfinite(t):
        return nan if isnan(t) else float(t == 0)
    ratio = t * t / freedom
    a, b, rest = freedom / 2, 0.5, ratio / (1 + ratio)  # rest is 1 - x
    log_front = lgamma(a + b) - lgamma(a) - lgamma(b) + b * log(rest) - a * log1p(ratio)
    if 1 - rest < (a + 1) / (a + b + 2):
        return exp(log_front) * _beta_fraction(a, b, 1 - rest) / a
    return 1 - exp(log_front) * _beta_fraction(b, a, rest) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22, by Lentz)."""
    c, d, m = 1.0, 1 / (1 - (a + b) * x / (a + 1)), 0
    fraction, change = d, 0.0
    while abs(change - 1) > _TOLERANCE:
        m += 1
        change = 1.0
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            change *= c * d
        fraction *= change
    return fraction


@cache
def t_quantile(p: float, freedom: float) -> float:
    """Return the p-quantile of Student's t, for p above one half."""
    log_scale = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(freedom * pi) / 2
    t, step = normal_quantile(p), inf
    while step > _NEWTON_TOLERANCE * t:  # from the left, where the tail is convex
        density = exp(log_scale - (freedom + 1) / 2 * log1p(t * t / freedom))
        step = (t_p_value(t, freedom) / 2 - (1 - p)) / density
        t += step
    return t


def normal_quantile(p: float) -> float:
    """Return the p-quantile of the standard normal."""
    return NormalDist().inv_cdf(p)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return p-values corrected for being tested together (Holm 1979); None is no test."""
    known = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    so_far = 0.0
    for rank, (p, index) in enumerate(known):
        so_far = max(so_far, min(1.0, p * (len(known) - rank)))
        corrected[index] = so_far
    return tuple(corrected)
