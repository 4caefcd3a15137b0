import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from council.bakeoffs.intervals import holm, mean_interval, share_interval, wilson_interval
from tests.council.bakeoffs.record_builders import drawn_ballots

SOME = np.array([0.25, 0.5, 0.5, 0.75, 1.0])


def test_the_interval_is_scipy_s() -> None:
    expected = stats.t.interval(0.9, 4, SOME.mean(), stats.sem(SOME))

    assert mean_interval(SOME, 0.9) == pytest.approx(expected)


def test_an_interval_of_shares_stays_between_0_and_1() -> None:
    assert share_interval(np.array([0.0, 0.0, 0.5])) == pytest.approx((0.0, 0.8838), abs=1e-4)
    assert share_interval(np.array([1.0, 1.0, 0.5]))[1] == 1


def test_equal_rounds_allow_for_one_that_differs() -> None:
    # A round is otherwise with a chance of at most 1 − .025^(1/20) = .1684.
    assert share_interval(np.ones(20)) == pytest.approx((0.8316, 1.0), abs=1e-4)
    assert share_interval(np.full(20, 0.5)) == pytest.approx((0.4158, 0.5842), abs=1e-4)


def test_from_thirty_rounds_on_the_interval_is_bootstrapped() -> None:
    values = np.repeat([0.0, 0.25, 1.0], [10, 20, 30])
    draws = np.random.default_rng(1).choice(values, (20_000, 60)).mean(axis=1)

    assert share_interval(values) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.01)


def test_binning_hardly_changes_the_interval() -> None:
    values = np.random.default_rng(3).random(5_000)
    error = values.std() / np.sqrt(5_000)

    low, high = mean_interval(values)

    assert (low + high) / 2 == pytest.approx(values.mean(), abs=error / 10)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_a_rate_has_wilson_s_interval() -> None:
    expected = stats.binomtest(9, 12).proportion_ci(method="wilson")

    assert wilson_interval(9, 12) == pytest.approx((expected.low, expected.high))
    assert wilson_interval(0, 5)[0] == 0
    assert wilson_interval(5, 5)[1] == 1


@pytest.mark.parametrize(
    ("rounds", "members", "agreement", "boards"),
    [
        (20, 5, 0.0, 60),
        (60, 5, 0.3, 15),
        *(
            pytest.param(20, members, agreement, 400, marks=pytest.mark.nightly)
            for members in (4, 5, 7)
            for agreement in (0.0, 0.5)
        ),
        pytest.param(60, 5, 0.3, 150, marks=pytest.mark.nightly),
    ],
)
def test_intervals_hold_the_truth_at_least_93_times_of_100(
    rounds: int, members: int, agreement: float, boards: int
) -> None:
    rng = np.random.default_rng(20)
    worth = np.linspace(0.8, -0.8, members)
    drawn = drawn_ballots(rng, np.tile(worth, (boards, rounds, 1)), agreement=agreement)
    shares = np.nanmean(drawn, axis=-2)
    many = drawn_ballots(rng, np.tile(worth, (100_000, 1)), agreement=agreement)
    truth = np.nanmean(many, axis=-2).mean(axis=0)

    held = [
        low <= truth[member] <= high
        for member in range(members)
        for low, high in map(share_interval, shares[:, :, member])
    ]

    assert np.mean(held) >= 0.93


def test_the_smallest_is_taken_times_all_and_none_falls_below_one_before() -> None:
    # sorted .01 .02 .03: .01·3 = .03, .02·2 = .04, .03·1 = .03, raised to .04
    assert holm([0.02, 0.01, 0.03]) == pytest.approx((0.04, 0.03, 0.04))


def test_what_is_no_test_counts_for_nothing() -> None:
    assert holm([None, 0.2, None]) == (None, 0.2, None)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_keeps_order_and_lowers_nothing(chances: list[float]) -> None:
    found = holm(chances)

    assert all(
        after is not None and before <= after <= 1
        for before, after in zip(chances, found, strict=True)
    )
    order = sorted(range(len(chances)), key=lambda i: chances[i])
    assert [found[i] for i in order] == sorted(one for one in found if one is not None)
