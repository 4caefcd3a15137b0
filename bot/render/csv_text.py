"""CSV that spreadsheets open without evaluating any text as a formula."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

# What a spreadsheet takes for the start of a formula; a number with a sign is none.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,]+\Z)")


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as CSV with a header; what a row lacks is empty."""
    buffer = StringIO(newline="")
    writer = csv.DictWriter(buffer, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: csv_cell(value) for key, value in row.items()} for row in rows)
    return buffer.getvalue()


def csv_cell(value: object) -> object:
    """Return a value for a CSV cell; an apostrophe keeps spreadsheets from evaluating a text."""
    is_formula = isinstance(value, str) and _FORMULA.match(value.lstrip("'"))
    return f"'{value}" if is_formula else value


def cell_value(cell: str) -> str:
    """Return the text of a cell that `csv_cell` made: without the apostrophe, if it added one."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell.lstrip("'")) else cell
