"""Members against their own past, paired by question: is the difference more than noise?"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import exp, log

import numpy as np

from council.bakeoffs.intervals import LEVEL, Interval, quick_share_interval, t_quantile
from council.bakeoffs.record_arrays import PRECISION, Columns, Floats, Indexes, Truths
from council.bakeoffs.records import PackedRecord

# --- Members against their own past, paired by question: is the difference more than noise?

LEAST_PAST = 2  # questions, below which there is no difference to speak of


@dataclass(frozen=True, slots=True)
class Differences:
    """An entry a member; NaN, and p = 1, where too little is known.

    `p` is two-sided, and never below the 2^(1 − k) of k questions that all moved one way, however
    little they differ otherwise.
    """

    before: Floats
    now: Floats
    mean: Floats
    error: Floats
    freedom: Floats
    p: Floats
    questions: Floats


def differences(now: Floats, past: Floats) -> Differences:
    """Compare (question, member) with (run, question, member); NaN is not known."""
    from scipy.special import stdtr

    counts = (~np.isnan(past)).sum(axis=0)
    known = ~np.isnan(now) & (counts > 0)
    before = np.where(known, _total(past, 0) / np.maximum(counts, 1), np.nan)
    moved = now - before
    spread = np.where(known, 1 + 1 / np.maximum(counts, 1), 0.0)
    within = np.where(known, _total((past - before) ** 2, 0), 0.0).sum(axis=0)
    questions = known.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = _total(moved, 0) / questions
        between = _total((moved - mean) ** 2 / spread, 0)
        freedom = questions - 1 + np.where(known, counts - 1, 0).sum(axis=0)
        error = np.sqrt((between + within) / freedom * spread.sum(axis=0)) / questions
        p = 2 * stdtr(freedom, -np.abs(mean / error))
        least = 2.0 ** (1 - (np.abs(moved) > PRECISION).sum(axis=0))
        enough = questions >= LEAST_PAST
        p = np.where(enough & (np.abs(mean) > PRECISION), np.maximum(np.nan_to_num(p), least), 1.0)
        means = [_total(np.where(known, each, np.nan), 0) / questions for each in (before, now)]
    return Differences(
        before=means[0],
        now=means[1],
        mean=np.where(enough, mean, np.nan),
        error=error,
        freedom=freedom,
        p=np.minimum(p, 1.0),
        questions=questions,
    )


def _total(values: Floats, axis: int) -> Floats:
    total: Floats = np.nansum(values, axis=axis)
    return total


def beyond(p: Floats, alpha: float) -> Truths:
    """Say which of these tests hold together at a level (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    steps = p[order] <= alpha / np.arange(len(p), 0, -1)
    found = np.zeros(len(p), dtype=bool)
    found[order] = np.logical_and.accumulate(steps)
    return found


# --- Runs of one suite side by side, and where each member's present way of answering began.


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


# --- The trend: each member's share in each run of a suite, oldest first.

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


# --- What changed: a run against the runs before it, beyond noise.

MOST_RUNS = 50  # of the past, the newest


class Measure(StrEnum):
    """What of a member can move."""

    SHARE = "share"
    ACCURACY = "accuracy"


class SwapSign(StrEnum):
    """What may hint that a provider put another model behind a name."""

    LENGTH = "length"
    LATENCY = "latency"
    REFUSALS = "refusals"


# Together less than one run in twenty tells of a change where there is none.
FAMILIES: Mapping[Measure | SwapSign, Family] = {
    Measure.SHARE: Family(0.03),
    Measure.ACCURACY: Family(0.005),
    SwapSign.LENGTH: Family(0.002, floor=log(1.25)),
    SwapSign.LATENCY: Family(0.002, floor=log(1.5)),
    SwapSign.REFUSALS: Family(0.001, floor=0.1),
}


@dataclass(frozen=True, slots=True)
class MemberChange:
    """A member against its own past, question by question, with the members both have.

    `before` and `now` are means over the `questions` both have; `ci` is the difference's 95 %
    interval, for itself alone; `p` is two-sided. `is_beyond_noise` allows for all members being
    looked at. The past is its last `runs` runs, since it last moved beyond noise; `since_last` is
    the difference to the run before alone.
    """

    member: str
    measure: Measure
    before: float
    now: float
    difference: float
    ci: Interval
    p: float
    is_beyond_noise: bool
    questions: int
    runs: int
    since_last: float | None


@dataclass(frozen=True, slots=True)
class SwapHint:
    """What changed about a member's answers beyond noise, as a silent swap of models would do.

    Words and seconds are geometric means, refusals the share of answers.
    """

    member: str
    sign: SwapSign
    before: float
    now: float
    p: float


@dataclass(frozen=True, slots=True)
class Changes:
    """All that changed; `runs` is how many earlier runs of this suite's version there were.

    `moves` has every member that can be compared, the largest fall first, noise or not. `new` and
    `missing` are members that answered in this run alone, and in the run before alone.
    """

    bakeoff: str
    runs: int
    moves: tuple[MemberChange, ...] = ()
    hints: tuple[SwapHint, ...] = ()
    new: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def is_news(self) -> bool:
        """Whether there is anything to tell; never for a first run."""
        return bool(self.beyond_noise or self.hints or self.new or self.missing)

    @property
    def beyond_noise(self) -> tuple[MemberChange, ...]:
        """The moves that are more than noise."""
        return tuple(move for move in self.moves if move.is_beyond_noise)

    def worse(self, member: str = "") -> tuple[MemberChange, ...]:
        """Give the falls beyond noise, of one member or of all."""
        falls = (move for move in self.beyond_noise if move.difference < 0)
        return tuple(move for move in falls if member in {"", move.member})


def changes(now: Columns, before: Columns) -> Changes:
    """Give what changed from the runs before, which may be none, to a run of the same suite.

    Of `before`, only runs of the same version of the suite count, and of those only runs in which
    every member sat that is compared.
    """
    if not now.rows:
        return Changes("", 0)
    own = now.rows[-1]
    past = before.only(np.array([_precedes(row, own) for row in before.rows], dtype=bool))
    runs = list(runs_of(past).values())[-MOST_RUNS:]
    if not runs:
        return Changes(own.bakeoff, 0)
    here, there = _answered(now, range(len(now.rows))), _answered(past, runs[-1])
    common = tuple(member for member in now.members if member in here & there)
    comparable = [rounds for rounds in runs if {*common} <= _answered(past, rounds)]
    sides = _Sides(now, past, comparable, common)
    return Changes(
        bakeoff=own.bakeoff,
        runs=len(runs),
        moves=tuple(sorted(_moves(sides), key=lambda move: move.difference)),
        hints=tuple(_hints(sides)),
        new=tuple(sorted(here - there)),
        missing=tuple(sorted(there - here)),
    )


def _precedes(row: PackedRecord, own: PackedRecord) -> bool:
    same = (row.suite, row.suite_version) == (own.suite, own.suite_version)
    return same and bool(row.bakeoff) and row.bakeoff != own.bakeoff and row.asked_at < own.asked_at


def _answered(columns: Columns, rounds: Iterable[int]) -> set[str]:
    """Give the members that answered in any of these rounds."""
    there = (columns.author("absent")[list(rounds)] == 0).any(axis=0)
    return {member for member, is_there in zip(columns.members, there, strict=True) if is_there}


@dataclass(frozen=True, slots=True)
class _Sides:
    """A run, the runs it is held against, and the members that are compared."""

    now: Columns
    past: Columns
    runs: Sequence[Sequence[int]]
    members: tuple[str, ...]

    def cube(self, values: Callable[[Columns, tuple[str, ...]], Floats]) -> Floats:
        """Give the cube of what a function makes of both sides, this run last."""
        earlier = cube_of(self.past, values(self.past, self.members), self.runs)
        last = cube_of(self.now, values(self.now, self.members), [range(len(self.now.rows))])
        sizes = [(0, max(earlier.shape[1], last.shape[1]) - c.shape[1]) for c in (earlier, last)]
        both = [
            np.pad(c, ((0, 0), size, (0, 0)), constant_values=np.nan)
            for c, size in zip((earlier, last), sizes, strict=True)
        ]
        return np.concatenate(both)


def _of_field(field: str) -> Callable[[Columns, tuple[str, ...]], Floats]:
    def values(columns: Columns, members: tuple[str, ...]) -> Floats:
        seats = [columns.members.index(member) for member in members]
        return columns.author(field)[:, seats]

    return values


def _moves(sides: _Sides) -> Iterator[MemberChange]:
    for measure, values in (
        (Measure.SHARE, shares_among),
        (Measure.ACCURACY, _of_field("correct")),
    ):
        cube = sides.cube(values)
        found = latest(cube, FAMILIES[measure])
        since_last = differences(cube[-1], cube[-2:-1]).mean
        for i, member in enumerate(sides.members):
            if not np.isnan(found.found.mean[i]):
                yield _move(member, measure, found, i, float(since_last[i]))


def _move(member: str, measure: Measure, latest: Latest, i: int, since_last: float) -> MemberChange:
    found = latest.found
    mean = float(found.mean[i])
    half = t_quantile((1 + LEVEL) / 2, float(found.freedom[i])) * float(found.error[i])
    return MemberChange(
        member=member,
        measure=measure,
        before=float(found.before[i]),
        now=float(found.now[i]),
        difference=mean,
        ci=(max(-1.0, mean - half), min(1.0, mean + half)),
        p=float(found.p[i]),
        is_beyond_noise=bool(latest.is_beyond[i]),
        questions=int(found.questions[i]),
        runs=int(latest.runs[i]),
        since_last=None if np.isnan(since_last) else since_last,
    )


def _hints(sides: _Sides) -> Iterator[SwapHint]:
    for sign, field in (
        (SwapSign.LENGTH, "words"),
        (SwapSign.LATENCY, "seconds"),
        (SwapSign.REFUSALS, "refused"),
    ):
        cube = sides.cube(_of_field(field))
        if sign is not SwapSign.REFUSALS:
            cube = np.log(np.where(cube > 0, cube, np.nan))
        found = latest(cube, FAMILIES[sign])
        for i, member in enumerate(sides.members):
            if found.is_beyond[i]:
                before, now = float(found.found.before[i]), float(found.found.now[i])
                if sign is not SwapSign.REFUSALS:
                    before, now = exp(before), exp(now)
                yield SwapHint(member, sign, before, now, float(found.found.p[i]))
