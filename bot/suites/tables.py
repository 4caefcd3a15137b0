"""Questions in CSV: under a header, or as a plain list of one column."""

import csv
from collections.abc import Iterator
from io import StringIO

from bot.suites.entries import Entry, begun, check_columns
from council.errors import SuiteError

_DELIMITERS = (",", ";", "\t")
_HEADED = "begin the file with a line such as question,category,answer"


def entries_of_csv(text: str) -> Iterator[Entry]:
    """Give the questions of a CSV file; its delimiter is a comma, a semicolon or a tab."""
    rows = _rows(text, _delimiter(text))
    first = next(rows, None)
    if first is None:
        return
    where, cells = first
    names = [cell.strip().lower() for cell in cells]
    if "question" in names:
        _check_header(names, where)
        yield from (_headed(names, row, place) for place, row in rows)
        return
    yield _alone(cells, where)
    yield from (_alone(row, place) for place, row in rows)


def _rows(text: str, delimiter: str) -> Iterator[tuple[str, list[str]]]:
    """Give each row that is not empty, with the line it begins on."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise SuiteError(
                f"Line {line} is no CSV ({error}): close every quote, and double those inside one."
            ) from None
        if any(cell.strip() for cell in row):
            yield f"line {line}", row


def _delimiter(text: str) -> str:
    """Give what parts the columns of the header; a comma where there is none."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    for delimiter in _DELIMITERS:
        names = [name.strip().strip('"').lower() for name in header.split(delimiter)]
        if "question" in names:
            return delimiter
    return ","


def _check_header(names: list[str], where: str) -> None:
    check_columns(filter(None, names), where)
    for name in filter(None, names):
        if names.count(name) > 1:
            raise SuiteError(f"{begun(where)} names the column {name!r} twice: keep one.")


def _headed(names: list[str], row: list[str], where: str) -> Entry:
    if any(cell.strip() for cell in row[len(names) :]):
        raise SuiteError(
            f"{begun(where)} has {len(row)} columns, and the header {len(names)}: put a text with "
            "a comma in double quotes."
        )
    fields = {name: cell for name, cell in zip(names, row, strict=False) if name or cell.strip()}
    if "" in fields:
        raise SuiteError(f"{begun(where)} has a cell under no name: name it in the header.")
    return Entry(where, fields)


def _alone(row: list[str], where: str) -> Entry:
    if len(row) > 1:
        raise SuiteError(
            f"{begun(where)} has {len(row)} columns and no header names them: {_HEADED}, or put "
            "each question in double quotes."
        )
    return Entry(where, {"question": row[0]})
