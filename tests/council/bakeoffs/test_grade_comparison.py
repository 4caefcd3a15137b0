"""Members compared by grades: against hand computations, and equal members in a simulation."""

from math import comb

import numpy as np
import pytest
from scipy import stats

from council.bakeoffs.grade_comparison import (
    GradeComparison,
    answer_grades,
    compare_grades,
    difference_interval,
    paired_p_value,
    question_grades,
)
from council.bakeoffs.records import CouncilRecord
from tests.council.bakeoffs.record_builders import a_record, of


def test_an_absence_in_a_graded_round_is_a_wrong_answer() -> None:
    columns = of(
        a_record({"ada": 1.0, "bob": None}, number=1, correct={"ada": True}),
        a_record({"ada": 1.0, "bob": None}, number=2),
        a_record({"ada": 1.0, "bob": 0.0}, number=3, correct={"ada": True}),
        a_record({"ada": None, "bob": None}, number=4, whole=CouncilRecord(council_correct=False)),
    )

    nan = float("nan")
    expected = np.array([[1, 0], [nan, nan], [1, nan], [0, 0]])
    assert np.array_equal(answer_grades(columns), expected, equal_nan=True)
    assert np.array_equal(
        question_grades(columns), np.array([[1, 0], [1, nan], [0, 0]]), equal_nan=True
    )


def test_the_runs_of_a_question_are_averaged() -> None:
    columns = of(
        a_record({"ada": 1.0, "bob": 0.0}, run=0, correct={"ada": True, "bob": True}),
        a_record({"ada": 1.0, "bob": 0.0}, run=1, correct={"ada": False, "bob": True}),
        a_record({"ada": 1.0, "bob": 0.0}, run=1, number=2, grade={"ada": 0.5}),
    )

    assert np.array_equal(
        question_grades(columns), np.array([[0.5, 1], [0.5, float("nan")]]), equal_nan=True
    )


def test_without_rounds_nothing_is_compared() -> None:
    assert question_grades(of()).shape == (0, 0)
    assert compare_grades((), question_grades(of())) == ()


def test_p_is_students_t_of_the_paired_differences() -> None:
    differences = np.array([1.0] * 9 + [-1.0] + [0.0] * 20)

    assert paired_p_value(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


def test_p_is_never_below_the_sign_tests_if_all_agree() -> None:
    three = np.array([1.0] * 3 + [0.0] * 97)
    alike = np.full(12, 0.25)

    assert paired_p_value(three) == 2 * 0.5**3 == 2 * comb(3, 3) / 2**3
    assert paired_p_value(alike) == 2**-11
    assert paired_p_value(np.zeros(12)) == 1
    assert paired_p_value(np.array([1.0])) == 1


def test_pairs_are_corrected_for_each_other() -> None:
    ada, bob, cyd = np.array([1.0] * 8), np.array([0.0] * 8), np.array([0.0] * 6 + [1.0] * 2)

    found = compare_grades(("ada", "bob", "cyd"), np.array([ada, bob, cyd]).T)

    assert [(one.first, one.second, one.ahead) for one in found] == [
        ("ada", "bob", "ada"),
        ("ada", "cyd", None),
        ("bob", "cyd", None),
    ]
    assert found[0] == GradeComparison("ada", "bob", 8, 1.0, found[0].ci, 3 * 2**-7, "ada")
    assert found[0].ci == difference_interval(np.ones(8))
    assert found[1].p == 2 * 2**-5
    assert found[2].difference == -0.25


def test_the_interval_of_the_second_is_that_of_the_first_turned_round() -> None:
    found = GradeComparison("ada", "bob", 8, 0.25, (-0.125, 0.5), 0.2)

    assert (found.ci_of("ada"), found.ci_of("bob")) == ((-0.125, 0.5), (-0.5, 0.125))


def test_who_is_ahead_may_be_the_second() -> None:
    grades = np.array([np.zeros(12), np.ones(12)]).T

    assert compare_grades(("ada", "bob"), grades)[0].ahead == "bob"


def test_members_without_a_common_question_are_not_compared() -> None:
    nan = float("nan")

    assert compare_grades(("ada", "bob"), np.array([[1, nan], [nan, 1]])) == ()


def test_equal_members_are_told_apart_in_at_most_one_suite_in_twenty() -> None:
    rng = np.random.default_rng(20261127)
    suites = 400
    told = 0
    for _ in range(suites):
        right = 1 / (1 + np.exp(-rng.normal(1.0, 1.5, 48)))
        grades = (rng.random((48, 4)) < right[:, None]).astype(float)
        told += any(one.ahead for one in compare_grades(("a", "b", "c", "d"), grades))

    assert told <= suites * 0.05 + 2 * (suites * 0.05 * 0.95) ** 0.5
