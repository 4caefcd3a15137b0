"""Intervals of the report hold what was planted: own answer, slot, letter and length."""

import pytest

from tests.council.bias.recovery import PLANTED, Coverage, coverage

FEW = 30  # trials in every run of the tests


@pytest.fixture(scope="module", params=[FEW, pytest.param(200, marks=pytest.mark.nightly)])
def trials(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def found(trials: int) -> dict[str, Coverage]:
    return {
        one.measure: one for one in coverage(PLANTED, 150, trials, times=5 if trials > FEW else 1)
    }


@pytest.mark.parametrize("measure", ["own", "first slot", "letter C", "length", "bold"])
def test_intervals_hold_what_was_planted(
    found: dict[str, Coverage], trials: int, measure: str
) -> None:
    # Of 1,000 intervals at 95 %, 950 hold, with a standard deviation of 6.9.
    one = found[measure]

    assert (
        one.intervals >= 0.99 * 5 * trials
    )  # a judge drawn for fewer than three audits of its own has none
    assert one.held / one.intervals >= (0.93 if trials > FEW else 0.90)


@pytest.mark.parametrize("measure", ["own", "first slot", "letter C", "length", "bold"])
def test_what_is_measured_is_what_was_planted(found: dict[str, Coverage], measure: str) -> None:
    one = found[measure]

    assert one.mean == pytest.approx(one.planted, abs=0.02 + 0.03 * one.planted)
    assert one.planted > 0.03
