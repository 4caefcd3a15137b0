"""Leaderboards of authors and of judges, computed from the records of many rounds."""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from council.bakeoffs.grade_comparison import (
    MIN_GRADED,
    GradeComparison,
    answer_grades,
    compare_grades,
    grades_decide,
    question_grades,
    right_answers,
)
from council.bakeoffs.intervals import Interval, share_interval, wilson_interval
from council.bakeoffs.pairwise import Duel, RunOff, Strength, duels, run_off, strengths
from council.bakeoffs.record_arrays import Columns, Floats
from council.bakeoffs.records import AUTHOR_FIELDS, JUDGE_FIELDS


class RankedBy(StrEnum):
    """What the order and the places of a board rest on."""

    GRADES = "grades"
    POINTS = "points"


@dataclass(frozen=True, slots=True)
class AuthorLine:
    """How a member fared as an author over many rounds: one line of the leaderboard.

    `share` is its mean Borda share over the `rounds` it was ranked in, `ci` the 95 % interval, 0
    to 1. A `place` is shared by the members that cannot be told apart from the first of them, and
    is None for one that is not ranked; `is_tied` if others have it too. `strength` is its
    expected share against every other member (Bradley-Terry), on boards whose rounds had different
    panels; None elsewhere.
    `first_votes` of the `ballots` ranked it first, alone. Cost, seconds and tokens are means over
    its answers, None if unknown; `absences` are rounds in which it was asked and gave no
    answer; `named_itself` counts answers in which its names were masked. `right` of the `graded`
    answers are right, `accuracy` is their share and `grade` the mean grade, 0 to 1; an absence in
    a graded round is a wrong answer.
    """

    member: str
    place: int | None
    share: float | None
    ci: Interval
    rounds: int
    strength: float | None = None
    strength_ci: Interval | None = None
    first_votes: int = 0
    ballots: int = 0
    accuracy: float | None = None
    accuracy_ci: Interval | None = None
    graded: int = 0
    right: int = 0
    grade: float | None = None
    grade_ci: Interval | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    tokens_out: float | None = None
    answers: int = 0
    absences: int = 0
    refusals: int = 0
    named_itself: int = 0
    is_tied: bool = False


@dataclass(frozen=True, slots=True)
class Grades:
    """What a board reads of grades: `right` and `grade` by (round, member), and by question."""

    right: Floats
    grade: Floats
    by_question: Floats


def author_line(
    columns: Columns, member: int, strength: Strength | None, grades: Grades
) -> AuthorLine:
    """Return the line of a member without its place, which depends on the other lines."""

    def known(field: str) -> Floats:
        values = columns.authored[:, member, AUTHOR_FIELDS.index(field)].astype(float)
        return known_values(values)

    shares, absent_flags = known("share"), known("absent")
    absences, graded = int(absent_flags.sum()), _grades_of(grades, member)
    return AuthorLine(
        member=columns.members[member],
        place=None,
        share=mean_or_none(shares),
        ci=share_interval(shares),
        rounds=len(shares),
        strength=strength.share if strength else None,
        strength_ci=strength.ci if strength else None,
        first_votes=int(known("first_votes").sum()),
        ballots=int(known("ballots").sum()),
        cost_usd=mean_or_none(known("cost_usd")),
        seconds=mean_or_none(known("seconds")),
        tokens_out=mean_or_none(known("tokens_out")),
        answers=len(absent_flags) - absences,
        absences=absences,
        refusals=int(known("refused").sum()),
        named_itself=int(known("named_itself").sum()),
        **graded,
    )


def _grades_of(of: Grades, member: int) -> dict[str, Any]:
    """Return the fields of a line that are about grades."""
    correct, grades, by_question = (
        known_values(table[:, member]) for table in (of.right, of.grade, of.by_question)
    )
    right, graded = int(correct.sum()), len(grades)
    interval = wilson_interval(right, len(correct)) if len(correct) else None
    is_counted = np.array_equal(correct, grades) and len(by_question) == len(grades)
    return {
        "accuracy": mean_or_none(correct),
        "accuracy_ci": interval,
        "graded": graded,
        "right": right,
        "grade": mean_or_none(by_question),
        "grade_ci": interval if is_counted else share_interval(by_question),
    }


def known_values(values: Floats) -> Floats:
    """Return the values that are not NaN."""
    return values[~np.isnan(values)]


def mean_or_none(values: Floats) -> float | None:
    """Return the mean, or None if there are no values."""
    return float(values.mean()) if len(values) else None


@dataclass(frozen=True, slots=True)
class Board:
    """A leaderboard of authors, best first, by what it is ranked by.

    `run_off` compares the first two by the judges outside the pair; None if none saw both. Rounds
    with different panels are `is_mixed`. `duels` holds every pair of members that met, `graded`
    every pair that has grades on common questions. With `has_mean_grades`, answers are also right
    in part.
    """

    rows: tuple[AuthorLine, ...]
    run_off: RunOff | None
    duels: tuple[Duel, ...]
    rounds: int
    is_mixed: bool = False
    ranked_by: RankedBy = RankedBy.POINTS
    graded: tuple[GradeComparison, ...] = ()
    has_mean_grades: bool = False

    @property
    def pairs(self) -> tuple[Duel | GradeComparison, ...]:
        """The pairs that decide its order."""
        return self.graded if self.ranked_by is RankedBy.GRADES else self.duels

    @property
    def claims(self) -> tuple[Duel | GradeComparison, ...]:
        """The pairs in which one member is ahead beyond chance."""
        return tuple(pair for pair in self.pairs if pair.ahead)

    def is_ahead(self, member: str, other: str) -> bool:
        """Return whether a member is ahead of another beyond chance."""
        return (member, other) in _decided_pairs(self.pairs)

    def compared(self, member: str, other: str) -> GradeComparison | None:
        """Return the comparison of the grades of two members, in either order."""
        wanted = {member, other}
        return next((one for one in self.graded if {one.first, one.second} == wanted), None)


def build_leaderboard(columns: Columns, min_rounds: int = 0) -> Board:
    """Return the leaderboard of these rounds; without rounds, one without rows.

    Members of fewer than `min_rounds` rounds come last, without a place, if any has as many.
    """
    grades = Grades(right_answers(columns), answer_grades(columns), question_grades(columns))
    measure = RankedBy.GRADES if grades_decide(grades.by_question) else RankedBy.POINTS
    all_duels = tuple(duels(columns))
    compared = compare_grades(columns.members, grades.by_question)
    is_mixed = len({frozenset(block.members) for block in columns.blocks}) > 1
    member_strengths = strengths(columns) if is_mixed else {}
    lines = [
        author_line(columns, i, member_strengths.get(m), grades)
        for i, m in enumerate(columns.members)
    ]
    least = _least(lines, measure, min_rounds)
    lines.sort(key=lambda line: _order(line, measure, least))
    pairs = compared if measure is RankedBy.GRADES else all_duels
    first_two = [line.member for line in lines[:2]]
    top = next((duel for duel in all_duels if {duel.first, duel.second} == {*first_two}), None)
    return Board(
        rows=tuple(_placed(lines, measure, least, _decided_pairs(pairs))),
        run_off=run_off(top, first_two[0]) if top else None,
        duels=all_duels,
        rounds=len(columns.rows),
        is_mixed=is_mixed,
        ranked_by=measure,
        graded=compared,
        has_mean_grades=bool(((grades.grade > 0) & (grades.grade < 1)).any()),
    )


def _least(lines: Sequence[AuthorLine], measure: RankedBy, min_rounds: int) -> float:
    """Return how many rounds, or graded answers, a place needs: by grades half of the most."""
    if measure is RankedBy.GRADES:
        return min(MIN_GRADED, max(line.graded for line in lines) / 2)
    return min_rounds if any(line.rounds >= min_rounds for line in lines) else 0


def _value(line: AuthorLine, measure: RankedBy, least: float) -> float | None:
    """Return what a line is ranked by; None if it has no place."""
    if measure is RankedBy.GRADES:
        return line.grade if line.graded >= least else None
    return line.share if line.rounds >= least else None


def _order(line: AuthorLine, measure: RankedBy, least: float) -> tuple[bool, float, float, str]:
    value = _value(line, measure, least)
    return value is None, -(value or 0.0), -(line.share or 0.0), line.member


def _decided_pairs(pairs: Iterable[Duel | GradeComparison]) -> set[tuple[str, str]]:
    """Return who is ahead of whom beyond chance."""
    return {(d.ahead, d.second if d.ahead == d.first else d.first) for d in pairs if d.ahead}


def _placed(
    lines: Sequence[AuthorLine],
    measure: RankedBy,
    least: float,
    ahead: Container[tuple[str, str]],
) -> list[AuthorLine]:
    """Return the lines with their places: a new one where the first of a place is ahead."""
    first, places = "", list[int | None]()
    for position, line in enumerate(lines, start=1):
        if _value(line, measure, least) is None:
            places.append(None)
        elif not first or (first, line.member) in ahead:
            first = line.member
            places.append(position)
        else:
            places.append(places[-1])
    counts = Counter(places)
    return [
        replace(line, place=place, is_tied=place is not None and counts[place] > 1)
        for line, place in zip(lines, places, strict=True)
    ]


# --- What is missing


@dataclass(frozen=True, slots=True)
class Gap:
    """A seat of which `missing` out of `asked` are missing."""

    seat: str
    missing: int
    asked: int


@dataclass(frozen=True, slots=True)
class Absences:
    """The gaps of members' answers and of judges' rankings, the largest first."""

    answers: tuple[Gap, ...] = ()
    rankings: tuple[Gap, ...] = ()


def find_absences(columns: Columns) -> Absences:
    """Return what is missing; a ranking counts only if its judge replied with none to be read."""
    absent = columns.author("absent")
    unread = (columns.judge("valid") == 0) & (columns.judge("spoiled") > 0)
    read = columns.judge("valid") == 1
    return Absences(
        _gaps(columns.members, (absent == 1).sum(axis=0), (absent >= 0).sum(axis=0)),
        _gaps(columns.judges, unread.sum(axis=0), (unread | read).sum(axis=0)),
    )


def _gaps(seats: Sequence[str], missing: Iterable[int], asked: Iterable[int]) -> tuple[Gap, ...]:
    counted = zip(seats, map(int, missing), map(int, asked), strict=True)
    gaps = [Gap(seat, gone, of) for seat, gone, of in counted if gone]
    return tuple(sorted(gaps, key=lambda gap: (-gap.missing / gap.asked, gap.seat)))


# --- Judges


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """How often a judge ranked the answer a person chose blind above all others it was shown.

    `same` of `ballots`, one per vote on an answer it saw; a tie does not count. By chance it is 1/m
    for m answers. `kappa` is the agreement beyond chance, −1 to 1, with its 95 % interval; None if
    chance alone explains everything, or there is one round.
    """

    same: int
    ballots: int
    kappa: float | None = None
    kappa_ci: Interval | None = None

    @property
    def share(self) -> float:
        """The share of ballots that agree."""
        return self.same / self.ballots

    @property
    def ci(self) -> Interval:
        """The 95 % interval of the share (Wilson)."""
        return wilson_interval(self.same, self.ballots)


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """How a seat fared as a judge over the `rounds` in which it was asked for a ballot.

    `agreement` is its mean τ_b with the other judges, −1 to 1. `spoiled_rate` is `spoiled /
    (spoiled + valid)`, over the ballots that were to count. `position` is the mean share it gave to
    the answer it saw first, minus ½; the bias report says whether that is a bias.
    `kept` of `pairs` were ordered the same when it ranked the answers again. `cost_usd` is per
    valid ballot, including the cost of spoiled ones, in the rounds where it is known. Values are
    None if too little is known.
    """

    judge: str
    rounds: int
    valid: int
    spoiled: int
    spoiled_rate: float | None
    agreement: float | None
    agreement_ci: Interval | None
    position: float | None
    position_ci: Interval | None
    kept: int
    pairs: int
    consistency: float | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class JudgeBoard:
    """Judges, the one that agrees most with the others first; judges that never voted come last."""

    rows: tuple[JudgeLine, ...]
    rounds: int


def build_judge_board(columns: Columns) -> JudgeBoard:
    """Return the leaderboard of these rounds' judges."""
    lines = [_judge_line(columns, i) for i in range(len(columns.judges))]
    lines.sort(key=lambda line: (line.agreement is None, -(line.agreement or 0), line.judge))
    return JudgeBoard(tuple(lines), len(columns.rows))


def _judge_line(columns: Columns, judge: int) -> JudgeLine:
    def known(field: str) -> Floats:
        values = columns.judged[:, judge, JUDGE_FIELDS.index(field)].astype(float)
        return known_values(values)

    valid, spoiled = int(known("valid").sum()), int(known("spoiled").sum())
    kept, pairs = int(known("kept").sum()), int(known("pairs").sum())
    priced = columns.judged[:, judge, JUDGE_FIELDS.index("cost_usd")].astype(float)
    costs = known_values(priced)
    bought = int(columns.judged[~np.isnan(priced), judge, JUDGE_FIELDS.index("valid")].sum())
    agreement, first_slot = known("tau_b"), known("first_slot")
    low, high = share_interval((agreement + 1) / 2)
    first_low, first_high = share_interval(first_slot)
    position = mean_or_none(first_slot - 0.5)
    return JudgeLine(
        judge=columns.judges[judge],
        rounds=len(known("valid")),
        valid=valid,
        spoiled=spoiled,
        spoiled_rate=spoiled / (valid + spoiled) if valid + spoiled else None,
        agreement=mean_or_none(agreement),
        agreement_ci=(low * 2.0 - 1.0, high * 2.0 - 1.0) if len(agreement) else None,
        position=position,
        position_ci=(first_low - 0.5, first_high - 0.5) if len(first_slot) else None,
        kept=kept,
        pairs=pairs,
        consistency=kept / pairs if pairs else None,
        cost_usd=float(costs.sum()) / bought if bought else None,
    )
