"""What a panel can tell and what it cannot, as one value."""

from dataclasses import dataclass

from council.simulation.boards import Told, told_apart
from council.simulation.panels import SimulatedPanel
from council.simulation.trials import Way, ways


@dataclass(frozen=True, slots=True)
class Wish:
    """What to simulate: `trials` rounds of a panel, and boards of `rounds` rounds."""

    panel: SimulatedPanel
    trials: int
    rounds: int
    seed: str


@dataclass(frozen=True, slots=True)
class Simulation:
    """What single rounds tell, each way, and what boards do, gap by gap."""

    wish: Wish
    ways: tuple[Way, ...]
    boards: tuple[Told, ...]


def simulation(wish: Wish) -> Simulation:
    """Simulate; everything follows from the wish. Two thousand trials of five take seconds."""
    return Simulation(
        wish,
        ways(wish.panel, wish.trials, wish.seed),
        tuple(told_apart(wish.panel, wish.rounds, wish.seed)),
    )
