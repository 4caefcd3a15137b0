"""Every number of the thesis' Table 1, from its own grades."""

import pytest

from bot.research.grade_files import read_grades
from council.research.grades import GradeReport, build_grade_report
from tests.bot.research.thesis_table import DATA, NUMBERS_A_LINE, numbers, ours, published


@pytest.fixture(scope="module")
def report() -> GradeReport:
    if not DATA.exists():
        pytest.skip(f"the grades of the thesis are not at {DATA}")
    return build_grade_report(read_grades(DATA.name, DATA.read_bytes()).grades)


def test_the_published_table_has_150_numbers() -> None:
    counts = [len(numbers(cells)) for cells in published().values()]

    assert counts == [NUMBERS_A_LINE] * 10


def test_every_number_comes_out_to_the_printed_precision(report: GradeReport) -> None:
    computed = {(row.judge, row.framing.value): ours(row) for row in report.rows}

    assert computed == published()


def test_read_strictly_sonar_has_fewer_grades_of_its_own() -> None:
    if not DATA.exists():
        pytest.skip(f"the grades of the thesis are not at {DATA}")

    strict = build_grade_report(read_grades(DATA.name, DATA.read_bytes(), strict=True).grades)

    counts = {(row.judge[:5], row.framing.value): row.own.n for row in strict.rows}
    assert counts["sonar", "pos"] == 87
    assert counts["sonar", "neg"] == 86
    assert strict.absent == 69
