"""Questions as JSON Lines or JSON, or a line each."""

import json
from collections.abc import Iterator

from bot.suites.entries import Entry, begun
from council.errors import SuiteError

SHAPES = 'a question, or {"question": …, "answer": …}'


class _Written(str):
    """A number, as it was written."""

    __slots__ = ()


def entries_of_lines(text: str) -> Iterator[Entry]:
    """Give a question for each line that is not empty."""
    for number, line in enumerate(_lines(text), start=1):
        if line.strip():
            yield Entry(f"line {number}", {"question": line})


def entries_of_json_lines(text: str) -> Iterator[Entry]:
    """Give a question for each line of JSON: a text, or an object with columns."""
    for number, line in enumerate(_lines(text), start=1):
        if line.strip():
            yield entry_of(_json(line, number), f"line {number}")


def entries_of_json(text: str) -> Iterator[Entry]:
    """Give the questions of a list in JSON."""
    if not text.strip():
        return
    items = _json(text, 1)
    if not isinstance(items, list):
        raise SuiteError(f"Line 1 begins no list: write [ and ] around the questions, {SHAPES}.")
    for number, item in enumerate(items, start=1):
        yield entry_of(item, f"question {number}")


def entry_of(item: object, where: str) -> Entry:
    """Give what a text or a mapping says of a question."""
    if isinstance(item, str) and not isinstance(item, _Written):
        return Entry(where, {"question": item})
    if not isinstance(item, dict):
        raise SuiteError(f"{begun(where)} is no question: write {SHAPES}.")
    return Entry(where, {str(key): _text(value, str(key), where) for key, value in item.items()})


def _text(value: object, key: str, where: str) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
    raise SuiteError(f"{begun(where)}: {key[:40]!r} must be a text or a number.")


def _json(text: str, number: int) -> object:
    try:
        return json.loads(text, parse_float=_Written, parse_int=_Written, parse_constant=_Written)
    except json.JSONDecodeError as error:
        raise SuiteError(
            f"Line {number + error.lineno - 1} is no JSON ({error.msg} at character "
            f"{error.colno}): write {SHAPES}."
        ) from None
    except RecursionError:
        raise SuiteError(f"Line {number} is nested too deep: write {SHAPES}.") from None


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
