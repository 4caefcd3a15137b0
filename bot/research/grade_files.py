"""Parse grade files: JSON Lines, a grade on each line. Every error is a sentence with the line."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from council.errors import GradesError
from council.research.grades import BEST, WORST, Framing, Grade

STRICT_COLUMN = "score"
PUBLISHED_COLUMN = "thesis_score"  # the thesis parsed replies more leniently
ITEM_COLUMNS = ("item", "article_id")
MAX_TRUTH = 1e9
_MAX_NAME_CHARACTERS = 200  # messages quote names and tables show them

Row = Mapping[str, object]


def parse_grade(row: Row, line: int, column: str = STRICT_COLUMN) -> Grade:
    """Return the grade on a line, its score taken from `column`. Raise GradesError if invalid."""
    item = next((name for name in ITEM_COLUMNS if name in row), ITEM_COLUMNS[0])
    return Grade(
        _text(row, item, line),
        _framing(row, line),
        _text(row, "judge", line),
        _text(row, "author", line),
        _score(row, column, line),
        _text(row, "group", line) if row.get("group") is not None else "",
        _truth(row, line),
    )


def _truth(row: Row, line: int) -> float | None:
    value = row.get("truth")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_TRUTH:
        raise GradesError(
            f"Line {line} has {_quote(value)} in 'truth'. Write the work's objective score as a "
            f"number of at most {MAX_TRUTH:g}, or null where it is unknown."
        )
    return float(value)


def _text(row: Row, name: str, line: int) -> str:
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise GradesError(f"Line {line} has no {name!r}. Write it as a text.")
    if len(value) > _MAX_NAME_CHARACTERS:
        raise GradesError(
            f"Line {line} has {len(value):,} characters in {name!r}; the limit is "
            f"{_MAX_NAME_CHARACTERS}. Shorten it."
        )
    return value.encode(errors="replace").decode()  # a lone surrogate cannot be printed


def _framing(row: Row, line: int) -> Framing:
    value = row.get("framing")
    if not isinstance(value, str) or value not in set(Framing):
        raise GradesError(
            f"Line {line} has the framing {_quote(value)}. Write pos where 5 was best, neg where "
            "1 was best."
        )
    return Framing(value)


def _score(row: Row, column: str, line: int) -> float | None:
    if column not in row:
        raise GradesError(
            f"Line {line} has no {column!r}. Write the grade, or null where there is none."
        )
    value = row[column]
    if value is None:
        return None
    is_boolean = isinstance(value, bool)
    # NaN fails the range check.
    if is_boolean or not isinstance(value, int | float) or not WORST <= value <= BEST:
        raise GradesError(
            f"Line {line} has {_quote(value)} in {column!r}. Grades are numbers from {WORST} to "
            f"{BEST}, with {BEST} the best in both framings. Correct it, or write null where "
            "there is none."
        )
    return float(value)


def _quote(value: object) -> str:
    return "nothing" if value is None else repr(value)[:50]


MAX_ROWS = 1_000_000
MAX_JUDGES = 100  # a panel has at most ten; more means that a wrong column was read
EXAMPLE_LINE = '{"item": "1", "framing": "pos", "judge": "a", "author": "b", "score": 4}'


@dataclass(frozen=True, slots=True)
class GradesFile:
    """The grades of a file, and the column they were read from."""

    grades: tuple[Grade, ...]
    column: str


def read_grades(name: str, content: bytes, *, strict: bool = False) -> GradesFile:
    """Return the grades of a file. Raise GradesError that names the line and what is wrong with it.

    Scores are read from the published column if there is one and `strict` is False.
    """
    try:
        return _parse_grades(_decode(content), strict=strict)
    except GradesError as error:
        raise GradesError(f"{name}: {error}") from None


def _parse_grades(text: str, *, strict: bool) -> GradesFile:
    column = STRICT_COLUMN
    grades: list[Grade] = []
    seen: dict[tuple[str, Framing, str, str], int] = {}
    groups: dict[str, str] = {}
    truths: dict[tuple[str, str], float | None] = {}
    for number, row in _parse_rows(text):
        if not grades and not strict and PUBLISHED_COLUMN in row:
            column = PUBLISHED_COLUMN
        grade = parse_grade(row, number, column)
        key = (grade.item, grade.framing, grade.judge, grade.author)
        if seen.setdefault(key, number) != number:
            raise GradesError(
                f"Lines {seen[key]} and {number} hold the same judge's grade of the same work. "
                "Keep one of them."
            )
        if groups.setdefault(grade.item, grade.group) != grade.group:
            raise GradesError(
                f"Line {number} puts item {grade.item!r} in another group than a line before. Give "
                "all lines of an item the same group."
            )
        if truths.setdefault((grade.item, grade.author), grade.truth) != grade.truth:
            raise GradesError(
                f"Line {number} has another truth for the same work than a line before. Give all "
                "lines of the work the same score."
            )
        if len(grades) == MAX_ROWS:
            raise GradesError(
                f"The file has more than {MAX_ROWS:,} lines. Split it into several files."
            )
        grades.append(grade)
    _check_grades(grades)
    return GradesFile(tuple(grades), column)


def _check_grades(grades: list[Grade]) -> None:
    if not grades:
        raise GradesError(f"The file has no grades. Write one per line, such as {EXAMPLE_LINE}.")
    ungrouped = next((grade.item for grade in grades if not grade.group), None)
    if ungrouped is not None and any(grade.group for grade in grades):
        raise GradesError(f"Item {ungrouped!r} has no group, but others do. Give it one.")
    judges = len({grade.judge for grade in grades})
    if judges > MAX_JUDGES:
        raise GradesError(
            f"The file names {judges:,} judges, but at most {MAX_JUDGES} can be compared. Check "
            "that “judge” holds who graded."
        )


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise GradesError(f"Line {line} is not UTF-8. Save the file as UTF-8.") from None


def _parse_rows(text: str) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _parse_row(line, number)


def _parse_row(line: str, number: int) -> dict[str, object]:
    try:
        row = json.loads(line)
    # RecursionError: nested too deep. ValueError: no JSON, or a number that is too long.
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise GradesError(
            f"Line {number} is not a JSON object. Write each grade as {EXAMPLE_LINE}."
        )
    return row
