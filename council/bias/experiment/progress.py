"""How far an experiment is, for whoever watches it."""

from dataclasses import dataclass

from council.bias.experiment.experiment import Experiment, Held
from council.bias.experiment.plan import is_settled, last_marks, over


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that brought nothing; `why` reads on after the seat's name."""

    seat: str
    why: str


@dataclass(frozen=True, slots=True)
class Progress:
    """An experiment as it stands: of all its calls so many are over, the failed ones among them.

    Without an answer its grades are over too. `spoiled` are grades that were given up on;
    `failures` says how often each way of failing was met, the most frequent first. `seconds_left`
    is None as long as nothing tells, and `blocked` says what keeps it from its end.
    """

    experiment: Experiment
    over: int = 0
    answers: int = 0
    grades: int = 0
    spoiled: int = 0
    failures: tuple[tuple[Failure, int], ...] = ()
    spent_micro: int = 0
    seconds_left: float | None = None
    blocked: str | None = None

    @property
    def failed(self) -> int:
        """How many calls failed."""
        return sum(times for _, times in self.failures)


def standing(experiment: Experiment, held: Held, spent_micro: int) -> Progress:
    """Give how an experiment stands of which so much is held, whoever carries it."""
    settled = [mark for mark in last_marks(held).values() if is_settled(mark)]
    spoiled = sum(mark.raw is None for mark in settled)
    return Progress(
        experiment,
        over(held),
        answers=len(held.works),
        grades=len(settled) - spoiled,
        spoiled=spoiled,
        spent_micro=spent_micro,
    )
