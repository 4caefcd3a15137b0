"""One line of a file of grades, checked."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from council.errors import GradesError
from council.research.grades import BEST, WORST, Framing, Grade

# --- One line of a file of grades, checked.

STRICT = "score"
PUBLISHED = "thesis_score"  # as the thesis read replies: more leniently
ITEMS = ("item", "article_id")
_LONGEST = 200  # of what a message quotes or a table shows

Row = Mapping[str, object]


def grade_of(row: Row, line: int, column: str = STRICT) -> Grade:
    """Give the grade that a line holds, its score taken from a column; GradesError."""
    item = next((name for name in ITEMS if name in row), ITEMS[0])
    return Grade(
        _text(row, item, line),
        _framing(row, line),
        _text(row, "judge", line),
        _text(row, "author", line),
        _score(row, column, line),
    )


def _text(row: Row, name: str, line: int) -> str:
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise GradesError(f"Line {line} has no {name!r}: write it as a text.")
    if len(value) > _LONGEST:
        raise GradesError(
            f"Line {line} has {len(value):,} characters in {name!r}: a name of at most {_LONGEST} "
            "is enough."
        )
    return value.encode(errors="replace").decode()  # half a character cannot be printed


def _framing(row: Row, line: int) -> Framing:
    value = row.get("framing")
    if not isinstance(value, str) or value not in set(Framing):
        raise GradesError(
            f"Line {line} has a framing of {_quoted(value)}: write pos where 5 was best, neg where "
            "1 was."
        )
    return Framing(value)


def _score(row: Row, column: str, line: int) -> float | None:
    if column not in row:
        raise GradesError(
            f"Line {line} has no {column!r}: write the grade, or null where there is none."
        )
    value = row[column]
    if value is None:
        return None
    is_truth = isinstance(value, bool)
    # NaN is between no two numbers.
    if is_truth or not isinstance(value, int | float) or not WORST <= value <= BEST:
        raise GradesError(
            f"Line {line} has {_quoted(value)} in {column!r}, and grades are numbers from {WORST} "
            f"to {BEST}, {BEST} being best in both framings: mend it, or write null where there is "
            "none."
        )
    return float(value)


def _quoted(value: object) -> str:
    return "nothing" if value is None else repr(value)[:50]


# --- Grades read from JSON Lines; every fault is a sentence that names the line.

MOST_ROWS = 1_000_000
MOST_JUDGES = 100  # a panel seats ten; more is a column that was taken for another
FORM = '{"item": "1", "framing": "pos", "judge": "a", "author": "b", "score": 4}'


@dataclass(frozen=True, slots=True)
class GradesFile:
    """What a file holds: its grades, and the column they were read from."""

    grades: tuple[Grade, ...]
    column: str


def read_grades(name: str, content: bytes, *, strict: bool = False) -> GradesFile:
    """Give the grades of a file; GradesError says what is wrong with which line.

    They are read as published where the file tells that apart and it is not `strict`.
    """
    try:
        return _read(_decoded(content), strict=strict)
    except GradesError as error:
        raise GradesError(f"{name}: {error}") from None


def _read(text: str, *, strict: bool) -> GradesFile:
    column = STRICT
    grades: list[Grade] = []
    seen: dict[tuple[str, Framing, str, str], int] = {}
    for number, row in _rows(text):
        if not grades and not strict and PUBLISHED in row:
            column = PUBLISHED
        grade = grade_of(row, number, column)
        key = (grade.item, grade.framing, grade.judge, grade.author)
        if seen.setdefault(key, number) != number:
            raise GradesError(
                f"Lines {seen[key]} and {number} hold the same judge's grade of the same work: "
                "keep one of them."
            )
        if len(grades) == MOST_ROWS:
            raise GradesError(f"It has more than {MOST_ROWS:,} lines: make several files of it.")
        grades.append(grade)
    _check_whole(grades)
    return GradesFile(tuple(grades), column)


def _check_whole(grades: list[Grade]) -> None:
    if not grades:
        raise GradesError(f"There is no grade in it: write a line for each, such as {FORM}.")
    judges = len({grade.judge for grade in grades})
    if judges > MOST_JUDGES:
        raise GradesError(
            f"It names {judges:,} judges, and {MOST_JUDGES} are the most I compare: check that "
            "“judge” holds who graded."
        )


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise GradesError(f"Line {line} is not UTF-8: save the file as UTF-8.") from None


def _rows(text: str) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _row(line, number)


def _row(line: str, number: int) -> dict[str, object]:
    try:
        row = json.loads(line)
    # A line nested too deep is no grade either; ValueError are also numbers too long to read.
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise GradesError(f"Line {number} is no JSON object: write each grade as {FORM}.")
    return row
