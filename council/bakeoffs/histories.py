"""Runs of one suite side by side, and where each member's present way of answering began.

A cube is (run, question, member), oldest run first, NaN where unknown; its last run is the one
that is looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from council.bakeoffs.columns import Columns, Floats, Indexes, Truths
from council.bakeoffs.differences import Differences, beyond, differences


@dataclass(frozen=True, slots=True)
class Family:
    """Tests made together: one a member, at a level for all of them.

    What moved by less than `floor` is never news, however sure it is.
    """

    alpha: float
    floor: float = 0.0


@dataclass(frozen=True, slots=True)
class Latest:
    """The last run against each member's past, which is so many `runs`; an entry a member."""

    found: Differences
    is_beyond: Truths
    runs: Indexes


def latest(cube: Floats, family: Family) -> Latest:
    """Compare the last run with the runs before it, of which there is one at least.

    A member that moved beyond noise in an earlier run has no past before that run: what was told
    once is not told again.
    """
    starts = np.zeros(cube.shape[2], dtype=int)
    for last in range(1, len(cube) - 1):
        starts = np.where(_compared(cube[: last + 1], starts, family).is_beyond, last, starts)
    return _compared(cube, starts, family)


def _compared(cube: Floats, starts: Indexes, family: Family) -> Latest:
    """Compare the last run with those of the earlier ones that are a member's past."""
    last = len(cube) - 1
    past = np.where(np.arange(last)[:, None, None] >= starts, cube[:last], np.nan)
    found = differences(cube[last], past)
    is_beyond = beyond(found.p, family.alpha) & (np.abs(found.mean) >= family.floor)
    return Latest(found, is_beyond, last - starts)


def cube_of(columns: Columns, values: Floats, runs: Sequence[Sequence[int]]) -> Floats:
    """Give a cube of values, a row a round, from runs that name their rounds."""
    numbers = np.array([row.number for row in columns.rows])
    cube = np.full((len(runs), int(numbers.max()), values.shape[1]), np.nan)
    for run, rounds in enumerate(runs):
        cube[run, numbers[rounds] - 1] = values[rounds]
    return cube


def shares_among(columns: Columns, members: Sequence[str]) -> Floats:
    """Give each round's shares as if only these members had been in it: the mean of their `won`."""
    won = np.full((len(columns.rows), len(members), len(members)), np.nan)
    for i, first in enumerate(members):
        for j, second in enumerate(members):
            if i < j:
                won[:, i, j] = columns.won(first, second)
                won[:, j, i] = 1 - won[:, i, j]
    met = (~np.isnan(won)).sum(axis=2)
    shares: Floats = np.where(met > 0, np.nansum(won, axis=2) / np.maximum(met, 1), np.nan)
    return shares
