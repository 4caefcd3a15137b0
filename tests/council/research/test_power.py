"""A whole simulation as one value, and how many rounds its leaderboards need."""

import pytest

from council.research.power import (
    GAPS,
    Simulation,
    SimulationSettings,
    follow_boards,
    run_simulation,
)
from council.research.simulated_judges import FAIR, Biases, SimulatedPanel, uniform_panel

SETTINGS = SimulationSettings(uniform_panel(5, FAIR), trials=20, rounds=100, seed="seed")


@pytest.fixture(scope="module")
def simulated() -> Simulation:
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


def test_a_bias_for_one_maker_looks_like_worth() -> None:
    panel = SimulatedPanel(("A", "A", "A", "B"), (Biases(family=2.0),) * 4)

    equal = next(follow_boards(panel, 100, "seed"))

    assert equal.told > 0.5
