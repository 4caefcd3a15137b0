"""95 % intervals of means over rounds: t below thirty rounds, a bootstrap over rounds above.

A mean's bootstrap depends only on how often each value occurs, so that counts of values are drawn
instead of rounds: the same distribution, at a cost that does not grow with the rounds.
"""

from math import sqrt
from statistics import NormalDist

import numpy as np

from council.bakeoffs.record_arrays import PRECISION, Floats

Interval = tuple[float, float]

LEVEL = 0.95
ANYTHING: Interval = (0.0, 1.0)
FEWEST_FOR_BOOTSTRAP = 30
DRAWS = 2_000
MOST_VALUES = 64  # beyond that, values are gathered in so many bins of one width
_SEED = 20261121  # of a generator whose stream numpy keeps for ever


def share_interval(values: Floats, level: float = LEVEL) -> Interval:
    """Give the interval of the mean of shares, one a round, 0 to 1; 0 to 1 for a single round.

    Rounds that were all alike have no spread to judge by. They leave open a chance of
    1 − ((1 − level)/2)^(1/n) that a round is otherwise, and the interval allows for that.
    """
    if len(values) < 2:  # noqa: PLR2004
        return ANYTHING
    return _of_shares(values, mean_interval(values, level), level)


def quick_share_interval(values: Floats) -> Interval:
    """Give the same by t, however many rounds: where very many intervals are wanted at once."""
    return _of_shares(values, t_interval(values), LEVEL) if len(values) > 1 else ANYTHING


def _of_shares(values: Floats, interval: Interval, level: float) -> Interval:
    low, high = interval
    mean = float(values.mean())
    if np.ptp(values) < PRECISION:
        otherwise = 1 - ((1 - level) / 2) ** (1 / len(values))
        low, high = mean * (1 - otherwise), mean + (1 - mean) * otherwise
    return max(0.0, low), min(1.0, high)


def mean_interval(values: Floats, level: float = LEVEL) -> Interval:
    """Give the interval of the mean of independent values, two or more."""
    if len(values) < FEWEST_FOR_BOOTSTRAP:
        return t_interval(values, level)
    low, high = np.quantile(_drawn_means(values), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def t_interval(values: Floats, level: float = LEVEL) -> Interval:
    """Give Student's interval of the mean of independent values, two or more, however many."""
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / sqrt(len(values))
    half = t_quantile((1 + level) / 2, len(values) - 1) * error
    return mean - half, mean + half


def _drawn_means(values: Floats) -> Floats:
    """Give the means of DRAWS resamples, each of as many rounds as there are."""
    found, counts = _gathered(values)
    drawn = np.random.RandomState(_SEED).multinomial(len(values), counts / len(values), DRAWS)
    means: Floats = drawn @ found / len(values)
    return means


def _gathered(values: Floats) -> tuple[Floats, Floats]:
    """Give distinct values and how often each occurs; very many are binned, as their means."""
    found, at = np.unique(values, return_inverse=True)
    if len(found) > MOST_VALUES:
        width = (found[-1] - found[0]) / MOST_VALUES
        _, at = np.unique(((values - found[0]) / width).astype(int), return_inverse=True)
    counts = np.bincount(at)
    return np.bincount(at, weights=values) / counts, counts.astype(float)


def rate_interval(hits: int, of: int) -> Interval:
    """Give Wilson's interval of a rate."""
    z2 = normal_quantile((1 + LEVEL) / 2) ** 2
    centre = (hits + z2 / 2) / (of + z2)
    half = sqrt(z2) / (of + z2) * sqrt(hits * (of - hits) / of + z2 / 4)
    return max(0.0, centre - half), min(1.0, centre + half)


# scipy takes a while to load, and most commands need none of it.
def t_quantile(p: float, freedom: float) -> float:
    """Give the value that Student's t stays below with this chance."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, p))


def t_chance(t: float, freedom: float) -> float:
    """Give the two-sided chance that Student's t is at least this far from 0."""
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


def normal_quantile(p: float) -> float:
    """Give the value that a standard normal stays below with this chance."""
    return NormalDist().inv_cdf(p)
