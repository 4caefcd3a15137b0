"""Grades written as tables: a row per judge, a column per author, an entry a grade or "-"."""

from collections.abc import Sequence

from council.research.grades import Framing, Grade

POS, NEG = Framing.POSITIVE, Framing.NEGATIVE


def graded(item: str, table: str, framing: Framing = POS, names: str = "abcdefgh") -> list[Grade]:
    """Return the grades of one item: "4 2 3 / 3 4 -" are two judges' of three authors."""
    return [
        Grade(item, framing, names[judge], names[author], None if cell == "-" else float(cell))
        for judge, row in enumerate(table.split("/"))
        for author, cell in enumerate(row.split())
    ]


def over_items(tables: Sequence[str], framing: Framing = POS) -> list[Grade]:
    """Return the grades of several items."""
    return [
        grade for item, table in enumerate(tables) for grade in graded(f"i{item}", table, framing)
    ]
