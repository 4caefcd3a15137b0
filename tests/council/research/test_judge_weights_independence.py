"""Weights of judges by independence, from simulated judges and by hand."""

import numpy as np
import pytest

from council.research.judge_weights import (
    MIN_COMMON_ROUNDS,
    RoundShares,
    independence_weights,
    inverse_weights,
    residual_correlations,
)
from tests.council.research.share_builders import X, given

JUDGES = tuple("abcdef")


def simulated(rounds: int, *, alike: float = 0.0, random: bool = False) -> RoundShares:
    """Return rounds in which a and b share a part of their error; if `random`, a sees nothing.

    The first five also write answers, and nobody ranks its own.
    """
    draws = np.random.RandomState(7)
    count, members = len(JUDGES), JUDGES[:5]
    shares = np.full((rounds, count, len(members)), X)
    for one in shares:
        errors = draws.standard_normal((count, len(members)))
        common = draws.standard_normal(len(members))
        errors[:2] = np.sqrt(alike) * common + np.sqrt(1 - alike) * errors[:2]
        seen = draws.standard_normal(len(members)) + errors
        seen[0] = errors[0] if random else seen[0]
        for judge in range(count):
            shown = [author for author in range(len(members)) if author != judge]
            one[judge, shown] = seen[judge, shown].argsort().argsort() / (len(shown) - 1)
    names = tuple(f"r{i}" for i in range(rounds))
    return RoundShares(names, JUDGES, JUDGES, members, shares)


def test_two_judges_that_err_alike_weigh_less_than_the_others() -> None:
    weights = independence_weights([simulated(600, alike=0.6)], JUDGES).weights

    assert max(weights["a"], weights["b"]) < min(weights[judge] for judge in "cdef") - 0.015
    assert sum(weights.values()) == pytest.approx(1)


@pytest.mark.parametrize("random", [False, True])
def test_judges_that_err_apart_weigh_the_same_however_good_they_are(random: bool) -> None:
    weights = independence_weights([simulated(600, random=random)], JUDGES).weights

    assert [*weights.values()] == pytest.approx([1 / 6] * 6, abs=0.012)


def test_forty_common_rounds_are_needed() -> None:
    few = independence_weights([simulated(MIN_COMMON_ROUNDS - 1)], JUDGES)
    enough = independence_weights([simulated(MIN_COMMON_ROUNDS)], JUDGES)

    assert (few.is_usable, few.have, few.need) == (False, 39, 40)
    assert enough.is_usable


def test_fewer_than_five_judges_have_no_majority_to_compare_with() -> None:
    four = [[[1, 0]] * 4] * 50

    found = independence_weights([given(*four, judges="abcd", members="xy")], tuple("abcd"))

    assert (found.is_usable, found.have) == (False, 0)


def test_a_newcomer_has_an_average_weight_and_the_others_share_the_rest() -> None:
    newcomer = given([[1, 0], [1, 0]], judges="ag", members="xy")

    found = independence_weights([simulated(600, alike=0.6), newcomer], (*JUDGES, "g"))

    line = found.judges[-1]
    assert (line.judge, line.n, line.basis) == ("g", 0, None)
    assert line.weight == pytest.approx(1 / 7)
    assert sum(found.weights.values()) == pytest.approx(1)
    assert found.judges[0].n == 600
    assert (found.judges[0].basis or 0) > (found.judges[3].basis or 0)


# R = [[1, ½, 0], [½, 1, 0], [0, 0, 1]]: R⁻¹1 = (2/3, 2/3, 1), a part of 2/7, 2/7, 3/7.
def test_weights_are_the_inverse_of_the_correlations_pulled_halfway_to_equal_ones() -> None:
    weights = inverse_weights(np.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]))

    assert weights == pytest.approx([1 / 7 + 1 / 6, 1 / 7 + 1 / 6, 3 / 14 + 1 / 6])


def test_a_negative_weight_is_none() -> None:
    between = np.array([[1, 0.8, 0.8], [0.8, 1, 0.3], [0.8, 0.3, 1]])
    exact = np.linalg.solve(between, np.ones(3))

    weights = inverse_weights(between)

    assert exact[0] < 0
    assert weights == pytest.approx([1 / 6, 1 / 4 + 1 / 6, 1 / 4 + 1 / 6])


def test_what_most_judges_share_is_no_error() -> None:
    # All see the same quality, r = λ² = .36; a and b share more: r = .68, so (.68 − .36)/.64 = ½.
    correlations = np.full((5, 5), 0.36)
    np.fill_diagonal(correlations, 1)
    correlations[0, 1] = correlations[1, 0] = 0.68

    residual = residual_correlations(correlations)

    expected = np.eye(5)
    expected[0, 1] = expected[1, 0] = 0.5
    assert residual == pytest.approx(expected)


def test_judges_that_share_nothing_have_no_quality_in_common() -> None:
    assert residual_correlations(np.eye(5)) == pytest.approx(np.eye(5))
