"""Duels: which of two members is ahead, by judges who are neither, looked at after every round.

The statistic after t rounds is S/√V, S the sum of the margins and V that of their squares. Between
equals a margin is as likely as its opposite, so that S/√V behaves like a random walk over its own
length, whatever the margins' distribution. Two boundaries are watched together:

- until HORIZON rounds, c·(t/HORIZON)^(Δ − ½) (Wang and Tsiatis 1987), which takes nearly all of
  the 5 % that may go wrong and gives it to the later looks;
- from the first look on and for ever, a normal mixture (Robbins 1970) at a small α.

`tests/council/bakeoffs/test_duels.py` simulates both constants.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from council.bakeoffs.columns import PRECISION, Columns, Floats

FEWEST_ROUNDS = 10  # before that nobody is claimed ahead
HORIZON = 100
BEND = 0.1  # Wang and Tsiatis' Δ: 0 is O'Brien and Fleming's, ½ Pocock's
CRITICAL = 2.26  # their c, for a chance of .045 in the looks until HORIZON
MIXTURE_ALPHA = 0.005
MIXTURE_BEST_AT = 60  # rounds, where the mixture is tightest


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


def boundary(rounds: Floats) -> Floats:
    """Give how far from 0 the statistic must be after so many rounds, infinite before FEWEST."""
    early = np.where(rounds <= HORIZON, wang_tsiatis(rounds), np.inf)
    needed: Floats = np.minimum(early, mixture(rounds))
    return np.where(rounds >= FEWEST_ROUNDS, needed, np.inf)


def wang_tsiatis(rounds: Floats) -> Floats:
    """Give the boundary that is watched until HORIZON."""
    return CRITICAL * (rounds / HORIZON) ** (BEND - 0.5)


def mixture(rounds: Floats) -> Floats:
    """Give the boundary that is watched for ever: a confidence sequence, in standard errors."""
    log = -2 * np.log(MIXTURE_ALPHA)
    weight = rounds * (log + np.log(log) + 1) / MIXTURE_BEST_AT
    found: Floats = np.sqrt(2 * (weight + 1) / weight * np.log(np.sqrt(weight + 1) / MIXTURE_ALPHA))
    return found


def crossings(margins: Floats) -> Floats:
    """Say after each round whether it crosses the boundary: 1 for the first, −1 the second, else 0.

    The last axis is the rounds; the ones before it are duels of their own.
    """
    rounds = np.arange(1.0, margins.shape[-1] + 1)
    lengths = np.sqrt(np.cumsum(margins**2, axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        walk = np.nan_to_num(np.cumsum(margins, axis=-1) / lengths)
    crossed: Floats = np.sign(walk) * (np.abs(walk) >= boundary(rounds))
    return crossed


def duels(columns: Columns) -> Iterator[Duel]:
    """Give a duel for every two members that judges outside the pair saw together."""
    for first, second in combinations(columns.members, 2):
        margins = columns.margin(first, second)
        margins = margins[~np.isnan(margins)]
        if len(margins):
            yield _duel(first, second, margins)


def _duel(first: str, second: str, margins: Floats) -> Duel:
    """Give the duel; what was claimed once stands until the opposite is claimed."""
    margin, rounds = float(margins.mean()), len(margins)
    crossed = crossings(margins)
    claimed = crossed[crossed != 0]
    if not len(claimed):
        return Duel(first, second, margin, rounds)
    since = 1 + int(np.flatnonzero(crossed == claimed[-1])[0])
    return Duel(first, second, margin, rounds, first if claimed[-1] > 0 else second, since)


def run_off(duel: Duel, leader: str) -> RunOff:
    """Give the run-off of the two that come first; the leader stays in front of an equal."""
    lead = duel.margin if duel.first == leader else -duel.margin
    other = duel.second if duel.first == leader else duel.first
    if lead < -PRECISION:
        return RunOff(other, leader, -lead, duel.rounds, changed=True)
    return RunOff(leader, other, max(lead, 0.0), duel.rounds, changed=False)
