"""How well single rounds tell who is best, held our way and held as rivals hold them."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from council.bakeoffs.intervals import Interval, mean_interval
from council.labels import Label
from council.simulation.panels import SimulatedPanel
from council.simulation.rounds import SimulatedRounds, simulated_rounds
from council.simulation.votes import Votes
from council.tally import Standing, Strength, standings
from council.tally.agreement import tau_b
from council.tally.chance import chance
from council.tally.verdict import CLEAR_P, strength_of

DEFAULT = "blind ranking"
FIXED = "fixed order, own answer in"
_CLAIMS = (Strength.CLEAR, Strength.UNANIMOUS)


@dataclass(frozen=True, slots=True)
class Way:
    """What rounds held in one way tell, over all trials.

    `tau` is the mean of Kendall's τ_b between a round's standings and the true order, with its
    95 % interval; a round that ranks nothing counts 0. `best_first` is how often the best answer
    stands first, a place shared by k counting 1/k; `clear` how often some answer is called clear
    or, beyond chance, unanimous; `clear_right` how often that one is the best (None if none was).
    `clear_among_equals` is how often one is so called where all answers are worth the same, so
    that each such call is false.
    """

    name: str
    tau: float
    tau_ci: Interval
    best_first: float
    clear: float
    clear_right: float | None
    clear_among_equals: float


@dataclass(frozen=True, slots=True)
class _Round:
    tau: float
    best_first: float
    clear: bool


def ways(panel: SimulatedPanel, trials: int, seed: str) -> tuple[Way, ...]:
    """Compare our default with rivals' fixed order over so many rounds, two or more."""
    told = simulated_rounds(panel, trials, seed)
    equal = simulated_rounds(panel, trials, f"{seed} equals", spread=0.0)
    return (
        _way(DEFAULT, (told, told.counted), (equal, equal.counted)),
        _way(FIXED, (told, told.fixed_order()), (equal, equal.fixed_order())),
    )


def _way(
    name: str, told: tuple[SimulatedRounds, Votes], equal: tuple[SimulatedRounds, Votes]
) -> Way:
    rounds = [*_counted(*told)]
    taus = np.array([one.tau for one in rounds])
    clear = [one.best_first for one in rounds if one.clear]
    return Way(
        name=name,
        tau=float(taus.mean()),
        tau_ci=mean_interval(taus),
        best_first=fmean(one.best_first for one in rounds),
        clear=len(clear) / len(rounds),
        clear_right=fmean(clear) if clear else None,
        clear_among_equals=fmean(one.clear for one in _counted(*equal)),
    )


def _counted(rounds: SimulatedRounds, votes: Votes) -> Iterator[_Round]:
    # Every judge sees the same answers in each round, so random ballots fare alike in all.
    first = rounds.ballots(votes, 0)
    outcomes = chance([ballot.shown for ballot in first], rounds.seed)
    for i, worth in enumerate(rounds.answers.worth):
        labels = rounds.labels[i].labels
        ballots = rounds.ballots(votes, i)
        lines = standings(labels, ballots)
        p = outcomes.of_reaching(lines[0].share or 0.0)
        yield _Round(
            tau=tau_b(
                {line.label: -line.place for line in lines},
                dict(zip(labels, worth.tolist(), strict=True)),
            )
            or 0.0,
            best_first=_part(lines, labels[int(worth.argmax())]),
            clear=strength_of(lines, ballots, p) in _CLAIMS and p <= CLEAR_P,
        )


def _part(lines: tuple[Standing, ...], best: Label) -> float:
    """Give the best answer's part of the first place."""
    first = [line.label for line in lines if line.place == 1]
    return (best in first) / len(first)
