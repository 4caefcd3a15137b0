"""Compare members by the grades of their answers, paired by question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, sqrt

import numpy as np

from council.bakeoffs.intervals import Interval, holm, share_interval
from council.bakeoffs.record_arrays import PRECISION, Columns, Floats, Indexes
from council.tally.distributions import LEVEL, t_p_value

MIN_GRADED = 10  # questions; with fewer, grades decide nothing
_ALPHA = 1 - LEVEL


def question_numbers(columns: Columns) -> Indexes:
    """Number each round's question from 0; a question outside a bake-off is always its own."""
    order: dict[object, int] = {}
    keys = (
        (row.suite, row.suite_version, row.number) if row.bakeoff else row.round_id
        for row in columns.rows
    )
    return np.array([order.setdefault(key, len(order)) for key in keys], dtype=np.intp)


def answer_grades(columns: Columns) -> Floats:
    """Return the grade of each answer, 0 to 1, by (round, member).

    A member that gave no answer in a graded round has 0. NaN is unknown: the round is not graded,
    the member did not sit there, or the grader failed.
    """
    correct, grades = columns.author("correct"), columns.author("grade")
    return _with_absences(columns, np.where(np.isnan(grades), correct, grades))


def right_answers(columns: Columns) -> Floats:
    """Return 1 for a right answer and 0 for a wrong one or none, by (round, member), likewise."""
    return _with_absences(columns, columns.author("correct"))


def _with_absences(columns: Columns, grades: Floats) -> Floats:
    is_graded = (~np.isnan(grades)).any(axis=1) | ~np.isnan(columns.round("council_correct"))
    is_absent = columns.author("absent") == 1
    return np.where(is_absent & is_graded[:, None], 0.0, grades)


def question_grades(columns: Columns) -> Floats:
    """Return the mean grade of each member on each graded question, by (question, member)."""
    questions, grades = question_numbers(columns), answer_grades(columns)
    known = ~np.isnan(grades)
    sums = np.zeros((questions.max(initial=-1) + 1, len(columns.members)))
    counts = np.zeros_like(sums)
    np.add.at(sums, questions, np.where(known, grades, 0.0))
    np.add.at(counts, questions, known)
    has_any = counts.any(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[has_any] / counts[has_any])


def grades_decide(by_question: Floats) -> bool:
    """Return whether grades, by (question, member), decide who leads: of ten questions or more."""
    return len(by_question) >= MIN_GRADED


@dataclass(frozen=True, slots=True)
class GradeComparison:
    """Two members on the `questions` that both have a grade on.

    `difference` is the first's mean grade minus the second's, −1 to 1, with its 95 % interval. `p`
    is two-sided and corrected for all pairs (Holm). `ahead` is the member that is ahead beyond
    chance, None if neither is.
    """

    first: str
    second: str
    questions: int
    difference: float
    ci: Interval
    p: float
    ahead: str | None = None

    def ci_of(self, member: str) -> Interval:
        """Return the interval of a member's mean grade minus the other's."""
        low, high = self.ci
        return (low, high) if member == self.first else (-high, -low)


def paired_p_value(differences: Floats) -> float:
    """Return the two-sided p of a mean difference of 0, by Student's t over questions.

    At least 2^(1 − k) if k questions differ, which is the sign test's p if all k agree. With it,
    equal members differ at .05 in at most .07 of suites of 10 to 200 questions (`make bench`).
    """
    differing = int((np.abs(differences) > PRECISION).sum())
    if len(differences) < 2 or not differing:  # noqa: PLR2004
        return 1.0
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / sqrt(len(differences))
    statistic = mean / error if error > PRECISION else inf
    return max(t_p_value(statistic, len(differences) - 1), 2.0 ** (1 - differing))


def difference_interval(differences: Floats, level: float = LEVEL) -> Interval:
    """Return the interval of a mean of paired differences of grades, −1 to 1."""
    low, high = share_interval((differences + 1) / 2, level)
    return 2 * low - 1, 2 * high - 1


def compare_grades(members: Sequence[str], grades: Floats) -> tuple[GradeComparison, ...]:
    """Compare every two members that have grades on a common question."""
    found = [*_comparisons(members, grades)]
    corrected = holm([one.p for one in found])
    return tuple(
        GradeComparison(
            one.first,
            one.second,
            one.questions,
            one.difference,
            one.ci,
            p or 0.0,
            (one.first if one.difference > 0 else one.second) if (p or 0.0) <= _ALPHA else None,
        )
        for one, p in zip(found, corrected, strict=True)
    )


def _comparisons(members: Sequence[str], grades: Floats) -> Iterator[GradeComparison]:
    for (i, first), (j, second) in combinations(enumerate(members), 2):
        differences = grades[:, i] - grades[:, j]
        differences = differences[~np.isnan(differences)]
        if len(differences):
            yield GradeComparison(
                first,
                second,
                len(differences),
                float(differences.mean()),
                difference_interval(differences),
                paired_p_value(differences),
            )
