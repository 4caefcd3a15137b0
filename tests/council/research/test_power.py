"""A whole simulation, as one value."""

from council.research.power import SimulationSettings, simulation
from council.research.simulated_judges import FAIR, a_panel_of


def test_a_simulation_holds_designs_and_boards() -> None:
    settings = SimulationSettings(a_panel_of(3, FAIR), trials=20, rounds=10, seed="seed")

    simulated = simulation(settings)

    assert simulated.settings == settings
    assert simulated.ways
    assert simulated.boards
