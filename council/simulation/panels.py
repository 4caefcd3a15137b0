"""A simulated panel: who made its members, how good they are and how they judge."""

from dataclasses import dataclass

from council.errors import PanelError
from council.simulation.biases import FAIR, Biases

FEWEST, MOST = 3, 10  # the panels that have a balanced design


@dataclass(frozen=True, slots=True)
class SimulatedPanel:
    """Members by their makers; `strengths` are the mean worth of each one's answers, 0 without.

    Every member judges, each with its own entry of `biases`. Raises PanelError for fewer than
    three members or more than ten.
    """

    makers: tuple[str, ...]
    biases: tuple[Biases, ...]
    strengths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not FEWEST <= len(self.makers) <= MOST:
            raise PanelError(f"A simulated panel has {FEWEST} to {MOST} members.")
        if len(self.biases) != len(self.makers):
            raise PanelError("A simulated panel has one set of biases for each member.")
        if len(self.strengths) not in {0, len(self.makers)}:
            raise PanelError("A simulated panel has a strength for each member, or for none.")

    @property
    def members(self) -> tuple[str, ...]:
        """The members' keys: their maker and their number, from 1."""
        return tuple(f"{maker}/{i}" for i, maker in enumerate(self.makers, start=1))


def a_panel_of(members: int, biases: Biases = FAIR, makers: str = "") -> SimulatedPanel:
    """Give a panel of judges that are all swayed alike.

    `makers` has a letter for each member; without it the first two share a maker, no others do.
    """
    letters = makers or "A" + "ABCDEFGHI"[: members - 1]
    return SimulatedPanel(tuple(letters), (biases,) * len(letters))
