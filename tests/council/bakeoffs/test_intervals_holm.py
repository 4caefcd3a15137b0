"""Holm's correction for many tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.bakeoffs.intervals import holm


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
