from math import isnan

import pytest
from scipy import stats

from council.tally.distributions import normal_quantile, t_p_value, t_quantile


def test_quantiles_and_p_values_are_scipy_s() -> None:
    assert normal_quantile(0.975) == pytest.approx(stats.norm.ppf(0.975))
    for freedom in (1, 2, 3, 7, 10.5, 29, 100, 1_000, 1e6):
        for p in (0.6, 0.9, 0.975, 0.995):
            expected = stats.t.ppf(p, freedom)
            assert t_quantile(p, freedom) == pytest.approx(expected, rel=1e-8)
        for t in (-40, -2.5, -1e-9, 0.1, 1, 1.96, 5, 10):
            expected = 2 * stats.t.sf(abs(t), freedom)
            assert t_p_value(t, freedom) == pytest.approx(expected, rel=1e-8)


def test_p_values_of_no_and_of_endless_difference() -> None:
    assert t_p_value(0, 7) == 1
    assert t_p_value(float("inf"), 7) == t_p_value(float("-inf"), 7) == 0
    assert isnan(t_p_value(float("nan"), 7))
