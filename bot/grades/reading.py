"""Grades read from JSON Lines; every fault is a sentence that names the line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from bot.grades.rows import PUBLISHED, STRICT, grade_of
from council.errors import GradesError
from council.research.grades import Framing, Grade

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
