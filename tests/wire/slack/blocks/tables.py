"""The two tables: rows of cells, none of them empty."""

from collections.abc import Iterator

from tests.wire.slack.blocks.objects import block_id
from tests.wire.slack.blocks.rich_text import rich_text
from tests.wire.slack.blocks.shapes import (
    Check,
    Fault,
    all_of,
    anything,
    bad,
    choice,
    flag,
    many,
    number,
    shape,
    string,
    typed,
)

TABLE_TEXT = 10_000
DATA_TABLE_TEXT = 20_000

_raw: dict[str, Check] = {
    "raw_text": shape({"type": anything, "text": string(DATA_TABLE_TEXT)}),
    "raw_number": shape(
        {"type": anything, "value": number(whole=False), "text": string(DATA_TABLE_TEXT)}
    ),
}
_cell = typed({**_raw, "rich_text": rich_text})
_column = shape({}, {"align": choice("left", "center", "right"), "is_wrapped": flag})


def cell_text(value: object) -> int:
    """Count the characters in all cells of a table."""
    if isinstance(value, dict):
        own = value.get("text")
        inner = sum(cell_text(part) for name, part in value.items() if name != "text")
        return inner + (len(own) if isinstance(own, str) else 0)
    return sum(map(cell_text, value)) if isinstance(value, list) else 0


def _text_within(most: int) -> Check:
    def check(value: object, at: str) -> Iterator[Fault]:
        if isinstance(value, dict) and cell_text(value.get("rows")) > most:
            yield bad(f"no more than {most} characters in all cells allowed", f"{at}/rows")

    return check


def _rows_of(value: object) -> list[list[object]]:
    rows = value.get("rows") if isinstance(value, dict) else None
    return [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else []


def _even(value: object, at: str) -> Iterator[Fault]:
    if len({len(row) for row in _rows_of(value)}) > 1:
        yield bad("all rows must have the same number of cells", f"{at}/rows")


def _plain_header(value: object, at: str) -> Iterator[Fault]:
    for place, cell in enumerate(_rows_of(value)[0] if _rows_of(value) else []):
        if isinstance(cell, dict) and cell.get("type") == "rich_text":
            yield bad("rich_text is not allowed in the header row", f"{at}/rows/0/{place}")


table = all_of(
    shape(
        {"type": anything, "rows": many(many(_cell, 20), 100)},
        {"column_settings": many(_column, 20, 0), "block_id": block_id},
    ),
    _text_within(TABLE_TEXT),
)
data_table = all_of(
    shape(
        {"type": anything, "caption": string(3000), "rows": many(many(_cell, 20), 201, 2)},
        {
            "page_size": number(1, 100),
            "row_header_column_index": number(0, 19),
            "block_id": block_id,
        },
    ),
    _even,
    _plain_header,
    _text_within(DATA_TABLE_TEXT),
)
