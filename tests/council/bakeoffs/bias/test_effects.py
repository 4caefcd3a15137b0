"""An effect has a size, its uncertainty, and how many more units it takes to be sure."""

import numpy as np
import pytest
from scipy import stats

from council.bakeoffs.bias.effects import UNBOUNDED, mean_effect, t_effect
from council.bakeoffs.bias.report import Effect

VALUES = np.array([0.5, -0.25, 0.75, 0.25, 0.0, 0.5])


def test_a_mean_has_students_interval_and_p() -> None:
    effect = mean_effect(VALUES, "ballots")

    expected = stats.ttest_1samp(VALUES, 0.0)
    assert (effect.n, effect.unit) == (6, "ballots")
    assert effect.value == pytest.approx(VALUES.mean())
    assert effect.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert effect.p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_units_give_no_effect(count: int) -> None:
    assert mean_effect(VALUES[:count], "rounds") == Effect(count, "rounds")


def test_p_is_never_below_that_of_the_sign_test() -> None:
    # Four values on one side of 0: no test of signs goes below 2 × (1/2)⁴.
    effect = mean_effect(np.array([0.30, 0.31, 0.30, 0.31]), "rounds")

    assert effect.p == 0.125


def test_values_that_are_all_alike_leave_open_that_one_is_otherwise() -> None:
    effect = mean_effect(np.full(10, 0.5), "ballots", (-0.5, 0.5))

    # One of ten may be otherwise by 1 − .025^(1/10) = .3085, as far off as −.5.
    assert effect.value == 0.5
    assert effect.interval == pytest.approx((0.5 - 0.30850, 0.5), abs=1e-5)
    assert effect.p == 2**-9
    assert effect.more == 0


def test_how_many_alike_would_settle_it() -> None:
    effect = mean_effect(np.full(3, 0.25), "ballots", (-0.5, 0.5))

    needed = effect.n + (effect.more or 0)
    assert effect.more
    assert _low(mean_effect(np.full(needed, 0.25), "ballots", (-0.5, 0.5))) > 0
    assert _low(mean_effect(np.full(needed - 1, 0.25), "ballots", (-0.5, 0.5))) <= 0
    below = mean_effect(np.full(3, -0.25), "ballots", (-0.5, 0.5))
    assert below.more == effect.more


def _low(effect: Effect) -> float:
    assert effect.interval
    return effect.interval[0]


def test_no_effect_at_all_is_no_effect() -> None:
    effect = mean_effect(np.zeros(20), "ballots")

    assert (effect.value, effect.p, effect.more) == (0.0, 1.0, None)
    assert effect.interval == pytest.approx((-0.16843, 0.16843), abs=1e-5)


def test_numbers_without_bounds_that_are_all_alike_have_no_interval() -> None:
    effect = mean_effect(np.full(4, 7.0), "rounds", UNBOUNDED)

    assert effect == Effect(4, "rounds", 7.0, None, 0.125)


def test_an_interval_stays_where_values_can_be() -> None:
    effect = mean_effect(np.array([1.0, 1.0, 0.2]), "ballots")

    assert effect.interval
    assert effect.interval[1] == 1.0


@pytest.mark.parametrize(("value", "error", "n"), [(0.1, 0.06, 30), (0.02, 0.1, 12), (0.3, 0.2, 3)])
def test_further_units_assume_the_measured_size(value: float, error: float, n: int) -> None:
    effect = t_effect(value, error, n, "ballots")

    needed = n + (effect.more or 0)
    assert effect.more
    assert _low(t_effect(value, error * (n / needed) ** 0.5, needed, "ballots")) >= -1e-9
    fewer = needed - 1
    assert _low(t_effect(value, error * (n / fewer) ** 0.5, fewer, "ballots")) < 0


@pytest.mark.parametrize(
    ("value", "more"),
    [
        pytest.param(0.5, 0, id="settled"),
        pytest.param(0.0, None, id="nothing-to-settle"),
        pytest.param(1e-6, None, id="beyond-a-million"),
    ],
)
def test_what_more_would_settle(value: float, more: int | None) -> None:
    assert t_effect(value, 0.1, 20, "ballots").more == more
