"""Intervals of the report hold what was planted: own answer, slot, letter and length."""

import pytest

from tests.council.bias.recovery import PLANTED, Coverage, coverage

AT_LEAST = 0.93


@pytest.fixture(scope="module")
def found() -> dict[str, Coverage]:
    return {one.measure: one for one in coverage(PLANTED, rounds=150, trials=200)}


@pytest.mark.parametrize("measure", ["own", "first slot", "letter C", "length", "bold"])
def test_intervals_hold_what_was_planted(found: dict[str, Coverage], measure: str) -> None:
    # Of 1,000 intervals at 95 %, 950 hold, with a standard deviation of 6.9.
    one = found[measure]

    assert one.intervals >= 990  # a judge drawn for fewer than three audits of its own has none
    assert one.held / one.intervals >= AT_LEAST


@pytest.mark.parametrize("measure", ["own", "first slot", "letter C", "length", "bold"])
def test_what_is_measured_is_what_was_planted(found: dict[str, Coverage], measure: str) -> None:
    one = found[measure]

    assert one.mean == pytest.approx(one.planted, abs=0.02 + 0.03 * one.planted)
    assert one.planted > 0.03
