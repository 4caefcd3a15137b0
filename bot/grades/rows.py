"""One line of a file of grades, checked."""

from collections.abc import Mapping

from council.errors import GradesError
from council.research.grades import BEST, WORST, Framing, Grade

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
