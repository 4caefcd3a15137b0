"""A whole simulation as one value, and how many rounds its leaderboards need."""

from collections.abc import Iterator

import pytest

from council.research import power
from council.research.power import (
    GAPS,
    Simulation,
    SimulationSettings,
    compare_designs,
    follow_boards,
    run_simulation,
)
from council.research.simulated_judges import FAIR, STRONG, Biases, SimulatedPanel, uniform_panel

SETTINGS = SimulationSettings(uniform_panel(5, FAIR), trials=20, rounds=100, seed="seed")


@pytest.fixture(scope="module", params=[6, pytest.param(1, marks=pytest.mark.nightly)])
def part(request: pytest.FixtureRequest) -> Iterator[None]:
    """Simulate a sixth of the boards; at night, all."""
    part: int = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(power, "BOARD_COUNT", power.BOARD_COUNT // part)
        yield


@pytest.fixture(scope="module")
def simulated(part: None) -> Simulation:
    return run_simulation(SETTINGS)


def test_a_simulation_holds_designs_and_boards(simulated: Simulation) -> None:
    assert simulated.settings == SETTINGS
    assert simulated.ways
    assert [board.gap for board in simulated.boards] == [*GAPS]


def test_a_wider_gap_is_found_sooner(simulated: Simulation) -> None:
    *others, half, whole = simulated.boards

    told = [board.told for board in (*others[1:], half, whole)]
    assert told == sorted(told)
    assert whole.told > 0.95
    assert half.rounds
    assert whole.rounds
    assert whole.rounds < half.rounds


def test_a_gap_of_zero_is_hardly_ever_reported(simulated: Simulation) -> None:
    equal = simulated.boards[0]

    assert equal.told + equal.wrong < 0.08
    assert equal.rounds is None


@pytest.mark.usefixtures("part")
def test_a_bias_for_one_maker_looks_like_worth() -> None:
    panel = SimulatedPanel(("A", "A", "A", "B"), (Biases(family=2.0),) * 4)

    equal = next(follow_boards(panel, 100, "seed"))

    assert equal.told > 0.5


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
