"""A whole simulation, as one value."""

from council.research.power import SimulationSettings, run_simulation
from council.research.simulated_judges import FAIR, uniform_panel


def test_a_simulation_holds_designs_and_boards() -> None:
    settings = SimulationSettings(uniform_panel(3, FAIR), trials=20, rounds=10, seed="seed")

    simulated = run_simulation(settings)

    assert simulated.settings == settings
    assert simulated.ways
    assert simulated.boards
