"""Table 1 of the thesis from its own grades, each line of ours under the published one."""

import sys

from bot.research.grade_files import read_grades
from bot.research.grade_report import finding_lines
from council.research.grades import GradeReport, build_grade_report
from tests.bot.research.thesis_table import DATA, numbers, ours, published

COLUMNS = ("N", "S", "R", "t_R", "p_R", "CI_R", "G", "t_G", "p_G", "CI_G")
WIDTHS = (5, 13, 13, 7, 8, 16, 13, 7, 8, 16)


def line(cells: list[str] | tuple[str, ...]) -> str:
    return "".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))


def compare(report: GradeReport) -> int:
    """Print both tables; give how many numbers are the same."""
    print(f"{'':34}{line(COLUMNS)}")
    same = 0
    for row in report.rows:
        theirs, own = published()[row.judge, row.framing.value], ours(row)
        pairs = zip(numbers(theirs), numbers(own), strict=True)
        same += sum(one == other for one, other in pairs)
        print(f"{row.judge} {row.framing}")
        print(f"{'  published':34}{line(theirs)}")
        print(f"{'  ours':34}{line(own)}")
    return same


def main() -> None:
    if not DATA.exists():
        sys.exit(f"The grades of the thesis are not at {DATA}.")
    report = build_grade_report(read_grades(DATA.name, DATA.read_bytes()).grades)
    same = compare(report)
    print(f"\n{same} of {sum(len(numbers(cells)) for cells in published().values())} are the same.")
    print(*finding_lines(report), sep="\n")


if __name__ == "__main__":
    main()
