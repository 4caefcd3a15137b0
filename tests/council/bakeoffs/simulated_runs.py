"""Simulated runs of one suite; in the last one a member may have become worse."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from council.bakeoffs.record_arrays import Columns, Floats
from council.bakeoffs.records import AUTHOR_FIELDS
from tests.council.bakeoffs.record_builders import board_of, drawn_ballots

SPREAD = 0.7  # of a member's worth from question to question, in what one judge sees


@dataclass(frozen=True, slots=True)
class Drawn:
    """What to simulate; `fall` is by how much the first member's share falls in the last run."""

    members: int
    questions: int = 24
    past: int = 8
    fall: float = 0.0
    agreement: float = 0.2


def drawn_runs(rng: np.random.Generator, drawn: Drawn) -> tuple[Columns, Columns]:
    """Return the last run, and those before it."""
    columns = drawn_series(rng, drawn)
    return run_and_past(columns, drawn.past)


def drawn_series(rng: np.random.Generator, drawn: Drawn, fallen: int = 1) -> Columns:
    """Return the past runs, and `fallen` runs after the fall."""
    runs = drawn.past + fallen
    each = SPREAD * rng.standard_normal((drawn.questions, drawn.members))
    worth = np.tile(each, (runs, 1))
    if drawn.fall:
        fall = _worth_of(drawn.fall, drawn.members, drawn.agreement)
        worth[drawn.questions * drawn.past :, 0] -= fall
    columns = board_of(drawn_ballots(rng, worth, agreement=drawn.agreement), runs)
    _with_manner(rng, columns, np.tile(rng.normal(5, 0.5, each.shape), (runs, 1)))
    return columns


def run_and_past(columns: Columns, run: int) -> tuple[Columns, Columns]:
    """Return a run of a series, counted from 0, and the runs before it."""
    runs = np.array([int(row.bakeoff.removeprefix("run")) for row in columns.rows])
    return columns.only(runs == run), columns.only(runs < run)


def _with_manner(rng: np.random.Generator, columns: Columns, level: Floats) -> None:
    """Fill in lengths, seconds, refusals and grades that do not change."""
    for field, spread in (("words", 0.3), ("seconds", 0.4)):
        found = np.exp(level + spread * rng.standard_normal(level.shape))
        columns.authored[:, :, AUTHOR_FIELDS.index(field)] = found
    for field, rate in (("refused", 0.03), ("correct", 0.6)):
        columns.authored[:, :, AUTHOR_FIELDS.index(field)] = rng.random(level.shape) < rate


@cache
def _worth_of(fall: float, members: int, agreement: float) -> float:
    """Return by how much worth must fall for the share to fall by `fall`; found by bisection."""
    base = SPREAD * np.random.default_rng(0).standard_normal((40_000, members))
    low, high = 0.0, 4.0
    for _ in range(12):
        middle = (low + high) / 2
        moved = base.copy()
        moved[:, 0] -= middle
        ballots = drawn_ballots(np.random.default_rng(1), moved, agreement=agreement)
        found = 0.5 - float(np.nanmean(ballots[:, :, 0]))
        low, high = (middle, high) if found < fall else (low, middle)
    return low
