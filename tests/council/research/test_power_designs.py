"""What single simulated rounds find in our design and in a fixed order."""

import pytest

from council.research.power import compare_designs
from council.research.simulated_judges import STRONG, Biases, uniform_panel


# A fuller run of 20,000 trials gave .50 and .45; 2,000 leave a standard error of .008.
@pytest.mark.nightly
def test_with_strong_bias_our_order_tells_more_than_a_fixed_one_with_the_own_answer_in() -> None:
    default, fixed = compare_designs(uniform_panel(5, STRONG), 2_000, "council")

    assert default.tau >= 0.48
    assert fixed.tau == pytest.approx(0.45, abs=0.02)
    assert default.tau_ci[0] > fixed.tau_ci[1]


@pytest.mark.parametrize("trials", [200, pytest.param(1_000, marks=pytest.mark.nightly)])
def test_with_strong_bias_fewer_of_our_clear_winners_are_false(trials: int) -> None:
    default, fixed = compare_designs(uniform_panel(5, STRONG), trials, "seed")

    assert default.tau > fixed.tau
    assert default.clear_among_equals < 0.05 < fixed.clear_among_equals
    assert (default.clear_right or 0) > (fixed.clear_right or 1)


def test_judges_that_look_at_the_slot_alone_tell_nothing_and_claim_nothing() -> None:
    default, fixed = compare_designs(
        uniform_panel(5, Biases(position=100.0, noise=0.0)), 100, "seed"
    )

    assert (default.tau, default.clear, default.clear_right) == (0, 0, None)
    assert default.best_first == pytest.approx(0.2)
    assert fixed.clear_among_equals == 1
