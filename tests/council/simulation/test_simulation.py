"""A whole simulation, as one value."""

from council.simulation.biases import FAIR
from council.simulation.panels import a_panel_of
from council.simulation.simulation import Wish, simulation


def test_it_holds_what_rounds_and_what_boards_tell() -> None:
    wish = Wish(a_panel_of(3, FAIR), trials=20, rounds=10, seed="seed")

    simulated = simulation(wish)

    assert simulated.wish == wish
    assert simulated.ways
    assert simulated.boards
