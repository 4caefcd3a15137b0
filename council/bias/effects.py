"""Effects with how sure they are, and how many units more would settle them."""

from dataclasses import replace
from math import ceil, inf, isfinite, log, sqrt

import numpy as np

from council.bakeoffs.columns import PRECISION, Floats
from council.bakeoffs.intervals import LEVEL, Interval, normal_quantile, t_chance, t_quantile
from council.bias.report import Effect

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
