"""How much each judge weighs, and what that rests on."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JudgeWeight:
    """A judge's part of all weight, 0 to 1; `basis` is what it rests on, from `n` observations.

    None where the judge is weighed as an average one, since too little is known of it.
    """

    judge: str
    weight: float
    n: int = 0
    basis: float | None = None


@dataclass(frozen=True, slots=True)
class Weighing:
    """The weights of all judges of a board; they add up to 1.

    Where there are only `have` of the `need` observations it takes, the weights are equal and are
    not to be used.
    """

    name: str
    judges: tuple[JudgeWeight, ...]
    have: int = 0
    need: int = 0

    @property
    def is_usable(self) -> bool:
        """Whether enough is known to weigh by."""
        return self.have >= self.need

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of each judge."""
        return {line.judge: line.weight for line in self.judges}


def equal(name: str, judges: tuple[str, ...], have: int = 0, need: int = 0) -> Weighing:
    """Give every judge the same weight."""
    lines = (JudgeWeight(judge, 1 / len(judges)) for judge in judges)
    return Weighing(name, tuple(lines), have, need)
