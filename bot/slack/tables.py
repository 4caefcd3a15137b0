"""A table as a block, at two levels: one that sorts, and one that stands."""

import re
from collections.abc import Sequence

from bot.chat import Table
from bot.render.text_safety import shortened
from bot.slack.limits import (
    DATA_TABLE_PAGE,
    DATA_TABLE_ROWS,
    PLAIN_TEXT,
    TABLE_COLUMNS,
    TABLE_ROWS,
    TABLE_TEXT,
)
from bot.slack.plain import inert, one_line
from bot.slack.rich import Block

_EMPTY = "–"  # Slack takes no empty cell
_NUMBER = re.compile(
    r"(?P<before>\D*?)(?P<number>[-−]?\d+(?:,\d{3})*(?:\.\d+)?)(?P<after>.*)", re.S
)
_LONGEST_NUMBER = 15


def data_table_block(table: Table, caption: str) -> Block | None:
    """Give the table that sorts and turns pages; None where it is too large for one."""
    rows = _rows(table)
    if not _within(rows, DATA_TABLE_ROWS) or not table.rows:
        return None
    numbers = [_numbers(table, column) for column in range(len(table.columns))]
    cells = [
        [_raw(cell, values[at]) for cell, values in zip(row, numbers, strict=True)]
        for at, row in enumerate(rows[1:])
    ]
    return {
        "type": "data_table",
        "caption": shortened(one_line(caption) or "Table", PLAIN_TEXT),
        "page_size": min(len(table.rows), DATA_TABLE_PAGE),
        "rows": [[_raw(cell) for cell in rows[0]], *cells],
    }


def table_block(table: Table) -> Block | None:
    """Give the plain table block; None where the table is too large for one."""
    rows = _rows(table)
    if not _within(rows, TABLE_ROWS):
        return None
    return {
        "type": "table",
        "rows": [[_raw(cell) for cell in row] for row in rows],
        "column_settings": [
            {"align": "right" if at in table.numeric else "left", "is_wrapped": True}
            for at in range(len(table.columns))
        ],
    }


def _rows(table: Table) -> list[list[str]]:
    """Give all rows inert, none of their cells empty; a column of places is headed #."""
    head = [
        inert(name).strip() or ("#" if at in table.numeric else _EMPTY)
        for at, name in enumerate(table.columns)
    ]
    return [head, *([inert(cell).strip() or _EMPTY for cell in row] for row in table.rows)]


def _within(rows: Sequence[Sequence[str]], most: int) -> bool:
    columns = len(rows[0])
    return (
        len(rows) <= most
        and 1 <= columns <= TABLE_COLUMNS
        and all(len(row) == columns for row in rows)
        and sum(len(cell) for row in rows for cell in row) <= TABLE_TEXT
    )


def _raw(cell: str, value: float | None = None) -> Block:
    if value is None:
        return {"type": "raw_text", "text": cell}
    return {"type": "raw_number", "value": value, "text": cell}


def _numbers(table: Table, column: int) -> list[float | None]:
    """Give what a numeric column sorts by: nothing unless all its numbers have one unit."""
    nothing: list[float | None] = [None] * len(table.rows)
    if column not in table.numeric:
        return nothing
    found = [_NUMBER.fullmatch(row[column].strip()) for row in table.rows]
    units = {(number["before"], number["after"]) for number in found if number}
    if len(units) != 1:
        return nothing
    return [_value(number["number"]) if number else None for number in found]


def _value(digits: str) -> float | None:
    """Give a number as Slack takes it; digits beyond those of a float stay text."""
    if len(digits) > _LONGEST_NUMBER:
        return None
    plain = digits.replace(",", "").replace("−", "-")
    return float(plain) if "." in plain else int(plain)
