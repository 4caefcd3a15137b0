"""Duels: which of two members is ahead, by judges who are neither, looked at after every round."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Duel:
    """Two members held against each other by the judges outside the pair.

    `margin` is the mean over `rounds` of the first's share less the second's, −1 to 1. `ahead` is
    whoever is ahead beyond chance, None while that cannot be told; `since` after how many of
    their rounds it was so for the first time.
    """

    first: str
    second: str
    margin: float
    rounds: int
    ahead: str | None = None
    since: int | None = None


@dataclass(frozen=True, slots=True)
class RunOff:
    """The first two of a board, in the order the judges outside the pair give them.

    `margin` is the first's lead, never negative; `changed` says that the other one came first
    before, with the pair's own ballots counted.
    """

    first: str
    second: str
    margin: float
    rounds: int
    changed: bool
