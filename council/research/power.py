"""How well single rounds tell who is best, held our way and held as rivals hold them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from council.bakeoffs.intervals import Interval, mean_interval
from council.bakeoffs.pairwise import crossings
from council.labels import Label
from council.research.simulated_judges import (
    Floats,
    SimulatedPanel,
    SimulatedRounds,
    Votes,
    simulated_rounds,
)
from council.tally import Standing, Strength, standings
from council.tally.agreement import tau_b
from council.tally.verdict import CLEAR_P, chance, strength_of

# --- How well single rounds tell who is best, held our way and held as rivals hold them.

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


# --- How many rounds a leaderboard takes to tell two members apart, and how often it is wrong.

GAPS = (0.0, 0.1, 0.25, 0.5, 1.0)
BOARDS = 1_000
LONGEST = 2_000  # rounds that a board is followed for
POOL = 8_000  # simulated rounds that boards draw theirs from


@dataclass(frozen=True, slots=True)
class BoardOutcome:
    """What boards say of a first member whose answers are worth `gap` more than the last one's.

    `told` is the share of boards that claim it ahead within the rounds that were asked for,
    `wrong` of those that claim the other one ahead; of no gap, both are wrong. `rounds` is after
    how many half of all boards have claimed it, None where that takes more than two thousand.
    """

    gap: float
    told: float
    wrong: float
    rounds: int | None


def told_apart(panel: SimulatedPanel, rounds: int, seed: str) -> Iterator[BoardOutcome]:
    """Follow a thousand boards for each gap, their rounds drawn from a pool of simulated ones.

    All members but the first are alike; the pair is judged by the others, as every duel is.
    """
    for gap in GAPS:
        strengths = (gap, *[0.0] * (len(panel.makers) - 1))
        pool = _margins(replace(panel, strengths=strengths), f"{seed} gap {gap}")
        drawn = np.random.RandomState(POOL).choice(pool, (BOARDS, max(rounds, LONGEST)))
        yield _told(gap, crossings(drawn), rounds)


def _margins(panel: SimulatedPanel, seed: str) -> Floats:
    """Give what the judges that are neither make of the first against the last, round by round."""
    given = simulated_rounds(panel, POOL, seed).counted.by_member(len(panel.makers))
    margins: Floats = (given[:, 1:-1, 0] - given[:, 1:-1, -1]).mean(axis=1)
    return margins


def _told(gap: float, crossed: Floats, rounds: int) -> BoardOutcome:
    ahead, behind = _first(crossed > 0), _first(crossed < 0)
    half = float(np.median(np.where(ahead <= behind, ahead, np.inf)))
    return BoardOutcome(
        gap=gap,
        told=float(((ahead <= rounds) & (ahead < behind)).mean()),
        wrong=float(((behind <= rounds) & (behind < ahead)).mean()),
        rounds=int(np.ceil(half)) if half <= LONGEST else None,
    )


def _first(crossed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    """Give after how many rounds each board said so for the first time, infinite for never."""
    found: Floats = np.where(crossed.any(axis=1), crossed.argmax(axis=1) + 1.0, np.inf)
    return found


# --- What a panel can tell and what it cannot, as one value.


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """What to simulate: `trials` rounds of a panel, and boards of `rounds` rounds."""

    panel: SimulatedPanel
    trials: int
    rounds: int
    seed: str


@dataclass(frozen=True, slots=True)
class Simulation:
    """What single rounds tell, each way, and what boards do, gap by gap."""

    wish: SimulationSettings
    ways: tuple[Way, ...]
    boards: tuple[BoardOutcome, ...]


def simulation(wish: SimulationSettings) -> Simulation:
    """Simulate; everything follows from the wish. Two thousand trials of five take seconds."""
    return Simulation(
        wish,
        ways(wish.panel, wish.trials, wish.seed),
        tuple(told_apart(wish.panel, wish.rounds, wish.seed)),
    )
