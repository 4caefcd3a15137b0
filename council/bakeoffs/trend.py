"""The trend: each member's share in each run of a suite, oldest first."""

from dataclasses import dataclass
from datetime import datetime

from council.bakeoffs.columns import Columns
from council.bakeoffs.intervals import Interval


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
    """Give the runs among these rounds; questions that people asked belong to none."""
    raise NotImplementedError
