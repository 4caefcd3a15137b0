"""What changed: a run against the runs before it, beyond noise."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, log

import numpy as np

from council.bakeoffs.columns import Columns, Floats
from council.bakeoffs.differences import differences
from council.bakeoffs.histories import Family, Latest, cube_of, latest, shares_among
from council.bakeoffs.intervals import LEVEL, Interval, t_quantile
from council.bakeoffs.packed import Packed
from council.bakeoffs.trend import runs_of

MOST_RUNS = 50  # of the past, the newest


class Measure(StrEnum):
    """What of a member can move."""

    SHARE = "share"
    ACCURACY = "accuracy"


class Sign(StrEnum):
    """What may hint that a provider put another model behind a name."""

    LENGTH = "length"
    LATENCY = "latency"
    REFUSALS = "refusals"


# Together less than one run in twenty tells of a change where there is none.
FAMILIES: Mapping[Measure | Sign, Family] = {
    Measure.SHARE: Family(0.03),
    Measure.ACCURACY: Family(0.005),
    Sign.LENGTH: Family(0.002, floor=log(1.25)),
    Sign.LATENCY: Family(0.002, floor=log(1.5)),
    Sign.REFUSALS: Family(0.001, floor=0.1),
}


@dataclass(frozen=True, slots=True)
class Move:
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
class Hint:
    """What changed about a member's answers beyond noise, as a silent swap of models would do.

    Words and seconds are geometric means, refusals the share of answers.
    """

    member: str
    sign: Sign
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
    moves: tuple[Move, ...] = ()
    hints: tuple[Hint, ...] = ()
    new: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def is_news(self) -> bool:
        """Whether there is anything to tell; never for a first run."""
        return bool(self.beyond_noise or self.hints or self.new or self.missing)

    @property
    def beyond_noise(self) -> tuple[Move, ...]:
        """The moves that are more than noise."""
        return tuple(move for move in self.moves if move.is_beyond_noise)

    def worse(self, member: str = "") -> tuple[Move, ...]:
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


def _precedes(row: Packed, own: Packed) -> bool:
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


def _moves(sides: _Sides) -> Iterator[Move]:
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


def _move(member: str, measure: Measure, latest: Latest, i: int, since_last: float) -> Move:
    found = latest.found
    mean = float(found.mean[i])
    half = t_quantile((1 + LEVEL) / 2, float(found.freedom[i])) * float(found.error[i])
    return Move(
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


def _hints(sides: _Sides) -> Iterator[Hint]:
    for sign, field in (
        (Sign.LENGTH, "words"),
        (Sign.LATENCY, "seconds"),
        (Sign.REFUSALS, "refused"),
    ):
        cube = sides.cube(_of_field(field))
        if sign is not Sign.REFUSALS:
            cube = np.log(np.where(cube > 0, cube, np.nan))
        found = latest(cube, FAMILIES[sign])
        for i, member in enumerate(sides.members):
            if found.is_beyond[i]:
                before, now = float(found.found.before[i]), float(found.found.now[i])
                if sign is not Sign.REFUSALS:
                    before, now = exp(before), exp(now)
                yield Hint(member, sign, before, now, float(found.found.p[i]))
