"""Self-preference by grades from a file, printed."""

from pathlib import Path

from bot.cli.outcome import say_json
from bot.grades.reading import read_grades
from bot.research.grade_report import grades_document, grades_post
from council.errors import GradesError
from council.research.grades import GradeReport, grade_report

WIDEST = 120  # columns of what goes to a file or another program


async def report_file(path: Path, *, strict: bool, as_json: bool) -> None:
    """Print what the grades of a file tell, or its JSON."""
    read = read_grades(path.name, _content(path), strict=strict)
    show_report(grade_report(read.grades), as_json=as_json)


def show_report(report: GradeReport, *, as_json: bool) -> None:
    """Print a report on grades, or its JSON."""
    if as_json:
        say_json(grades_document(report))
        return
    from rich.console import Console

    from bot.terminal import dressed

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, WIDEST)
    console.print(dressed(grades_post(report)))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise GradesError(
            f"{path} cannot be read ({error.strerror}): name a file of grades."
        ) from None
