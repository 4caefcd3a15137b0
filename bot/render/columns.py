"""A table as lines for a font whose characters are all of one width."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from bot.chat import Table
from bot.render.untrusted import shown_text

_WIDEST = 24  # a longer cell is not waited for


def monospaced(table: Table) -> str:
    """Give the rows under each other, each cell in one line; what they say is still untrusted."""
    rows = [[_one_line(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [min(_WIDEST, max(map(cell_len, column))) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths, table.numeric) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int], numeric: frozenset[int]) -> str:
    return "  ".join(_padded(row, widths, numeric)).rstrip()


def _padded(row: Sequence[str], widths: Sequence[int], numeric: frozenset[int]) -> Iterator[str]:
    for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - cell_len(cell))
        yield space + cell if at in numeric else cell + space


def _one_line(cell: str) -> str:
    return " ".join(shown_text(cell).split())
