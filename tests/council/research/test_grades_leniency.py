"""Leniency: how strict judges are with the same work."""

import pytest

from council.research.grades import Grade, build_grade_report
from tests.council.research.grade_tables import POS, over_items


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


def test_the_middle_judge_of_three_has_nothing_to_differ_from() -> None:
    rows = build_grade_report(by_effects(-1, -0.25, 1)).rows

    assert rows[1].leniency.effect.value == pytest.approx(0)
    assert rows[1].leniency.effect.p is None


def test_own_work_does_not_count() -> None:
    as_they_are = build_grade_report(over_items(["3 4 2/3 4 3/4 4 2"] * 4)).rows
    own_raised = build_grade_report(over_items(["5 4 2/3 5 3/4 4 5"] * 4)).rows

    sizes = [[row.leniency.effect.value for row in rows] for rows in (own_raised, as_they_are)]
    assert sizes[0] == sizes[1]


def test_two_judges_have_no_leniency() -> None:
    rows = build_grade_report(over_items(["5 4/3 2"] * 4)).rows

    assert [row.leniency.effect.n for row in rows] == [0, 0]
