"""The trend: each member's share in each run of a suite, oldest first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from council.bakeoffs.columns import Columns, Floats
from council.bakeoffs.intervals import Interval, quick_share_interval

LAST = 30  # runs that a figure can show


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A member's mean share over one run, with its 95 % interval."""

    member: str
    share: float
    ci: Interval
    rounds: int


@dataclass(frozen=True, slots=True)
class TrendRun:
    """One run: `at` is when its first question was asked."""

    bakeoff: str
    at: datetime
    points: tuple[TrendPoint, ...]


def trend(columns: Columns) -> tuple[TrendRun, ...]:
    """Give the last runs among these rounds; questions that people asked belong to none."""
    runs = runs_of(columns)
    shares = columns.author("share")
    return tuple(
        TrendRun(bakeoff, columns.rows[rounds[0]].asked_at, tuple(_points(columns, shares[rounds])))
        for bakeoff, rounds in list(runs.items())[-LAST:]
    )


def runs_of(columns: Columns) -> Mapping[str, list[int]]:
    """Give where the rounds of each bake-off stand, oldest first."""
    runs: dict[str, list[int]] = {}
    for i, row in enumerate(columns.rows):
        if row.bakeoff:
            runs.setdefault(row.bakeoff, []).append(i)
    return runs


def _points(columns: Columns, shares: Floats) -> Iterator[TrendPoint]:
    for i, member in enumerate(columns.members):
        values = shares[:, i]
        values = values[~np.isnan(values)]
        if len(values):
            yield TrendPoint(
                member, float(values.mean()), quick_share_interval(values), len(values)
            )
