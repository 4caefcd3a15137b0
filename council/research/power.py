"""Simulate how well rounds and leaderboards find the best member, and how often they are wrong."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from council.bakeoffs.intervals import Interval, mean_interval
from council.bakeoffs.pairwise import crossings
from council.bakeoffs.record_arrays import Floats
from council.labels import Label
from council.research.simulated_judges import (
    SimulatedPanel,
    SimulatedRounds,
    SimulatedVotes,
    simulated_rounds,
)
from council.tally import Standing, Strength, standings
from council.tally.agreement import tau_b
from council.tally.chance import null_distribution
from council.tally.chance_rule import INDEPENDENT, ChanceRule
from council.tally.verdict import CLEAR_P, classify_strength

_RULE = ChanceRule(INDEPENDENT, 0.0)  # simulated judges err independently

BLIND_RANKING = "blind ranking"
FIXED_ORDER = "fixed order, own answer in"
_CLAIMS = (Strength.CLEAR, Strength.UNANIMOUS)


@dataclass(frozen=True, slots=True)
class DesignOutcome:
    """What rounds of one design find, over all trials.

    `tau` is the mean of Kendall's τ_b between a round's standings and the true order, with its 95 %
    interval; a round that ranks nothing counts 0. `best_first` is how often the best answer comes
    first, a place shared by k counting 1/k. `clear` is how often some answer is called clear or,
    beyond chance, unanimous; `clear_right` is how often that one is the best (None if there was
    none). `clear_among_equals` is how often an answer is so called if all are worth the same, which
    is always wrong.
    """

    name: str
    tau: float
    tau_ci: Interval
    best_first: float
    clear: float
    clear_right: float | None
    clear_among_equals: float


@dataclass(frozen=True, slots=True)
class _RoundOutcome:
    tau: float
    best_first: float
    clear: bool


def compare_designs(panel: SimulatedPanel, trials: int, seed: str) -> tuple[DesignOutcome, ...]:
    """Compare our default with a fixed order over two or more simulated rounds."""
    ranked = simulated_rounds(panel, trials, seed)
    equal = simulated_rounds(panel, trials, f"{seed} equals", spread=0.0)
    return (
        _design_outcome(BLIND_RANKING, (ranked, ranked.counted), (equal, equal.counted)),
        _design_outcome(FIXED_ORDER, (ranked, ranked.fixed_order()), (equal, equal.fixed_order())),
    )


def _design_outcome(
    name: str,
    ranked: tuple[SimulatedRounds, SimulatedVotes],
    equal: tuple[SimulatedRounds, SimulatedVotes],
) -> DesignOutcome:
    rounds = [*_round_outcomes(*ranked)]
    taus = np.array([outcome.tau for outcome in rounds])
    clear = [outcome.best_first for outcome in rounds if outcome.clear]
    return DesignOutcome(
        name=name,
        tau=float(taus.mean()),
        tau_ci=mean_interval(taus),
        best_first=fmean(outcome.best_first for outcome in rounds),
        clear=len(clear) / len(rounds),
        clear_right=fmean(clear) if clear else None,
        clear_among_equals=fmean(outcome.clear for outcome in _round_outcomes(*equal)),
    )


def _round_outcomes(rounds: SimulatedRounds, votes: SimulatedVotes) -> Iterator[_RoundOutcome]:
    # Slates have the same sizes in all rounds, so one null distribution serves for all of them.
    first = rounds.ballots(votes, 0)
    outcomes = null_distribution([ballot.shown for ballot in first], rounds.seed, _RULE)
    for i, worth in enumerate(rounds.answers.worth):
        labels = rounds.labels[i].labels
        ballots = rounds.ballots(votes, i)
        all_standings = standings(labels, ballots)
        p = outcomes.p_value(all_standings[0].share or 0.0)
        yield _RoundOutcome(
            tau=tau_b(
                {line.label: -line.place for line in all_standings},
                dict(zip(labels, worth.tolist(), strict=True)),
            )
            or 0.0,
            best_first=_first_place_share(all_standings, labels[int(worth.argmax())]),
            clear=classify_strength(all_standings, ballots, p) in _CLAIMS and p <= CLEAR_P,
        )


def _first_place_share(lines: tuple[Standing, ...], best: Label) -> float:
    """Return the best answer's part of the first place."""
    winners = [line.label for line in lines if line.place == 1]
    return (best in winners) / len(winners)


# --- Leaderboards

GAPS = (0.0, 0.1, 0.25, 0.5, 1.0)
BOARD_COUNT = 1_000
MAX_BOARD_ROUNDS = 2_000
POOL_ROUNDS = 8_000  # simulated rounds that boards draw theirs from


@dataclass(frozen=True, slots=True)
class BoardOutcome:
    """What boards say of a first member whose answers are worth `gap` more than the last one's.

    `told` is the share of boards that call it ahead within the given rounds, `wrong` of those that
    call the other ahead; with a gap of 0 both are wrong. `rounds` is the number after which half of
    all boards have called it ahead, None if that takes more than two thousand.
    """

    gap: float
    told: float
    wrong: float
    rounds: int | None


def follow_boards(panel: SimulatedPanel, rounds: int, seed: str) -> Iterator[BoardOutcome]:
    """Follow a thousand boards for each gap, with rounds drawn from a pool of simulated ones.

    All members but the first are alike; the pair is judged by the others, as in every duel.
    """
    for gap in GAPS:
        strengths = (gap, *[0.0] * (len(panel.makers) - 1))
        pool = _margins(replace(panel, strengths=strengths), f"{seed} gap {gap}")
        margins = np.random.RandomState(POOL_ROUNDS).choice(
            pool, (BOARD_COUNT, max(rounds, MAX_BOARD_ROUNDS))
        )
        yield _board_outcome(gap, crossings(margins), rounds)


def _margins(panel: SimulatedPanel, seed: str) -> Floats:
    """Return by round the first member's margin over the last among the other judges."""
    given = simulated_rounds(panel, POOL_ROUNDS, seed).counted.by_member(len(panel.makers))
    margins: Floats = (given[:, 1:-1, 0] - given[:, 1:-1, -1]).mean(axis=1)
    return margins


def _board_outcome(gap: float, crossed: Floats, rounds: int) -> BoardOutcome:
    ahead, behind = _first_rounds(crossed > 0), _first_rounds(crossed < 0)
    median = float(np.median(np.where(ahead <= behind, ahead, np.inf)))
    return BoardOutcome(
        gap=gap,
        told=float(((ahead <= rounds) & (ahead < behind)).mean()),
        wrong=float(((behind <= rounds) & (behind < ahead)).mean()),
        rounds=int(np.ceil(median)) if median <= MAX_BOARD_ROUNDS else None,
    )


def _first_rounds(crossed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    """Return after how many rounds each board first crossed, infinite for never."""
    rounds: Floats = np.where(crossed.any(axis=1), crossed.argmax(axis=1) + 1.0, np.inf)
    return rounds


# --- Both together


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """What to simulate: `trials` rounds of a panel, and boards of `rounds` rounds."""

    panel: SimulatedPanel
    trials: int
    rounds: int
    seed: str


@dataclass(frozen=True, slots=True)
class Simulation:
    """The outcomes of single rounds by design, and of leaderboards by gap."""

    settings: SimulationSettings
    ways: tuple[DesignOutcome, ...]
    boards: tuple[BoardOutcome, ...]


def run_simulation(settings: SimulationSettings) -> Simulation:
    """Run the simulation; the result follows from the settings.

    Two thousand trials of five members take seconds.
    """
    return Simulation(
        settings,
        compare_designs(settings.panel, settings.trials, settings.seed),
        tuple(follow_boards(settings.panel, settings.rounds, settings.seed)),
    )
