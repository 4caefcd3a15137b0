"""Compare a run of a suite with past runs, paired by question: trends, changes, hints of a swap."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import compress
from math import exp, log

import numpy as np

from council.bakeoffs.grade_comparison import grades_decide, question_grades
from council.bakeoffs.intervals import Interval, holm, share_t_interval
from council.bakeoffs.record_arrays import PRECISION, Booleans, Columns, Floats, Indexes
from council.tally.distributions import LEVEL, t_p_value, t_quantile

MIN_QUESTIONS = 2  # with fewer no difference is reported


@dataclass(frozen=True, slots=True)
class Differences:
    """Paired differences by member; NaN, with p = 1, where too little is known.

    `p` is two-sided, and at least 2^(1 − k) if k questions all changed in the same direction,
    however little they differ otherwise (sign test).
    """

    before: Floats
    now: Floats
    mean: Floats
    error: Floats
    freedom: Floats
    p: Floats
    questions: Floats


def paired_differences(now: Floats, past: Floats) -> Differences:
    """Compare (question, member) values with past (run, question, member) ones; NaN is unknown."""
    counts = (~np.isnan(past)).sum(axis=0)
    known = ~np.isnan(now) & (counts > 0)
    before = np.where(known, np.nansum(past, axis=0) / np.maximum(counts, 1), np.nan)
    change = now - before
    variance_factor = np.where(known, 1 + 1 / np.maximum(counts, 1), 0.0)
    within = np.where(known, np.nansum((past - before) ** 2, axis=0), 0.0).sum(axis=0)
    questions = known.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.nansum(change, axis=0) / questions
        between = np.nansum((change - mean) ** 2 / variance_factor, axis=0)
        freedom = questions - 1 + np.where(known, counts - 1, 0).sum(axis=0)
        error = np.sqrt((between + within) / freedom * variance_factor.sum(axis=0)) / questions
        p = np.array([*map(t_p_value, (mean / error).tolist(), freedom.tolist())])
        min_p = 2.0 ** (1 - (np.abs(change) > PRECISION).sum(axis=0))
        has_enough = questions >= MIN_QUESTIONS
        p = np.where(
            has_enough & (np.abs(mean) > PRECISION), np.maximum(np.nan_to_num(p), min_p), 1.0
        )
        mean_before, mean_now = (
            np.nansum(np.where(known, values, np.nan), axis=0) / questions
            for values in (before, now)
        )
        reported = np.where(has_enough, mean, np.nan)
        p = np.minimum(p, 1.0)
        return Differences(mean_before, mean_now, reported, error, freedom, p, questions)


# --- Runs of one suite


@dataclass(frozen=True, slots=True)
class HypothesisFamily:
    """Tests of all members with one error level; a change of less than `floor` never counts."""

    alpha: float
    floor: float = 0.0


@dataclass(frozen=True, slots=True)
class LatestRun:
    """The last run against each member's past of `runs` runs, by member."""

    differences: Differences
    is_beyond: Booleans
    runs: Indexes


def compare_latest_run(cube: Floats, family: HypothesisFamily) -> LatestRun:
    """Compare the last run with the earlier ones since each member last changed beyond noise."""
    starts = np.zeros(cube.shape[2], dtype=int)
    for last in range(1, len(cube) - 1):
        starts = np.where(_compare_last(cube[: last + 1], starts, family).is_beyond, last, starts)
    return _compare_last(cube, starts, family)


def _compare_last(cube: Floats, starts: Indexes, family: HypothesisFamily) -> LatestRun:
    """Compare the last run with each member's past, which begins at run `starts`."""
    last_run = len(cube) - 1
    past = np.where(np.arange(last_run)[:, None, None] >= starts, cube[:last_run], np.nan)
    differences = paired_differences(cube[last_run], past)
    is_beyond = (np.array(holm(differences.p.tolist())) <= family.alpha) & (
        np.abs(differences.mean) >= family.floor
    )
    return LatestRun(differences, is_beyond, last_run - starts)


def stack_runs(
    columns: Columns, values: Floats, runs: Sequence[Sequence[int]], questions: int
) -> Floats:
    """Return values by (run, question, member); `runs` holds the round indexes of each run."""
    numbers = np.array([row.number for row in columns.rows])
    cube = np.full((len(runs), questions, values.shape[1]), np.nan)
    for run, rounds in enumerate(runs):
        cube[run, numbers[rounds] - 1] = values[rounds]
    return cube


def head_to_head_shares(columns: Columns, members: Sequence[str]) -> Floats:
    """Return each round's shares as if only these members had sat in it: means of their `won`."""
    won = np.full((len(columns.rows), len(members), len(members)), np.nan)
    for i, first in enumerate(members):
        for j, second in enumerate(members):
            if i < j:
                won[:, i, j] = columns.won(first, second)
                won[:, j, i] = 1 - won[:, i, j]
    met = (~np.isnan(won)).sum(axis=2)
    return np.where(met > 0, np.nansum(won, axis=2) / np.maximum(met, 1), np.nan)


# --- The trend

MAX_TREND_RUNS = 30  # as many as a chart can show


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A member's mean share over one run, or its mean grade, with its 95 % interval."""

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


def share_trend(columns: Columns) -> tuple[TrendRun, ...]:
    """Return the newest runs, oldest first; rounds outside bake-offs are ignored."""
    return trend_of(columns, columns.author("share"))


def trend_of(columns: Columns, shares: Floats) -> tuple[TrendRun, ...]:
    """Return the newest runs by values from 0 to 1, by (round, member), likewise."""
    return tuple(
        TrendRun(
            bakeoff, columns.rows[rounds[0]].asked_at, tuple(_trend_points(columns, shares[rounds]))
        )
        for bakeoff, rounds in list(rounds_by_run(columns).items())[-MAX_TREND_RUNS:]
    )


def rounds_by_run(columns: Columns) -> Mapping[str, list[int]]:
    """Return the indexes of the rounds of each bake-off, oldest first."""
    runs: dict[str, list[int]] = {}
    for i, row in enumerate(columns.rows):
        if row.bakeoff:
            runs.setdefault(row.bakeoff, []).append(i)
    return runs


def _trend_points(columns: Columns, shares: Floats) -> Iterator[TrendPoint]:
    for i, member in enumerate(columns.members):
        values = shares[:, i]
        values = values[~np.isnan(values)]
        if len(values):
            yield TrendPoint(member, float(values.mean()), share_t_interval(values), len(values))


# --- Changes

MAX_PAST_RUNS = 50  # the newest ones


class Measure(StrEnum):
    """What can change about a member."""

    SHARE = "share"
    ACCURACY = "accuracy"


class SwapSign(StrEnum):
    """What may hint that a provider replaced the model behind a name."""

    LENGTH = "length"
    LATENCY = "latency"
    REFUSALS = "refusals"


# Together they report a false change in fewer than one run in twenty.
FAMILIES: Mapping[Measure | SwapSign, HypothesisFamily] = {
    Measure.SHARE: HypothesisFamily(0.03),
    Measure.ACCURACY: HypothesisFamily(0.005),
    SwapSign.LENGTH: HypothesisFamily(0.002, floor=log(1.25)),
    SwapSign.LATENCY: HypothesisFamily(0.002, floor=log(1.5)),
    SwapSign.REFUSALS: HypothesisFamily(0.001, floor=0.1),
}


@dataclass(frozen=True, slots=True)
class MemberChange:
    """A member against its own past, paired by question, among the members both runs have.

    `before` and `now` are means over the `questions` both have; `ci` is the 95 % interval of the
    difference, uncorrected; `p` is two-sided. `is_beyond_noise` is corrected for testing all
    members. The past is the last `runs` runs, since the member last changed beyond noise.
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


@dataclass(frozen=True, slots=True)
class SwapHint:
    """A change beyond noise; words and seconds are geometric means, refusals a share of answers."""

    member: str
    sign: SwapSign
    before: float
    now: float
    p: float


@dataclass(frozen=True, slots=True)
class LostBaseline:
    """A blessed run that can't be used: run `at` a time with other questions, or None: deleted."""

    bakeoff: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed in a run, compared with `runs` earlier runs of this version of the suite.

    `moves` has every member that can be compared, the largest fall first, whether it is beyond
    noise or not. `new` members answered only in this run, `missing` ones only in the run before.
    `baseline` is when the run was that it is compared with for good, if there is one, and `lost` is
    set if that can't be used. A fall of what the board is not ranked by makes nothing worse:
    `decides` is the measure that counts.
    """

    bakeoff: str
    runs: int
    moves: tuple[MemberChange, ...] = ()
    hints: tuple[SwapHint, ...] = ()
    new: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    baseline: datetime | None = None
    decides: Measure | None = None
    lost: LostBaseline | None = None

    @property
    def is_worse(self) -> bool:
        """Whether a member fell, stopped answering, or may have been replaced by its provider."""
        return bool(self.worse() or self.hints or self.missing)

    @property
    def signature(self) -> tuple[str, ...]:
        """What changed, without how far: equal for runs that repeat the same news."""
        moves = (f"{x.measure} {x.difference > 0} {x.member}" for x in self.beyond_noise)
        hints = (f"{hint.sign} {hint.now > hint.before} {hint.member}" for hint in self.hints)
        new, missing = (f"new {one}" for one in self.new), (f"missing {x}" for x in self.missing)
        lost = (f"lost {self.lost.bakeoff}",) if self.lost else ()
        return tuple(sorted((*moves, *hints, *new, *missing, *lost)))

    @property
    def is_news(self) -> bool:
        """Whether anything changed, or the baseline is lost; False for a first run."""
        return bool(self.signature)

    @property
    def beyond_noise(self) -> tuple[MemberChange, ...]:
        """The changes that are beyond noise."""
        return tuple(move for move in self.moves if move.is_beyond_noise)

    def worse(self, member: str = "") -> tuple[MemberChange, ...]:
        """Return the falls beyond noise, of one member or of all."""
        falls = [move for move in self.beyond_noise if move.difference < 0]
        counted = (move for move in falls if self.decides in {None, move.measure})
        return tuple(move for move in counted if member in {"", move.member})


Values = Callable[[Columns, tuple[str, ...]], Floats]  # by (round, member)
Cube = Callable[[Values], Floats]  # by (run, question, member), the newest run last


def compare_with_past(now: Columns, before: Columns) -> Changes:
    """Compare a run with past ones of the same suite version in which all compared members sat."""
    if not now.rows:
        return Changes("", 0)
    last_row = now.rows[-1]
    version = (last_row.suite, last_row.suite_version)
    is_past = [
        (row.suite, row.suite_version) == version
        and row.asked_at < last_row.asked_at
        and row.bakeoff not in {"", last_row.bakeoff}
        for row in before.rows
    ]
    past = before.only(np.array(is_past, dtype=bool))
    runs = list(rounds_by_run(past).values())[-MAX_PAST_RUNS:]
    if not runs:
        return Changes(last_row.bakeoff, 0)
    members_now = _members_with_answers(now, range(len(now.rows)))
    members_before = _members_with_answers(past, runs[-1])
    common = tuple(member for member in now.members if member in members_now & members_before)
    comparable = [rounds for rounds in runs if {*common} <= _members_with_answers(past, rounds)]
    questions = max(row.number for row in (*past.rows, *now.rows))
    sides = ((past, comparable), (now, [range(len(now.rows))]))

    def cube(values: Values) -> Floats:
        return np.concatenate(
            [stack_runs(side, values(side, common), runs, questions) for side, runs in sides]
        )

    return Changes(
        bakeoff=last_row.bakeoff,
        runs=len(runs),
        moves=tuple(sorted(_member_changes(cube, common), key=lambda move: move.difference)),
        hints=tuple(_swap_hints(cube, common)),
        new=tuple(sorted(members_now - members_before)),
        missing=tuple(sorted(members_before - members_now)),
        decides=Measure.ACCURACY if grades_decide(question_grades(now)) else Measure.SHARE,
    )


def _members_with_answers(columns: Columns, rounds: Iterable[int]) -> set[str]:
    has_answer = (columns.author("absent")[list(rounds)] == 0).any(axis=0)
    return {*compress(columns.members, has_answer)}


def _author_field(field: str) -> Values:
    def values(columns: Columns, members: tuple[str, ...]) -> Floats:
        seats = [columns.members.index(member) for member in members]
        return columns.author(field)[:, seats]

    return values


def _member_changes(cube_of: Cube, members: tuple[str, ...]) -> Iterator[MemberChange]:
    for measure, values in (
        (Measure.SHARE, head_to_head_shares),
        (Measure.ACCURACY, _author_field("correct")),
    ):
        latest = compare_latest_run(cube_of(values), FAMILIES[measure])
        found = latest.differences
        for i in np.flatnonzero(~np.isnan(found.mean)):
            mean = float(found.mean[i])
            half = t_quantile((1 + LEVEL) / 2, float(found.freedom[i])) * float(found.error[i])
            yield MemberChange(
                member=members[i],
                measure=measure,
                before=float(found.before[i]),
                now=float(found.now[i]),
                difference=mean,
                ci=(max(-1.0, mean - half), min(1.0, mean + half)),
                p=float(found.p[i]),
                is_beyond_noise=bool(latest.is_beyond[i]),
                questions=int(found.questions[i]),
                runs=int(latest.runs[i]),
            )


def _swap_hints(cube_of: Cube, members: tuple[str, ...]) -> Iterator[SwapHint]:
    for sign, field in (
        (SwapSign.LENGTH, "words"),
        (SwapSign.LATENCY, "seconds"),
        (SwapSign.REFUSALS, "refused"),
    ):
        cube = cube_of(_author_field(field))
        if sign is not SwapSign.REFUSALS:
            cube = np.log(np.where(cube > 0, cube, np.nan))
        latest = compare_latest_run(cube, FAMILIES[sign])
        found = latest.differences
        for i in np.flatnonzero(latest.is_beyond):
            before, now = float(found.before[i]), float(found.now[i])
            if sign is not SwapSign.REFUSALS:
                before, now = exp(before), exp(now)
            yield SwapHint(members[i], sign, before, now, float(found.p[i]))
