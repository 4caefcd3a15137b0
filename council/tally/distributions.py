"""Student's t and the normal distribution: p-values and quantiles."""

from functools import cache
from math import exp, inf, isfinite, isnan, lgamma, log, log1p, nan, pi
from statistics import NormalDist

LEVEL = 0.95  # of every interval
_TOLERANCE = 1e-14  # of a continued fraction
_NEWTON_TOLERANCE = 1e-8  # of the last step, which squares the error


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
