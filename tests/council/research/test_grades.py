"""The thesis' statistics, computed by hand, and missing data."""

import random
from collections.abc import Sequence
from dataclasses import replace
from math import nan, sqrt

import numpy as np
import pytest
from scipy import stats

from council.research.grades import (
    FindingKind,
    Framing,
    Grade,
    GradeReport,
    JudgeRow,
    Mean,
    build_grade_report,
    findings,
    normalize_grade,
    paired_t_test,
)
from tests.council.research.grade_tables import NEG, POS, graded, over_items

# Three judges on four items; a row a judge, a column an author.
TABLES = ("5 3 2/4 3 3/4 2 4", "4 3 3/3 3 2/3 3 4", "5 4 2/3 4 2/4 3 4", "4 2 3/4 4 3/2 3 5")


def row_of(report: GradeReport, judge: str = "a", framing: Framing = POS) -> JudgeRow:
    return next(row for row in report.rows if (row.judge, row.framing) == (judge, framing))


def test_own_received_and_given_grades_are_means_over_items() -> None:
    row = row_of(build_grade_report(over_items(TABLES)))

    # S = 5 4 5 4; R = (4+4)/2 (3+3)/2 (3+4)/2 (4+2)/2 = 4 3 3.5 3; G = 2.5 3 3 2.5
    assert told(row.own) == pytest.approx((4, 4.5, sqrt(1 / 3)))
    assert told(row.received) == pytest.approx(
        (4, 3.375, sqrt((0.625**2 + 2 * 0.375**2 + 0.125**2) / 3))
    )
    assert told(row.given) == pytest.approx((4, 2.75, sqrt(0.25 / 3)))


def told(mean: Mean) -> tuple[object, ...]:
    return mean.n, mean.value, mean.sd


def test_the_tests_are_paired_by_item() -> None:
    row = row_of(build_grade_report(over_items(TABLES)))

    # S − R = 1 1 1.5 1: mean 1.125, sd .25, t = 1.125/.125 = 9 with 3 degrees of freedom
    assert row.over_received.effect.value == pytest.approx(1.125)
    assert row.over_received.t == pytest.approx(9.0)
    assert row.over_received.effect.p == pytest.approx(0.00289582, abs=1e-8)
    # t quantile .975 with 3 is 3.18244631
    low, high = row.over_received.effect.interval or (0, 0)
    assert (low, high) == pytest.approx((1.125 - 3.18244631 / 8, 1.125 + 3.18244631 / 8))
    # S − G = 2.5 1 2 1.5
    assert row.over_given.effect.value == pytest.approx(1.75)


def test_the_difference_in_differences_takes_out_strictness_and_quality() -> None:
    row = row_of(build_grade_report(over_items(TABLES)))

    # O = what b and c give each other: (3+2)/2 (2+3)/2 (2+3)/2 (3+3)/2 = 2.5 2.5 2.5 3
    # (S−G) − (R−O) = 2.5−1.5 1−.5 2−1 1.5−0 = 1 .5 1 1.5
    assert row.preference.effect.value == pytest.approx(1.0)
    assert row.preference.effect.n == 4


def test_work_of_an_author_that_never_judges_does_not_count() -> None:
    by_human = [replace(grade, author="human", score=1.0) for grade in over_items(TABLES)[::3]]

    with_human = build_grade_report([*over_items(TABLES), *by_human])

    assert with_human.rows == build_grade_report(over_items(TABLES)).rows


def test_a_missing_grade_removes_its_item_from_what_needs_it() -> None:
    grades = over_items(("- 3 2/4 3 3/4 2 4", *TABLES[1:]))

    report = build_grade_report(grades)

    assert row_of(report).own.n == 3
    assert row_of(report).received.n == 3
    assert row_of(report, "b").own.n == 4
    assert (report.given, report.absent, report.items) == (35, 1, 4)


def test_every_test_of_every_row_is_corrected_for_all() -> None:
    report = build_grade_report(over_items(TABLES))

    tests = [
        test.effect
        for row in report.rows
        for test in (row.over_received, row.over_given, row.preference, row.leniency)
        if test.effect.p is not None
    ]
    least = min(tests, key=lambda effect: effect.p or 0)
    assert least.p_holm == pytest.approx((least.p or 0) * len(tests))


def nothing_said(row: JudgeRow) -> bool:
    return row.preference.effect.p is None and row.preference.effect.interval is None


@pytest.mark.parametrize(
    "grades",
    [
        pytest.param(over_items(("4", "5", "3")), id="one-judge"),
        pytest.param(over_items(("4 3/2 3", "5 3/3 3", "3 3/4 4")), id="two-judges"),
        pytest.param(over_items(TABLES[:2]), id="two-items"),
        pytest.param(over_items(["3 3 3/3 3 3/3 3 3"] * 9), id="all-ties"),
        pytest.param(over_items(["- - -/- - -/- - -"] * 3), id="all-absent"),
        pytest.param([Grade("1", POS, "a", "b", 4.0), Grade("1", POS, "b", "c", 4.0)], id="no-own"),
        pytest.param([Grade("1", POS, "a", "human", 4.0)], id="strangers"),
    ],
)
def test_too_little_is_none_and_never_nan(grades: Sequence[Grade]) -> None:
    report = build_grade_report(grades)

    assert report.rows
    assert all(nothing_said(row) for row in report.rows)
    assert "nan" not in repr(report).lower()


def test_no_grades_are_no_rows() -> None:
    assert build_grade_report([]).rows == ()


def test_a_judge_in_one_framing_alone_has_no_row_in_the_other() -> None:
    report = build_grade_report([*over_items(TABLES), *graded("x", "4", NEG)])

    assert [row.framing for row in report.rows if row.judge == "b"] == [POS]


def test_the_negative_scale_is_turned_over() -> None:
    assert [normalize_grade(raw, NEG) for raw in (1, 2, 5)] == [5, 4, 1]
    assert normalize_grade(2, POS) == 2


def by_effects(*strictness: float) -> list[Grade]:
    """Return grades of 6 items that only the item, the author and the judge's strictness make."""
    judges = [chr(ord("a") + at) for at in range(len(strictness))]
    return [
        Grade(str(item), POS, judge, author, 3 + strict + 0.1 * at + 0.1 * item * (judge == "b"))
        for item in range(6)
        for judge, strict in zip(judges, strictness, strict=True)
        for at, author in enumerate(judges)
    ]


def test_a_strict_judge_does_not_make_the_others_lenient() -> None:
    rows = build_grade_report(by_effects(-1, 0, 0, 0, 0)).rows

    assert rows[0].leniency.effect.value == pytest.approx(-1, abs=0.01)
    assert all(abs(row.leniency.effect.value or 0) < 0.3 for row in rows[1:])


def test_own_work_does_not_count() -> None:
    as_they_are = build_grade_report(over_items(["3 4 2/3 4 3/4 4 2"] * 4)).rows
    own_raised = build_grade_report(over_items(["5 4 2/3 5 3/4 4 5"] * 4)).rows

    sizes = [[row.leniency.effect.value for row in rows] for rows in (own_raised, as_they_are)]
    assert sizes[0] == sizes[1]


def test_two_judges_have_no_leniency() -> None:
    rows = build_grade_report(over_items(["5 4/3 2"] * 4)).rows

    assert [row.leniency.effect.n for row in rows] == [0, 0]


def test_it_is_students_paired_test() -> None:
    drawn = np.random.default_rng(7).normal(0.3, 1, 40)

    found = paired_t_test(drawn)

    expected = stats.ttest_1samp(drawn, 0)
    interval = expected.confidence_interval()
    assert found.t == pytest.approx(expected.statistic)
    assert found.effect.p == pytest.approx(expected.pvalue)
    assert found.effect.interval == pytest.approx((interval.low, interval.high))


def test_items_that_cannot_be_compared_are_left_out() -> None:
    assert paired_t_test(np.array([1.0, nan, 2.0, 4.0])).effect.n == 3


def test_equal_differences_use_the_sign_test() -> None:
    found = paired_t_test(np.full(10, -0.5))

    assert (found.t, found.effect.interval) == (None, None)
    assert found.effect.value == -0.5
    assert found.effect.p == 2.0**-9


def test_no_differences_give_no_test() -> None:
    assert paired_t_test(np.zeros(10)).effect.p is None
    assert paired_t_test(np.zeros(10)).effect.value == 0


def test_it_reports_how_many_more_items_are_needed() -> None:
    # mean .5, sd 1, n 4: half-width 3.182·.5 = 1.591; 4·(1.591/.5)² = 40.5, less the 4 there are
    spread = np.array([-1, 1, -1, 1]) * np.sqrt(3) / 2

    assert paired_t_test(spread + 0.5).effect.more == 37
    assert paired_t_test(spread + 9).effect.more == 0
    assert paired_t_test(spread).effect.more is None


def drawn(own: float = 0.0, strict: float = 0.0, items: int = 60) -> list[Grade]:
    """Return four judges' grades, of whom a prefers its own work and c is strict."""
    chance = random.Random(5)
    return [
        Grade(str(item), POS, judge, author, int(mean + chance.random()))
        for item in range(items)
        for judge in "abcd"
        for author in "abcd"
        for mean in [3.5 + own * (judge == author == "a") - strict * (judge == "c")]
    ]


def kinds(grades: list[Grade]) -> set[tuple[FindingKind, str]]:
    return {(finding.kind, finding.row.judge) for finding in findings(build_grade_report(grades))}


def test_a_preference_is_found_in_its_judge_only() -> None:
    found = kinds(drawn(own=1.0))

    assert {name for kind, name in found if kind is FindingKind.PREFERENCE} == {"a"}


def test_nothing_is_found_without_bias() -> None:
    assert kinds(drawn()) == set()


@pytest.mark.parametrize(
    ("grades", "kind"),
    [
        pytest.param([Grade("1", POS, "a", "b", 4.0)], FindingKind.NO_OWN, id="no-own-work"),
        pytest.param(over_items(["4 3/2 3"] * 5), FindingKind.NO_PEERS, id="two-judges"),
        pytest.param(over_items(["4 3 2/2 3 4/4 3 3"] * 2), FindingKind.TOO_FEW, id="two-items"),
        pytest.param(over_items(["3 3 3/3 3 3/3 3 3"] * 9), FindingKind.ALIKE, id="all-ties"),
    ],
)
def test_missing_data_is_named(grades: list[Grade], kind: FindingKind) -> None:
    found = findings(build_grade_report(grades))

    assert {finding.kind for finding in found} == {kind}
    assert not any(finding.is_found for finding in found)


# --- Groups, an objective score, and the ceiling


def test_items_of_one_group_are_one_case() -> None:
    differences = np.array([1.0, 2.0, 4.0, 5.0, 1.0, 5.0])
    group = np.array([0, 0, 1, 1, 2, 2])

    found = paired_t_test(differences, group)

    # Mean 3; sums of deviations −3, 3 and 0; √(3/2 · 18) / 6 = .8660; t quantile .975 with 2 is
    # 4.30265.
    assert found.t == pytest.approx(3 / 0.8660254)
    assert found.effect.interval == pytest.approx((3 - 3.726206, 3 + 3.726206), abs=1e-5)
    assert found.effect.p == pytest.approx(2 * stats.t.sf(3 / 0.8660254, 2))
    assert (found.effect.n, found.effect.unit) == (6, "items from only 3 groups")


def test_a_group_for_each_item_is_the_plain_test() -> None:
    drawn = np.array([1.0, nan, 2.0, 4.0, 3.0])

    plain, grouped = paired_t_test(drawn), paired_t_test(drawn, np.arange(5))

    assert grouped.t == pytest.approx(plain.t)
    assert grouped.effect.interval == pytest.approx(plain.effect.interval)


@pytest.mark.parametrize(
    ("differences", "group", "p"),
    [
        ([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1], None),  # two groups tell of no spread
        ([1.0] * 6, [0, 0, 1, 1, 2, 2], 0.25),  # 2^(1 − 3), the sign test
        ([0.0] * 6, [0, 0, 1, 1, 2, 2], None),
        ([1.0, 2.0, 1.0, 2.0, 1.0, 2.0], [0, 0, 1, 1, 2, 2], None),  # alike by group
    ],
)
def test_what_groups_cannot_tell(
    differences: list[float], group: list[int], p: float | None
) -> None:
    found = paired_t_test(np.array(differences), np.array(group))

    assert (found.effect.p, found.effect.interval, found.t) == (p, None, None)


def test_twelve_items_of_two_tasks_are_too_few_groups() -> None:
    grades = over_items(TABLES * 3)
    tasks = [replace(one, group="t1" if int(one.item[1:]) < 6 else "t2") for one in grades]

    report = build_grade_report(tasks)

    assert report.groups == 2
    assert {found.kind for found in findings(report)} == {FindingKind.FEW_GROUPS}
    assert all(row.preference.effect.n == 12 for row in report.rows)
    assert any(found.is_found for found in findings(build_grade_report(grades)))


def test_an_item_without_a_group_is_a_group_of_its_own() -> None:
    grades = [replace(one, group="t" * (one.item == "i0")) for one in over_items(TABLES)]

    assert row_of(build_grade_report(grades)).preference.groups == 4


def with_truth(grades: Sequence[Grade], truth: dict[str, float | None]) -> list[Grade]:
    return [replace(grade, truth=truth[grade.author]) for grade in grades]


def test_a_judge_whose_better_work_is_truly_better_prefers_nothing() -> None:
    # Every judge gives 1 + truth to each work; a's own is best.
    fair = with_truth(over_items(["4 2 3/4 2 3/4 2 3"] * 3), {"a": 3, "b": 1, "c": 2})
    proud = [replace(one, score=5.0) if one.judge == one.author == "a" else one for one in fair]

    # S − G = 4 − 2.5 is what the truth explains: slope 1 · (3 − 1.5). A 5 is one more.
    assert row_of(build_grade_report(fair)).over_given.effect.value == pytest.approx(1.5)
    assert row_of(build_grade_report(fair)).net.effect.value == pytest.approx(0)
    net = row_of(build_grade_report(proud)).net.effect
    assert net.value == pytest.approx(1)
    assert net.p == 0.25
    assert row_of(build_grade_report(proud), "b").net.effect.value == pytest.approx(0)


def test_strictness_is_no_part_of_the_slope() -> None:
    # b gives one grade less than a and c to everything; the slope stays 1.
    grades = with_truth(over_items(["4 2 3/3 1 2/4 2 3"] * 3), {"a": 3, "b": 1, "c": 2})

    assert [row.net.effect.value for row in build_grade_report(grades).rows] == pytest.approx(
        [0] * 3
    )


@pytest.mark.parametrize("truth", [dict.fromkeys("abc"), dict.fromkeys("abc", 2.0)])
def test_without_a_truth_that_differs_nothing_is_net(truth: dict[str, float | None]) -> None:
    report = build_grade_report(with_truth(over_items(TABLES), truth))

    assert all(row.net.effect.n == 0 for row in report.rows)


def test_an_unknown_truth_leaves_its_item_out() -> None:
    grades = with_truth(over_items(TABLES), {"a": 3, "b": 1, "c": 2})
    unknown = [replace(one, truth=None) if one.item == "i0" else one for one in grades]

    assert row_of(build_grade_report(unknown)).net.effect.n == 3
    assert row_of(build_grade_report(unknown)).over_given.effect.n == 4


def test_the_share_of_best_grades_is_that_of_a_judges_grades() -> None:
    report = build_grade_report(over_items(["5 5 5/1 2 5/- - -"]))

    assert [row.at_best for row in report.rows] == [1.0, pytest.approx(1 / 3), None]
    assert [row.own_at_best for row in report.rows] == [1.0, 0.0, None]
