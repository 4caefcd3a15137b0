"""How far an experiment is, for whoever watches it."""

from collections import Counter
from dataclasses import dataclass

from council.bias.experiment.experiment import Experiment


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that brought nothing; `why` reads on after the seat's name."""

    seat: str
    why: str


@dataclass(frozen=True, slots=True)
class Progress:
    """An experiment as it stands: of all its calls so many are over, the failed ones among them.

    Without an answer its grades are over too. `spoiled` are grades that were given up on;
    `seconds_left` is None as long as nothing tells, and `blocked` says what keeps it from its end.
    """

    experiment: Experiment
    over: int = 0
    answers: int = 0
    grades: int = 0
    spoiled: int = 0
    failed: tuple[Failure, ...] = ()
    spent_micro: int = 0
    seconds_left: float | None = None
    blocked: str | None = None

    @property
    def failures(self) -> tuple[tuple[Failure, int], ...]:
        """Every way in which calls failed, and how many did, the most frequent first."""
        return tuple(Counter(self.failed).most_common())
