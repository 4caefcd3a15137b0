"""The paired t-test of differences by item."""

from math import nan

import numpy as np
import pytest
from scipy import stats

from council.research.grades import paired_t_test


def test_it_is_students_paired_test() -> None:
    drawn = np.random.default_rng(7).normal(0.3, 1, 40)

    found = paired_t_test(drawn)

    expected = stats.ttest_1samp(drawn, 0)
    interval = expected.confidence_interval()
    assert found.t == pytest.approx(expected.statistic)
    assert found.effect.p == pytest.approx(expected.pvalue)
    assert found.effect.interval == pytest.approx((interval.low, interval.high))


def test_items_that_cannot_be_compared_are_left_out() -> None:
    assert paired_t_test(np.array([1.0, nan, 2.0, 4.0])).effect.n == 3


def test_equal_differences_use_the_sign_test() -> None:
    found = paired_t_test(np.full(10, -0.5))

    assert (found.t, found.effect.interval) == (None, None)
    assert found.effect.value == -0.5
    assert found.effect.p == 2.0**-9


def test_no_differences_give_no_test() -> None:
    assert paired_t_test(np.zeros(10)).effect.p is None
    assert paired_t_test(np.zeros(10)).effect.value == 0


def test_it_reports_how_many_more_items_are_needed() -> None:
    # mean .5, sd 1, n 4: half-width 3.182·.5 = 1.591; 4·(1.591/.5)² = 40.5, less the 4 there are
    spread = np.array([-1, 1, -1, 1]) * np.sqrt(3) / 2

    assert paired_t_test(spread + 0.5).effect.more == 37
    assert paired_t_test(spread + 9).effect.more == 0
    assert paired_t_test(spread).effect.more is None
