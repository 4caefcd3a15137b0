"""Holm's correction for many tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.bakeoffs.intervals import holm


def test_the_smallest_is_taken_times_all_and_none_falls_below_one_before() -> None:
    # sorted .01 .02 .03: .01·3 = .03, .02·2 = .04, .03·1 = .03, raised to .04
    assert holm([0.02, 0.01, 0.03]) == pytest.approx((0.04, 0.03, 0.04))


def test_one_that_would_hold_alone_fails_with_a_smaller_one() -> None:
    # .05/2 = .025 does not hold for .03, so that .04, which would hold at .05, fails with it.
    found = holm([0.04, 0.03, 0.01])

    assert [one is not None and one <= 0.05 for one in found] == [False, False, True]


def test_what_is_no_test_counts_for_nothing() -> None:
    assert holm([None, 0.2, None]) == (None, 0.2, None)


def test_nothing_exceeds_one() -> None:
    assert holm([0.9, 0.8]) == (1.0, 1.0)


def test_no_tests_are_none() -> None:
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_keeps_order_and_lowers_nothing(chances: list[float]) -> None:
    found = holm(chances)

    assert all(
        after is not None and before <= after <= 1
        for before, after in zip(chances, found, strict=True)
    )
    order = sorted(range(len(chances)), key=lambda i: chances[i])
    assert [found[i] for i in order] == sorted(one for one in found if one is not None)
