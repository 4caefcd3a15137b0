"""A small simulation, traced for coverage; `test_power.py` has those that measure something."""

import pytest

from council.research import power
from council.research.power import GAPS, SimulationSettings, run_simulation
from council.research.simulated_judges import FAIR, uniform_panel


def test_a_simulation_has_every_design_and_every_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, few in {"BOARD_COUNT": 3, "POOL_ROUNDS": 40, "MAX_BOARD_ROUNDS": 20}.items():
        monkeypatch.setattr(power, name, few)
    settings = SimulationSettings(uniform_panel(4, FAIR), trials=3, rounds=12, seed="seed")

    simulated = run_simulation(settings)

    assert simulated.settings == settings
    assert simulated.ways
    assert [board.gap for board in simulated.boards] == [*GAPS]
