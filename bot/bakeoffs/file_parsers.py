"""Parsers of CSV, JSON and YAML that know lines, within bounds; and the files beside a file."""

import csv
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path

import yaml

from bot.attachments import OFFICE_FILES, decode_utf
from council.errors import SuiteError

MAX_BYTES = 2_000_000  # of a file, and of all files beside it
MAX_NODES = 100_000  # of YAML
MAX_COLUMNS = 100
_MAX_CELLS = 300_000
_MAX_JSON_DEPTH = 50
_MAX_YAML_DEPTH = 20
_MAX_FILES = 200
_TOO_DEEP = f"It is nested more than {_MAX_JSON_DEPTH} deep"
_SHAPES = 'a question, or {"question": …, "answer": …}'
_PAIRS = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}", re.IGNORECASE)
_MISSING = ("nan", "inf", "infinity")  # no numbers that an answer could be
_JSON_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}
# How files begin that are no text, and what helps.
_BINARY: dict[bytes | tuple[bytes, ...], str] = {
    OFFICE_FILES: "is a spreadsheet or an archive. Save the sheet as “CSV UTF-8”, and send that.",
    b"version https://git-lfs.github.com/spec/": (
        "is a Git LFS pointer, not the file itself. Fetch the file with `git lfs pull`, and send "
        "that."
    ),
    b"PAR1": (
        "is a Parquet file. Convert it with pandas, "
        '`read_parquet("…").to_json("suite.jsonl", orient="records", lines=True)`, and send that.'
    ),
    b"\x1f\x8b": "is compressed. Unpack it with `gunzip`, and send that.",
}


def check_size(filename: str, size: int) -> None:
    """Raise SuiteError for a file of more than MAX_BYTES bytes."""
    if size > MAX_BYTES:
        raise SuiteError(
            f"{filename} has {size:,} bytes, and a suite can have {MAX_BYTES:,} at most. Split "
            "it into several."
        )


def decode(filename: str, content: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with a byte order mark."""
    check_size(filename, len(content))
    for start, why in _BINARY.items():
        if content.startswith(start):
            raise SuiteError(f"{filename} {why}")
    try:
        text = decode_utf(content)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SuiteError(
            f"Line {line} of {filename} is not UTF-8. Save the file as UTF-8, in a spreadsheet "
            "as “CSV UTF-8”."
        ) from None
    if "\0" in text:
        raise SuiteError(f"{filename} is not a text file. Save it as text in UTF-8, and send that.")
    return text


class NearbyFiles:
    """The files in a folder and below it, each read once; without a folder there are none."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._texts: dict[Path, str] = {}
        self._bytes_left = MAX_BYTES

    def read(self, name: str) -> str:
        """Return the text of a file; raise SuiteError, with what to do, if it can't be read."""
        if self._folder is None:
            raise SuiteError(
                "it is another file; copy its text into this one, or use `council suite add` "
                "where both are"
            )
        try:
            folder = self._folder.resolve(strict=True)
            path = (folder / name).resolve(strict=True)
            if not path.is_relative_to(folder):
                raise SuiteError("it is not in the folder of this file; copy it there")
            if any(part.startswith(".") for part in path.relative_to(folder).parts):
                raise SuiteError("hidden files are not read; rename it")
            if path not in self._texts:
                self._texts[path] = self._read(path)
            return self._texts[path]
        except (OSError, ValueError, RuntimeError):
            raise SuiteError("there is no such file, or it can't be read") from None

    def _read(self, path: Path) -> str:
        if len(self._texts) == _MAX_FILES:
            raise SuiteError(f"more than {_MAX_FILES} files belong to this one; join some of them")
        # The path has no links, so one that appears meanwhile is not followed.
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise SuiteError("it is no file")
            content = file.read(self._bytes_left + 1)
        self._bytes_left -= len(content)
        if self._bytes_left < 0:
            raise SuiteError(f"the files beside this one have more than {MAX_BYTES:,} bytes")
        return decode(path.name, content).replace("\r\n", "\n")


# --- JSON and CSV


_BRACKETS = re.compile(r'"(?:[^"\\]+|\\.)*"?|[\[\]{}]', re.DOTALL)  # and texts


def parse_json(text: str) -> object:
    """Return the value of JSON; raise ValueError if it is invalid, with its place if too deep."""
    depth, is_short = 0, text.count("[") + text.count("{") <= _MAX_JSON_DEPTH
    for match in () if is_short else _BRACKETS.finditer(text):
        depth += (match[0] in "[{") - (match[0] in "]}")
        if depth > _MAX_JSON_DEPTH:
            raise json.JSONDecodeError(_TOO_DEEP, text, match.start())
    return json.loads(text)


def load_json(text: str, number: int) -> object:
    """Return the value of JSON that begins at a line; raise SuiteError with the line at fault."""
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        before, after = text[: error.pos].rstrip(), text[error.pos :].lstrip()
        is_comma = before.endswith(",") and after.startswith(("]", "}"))
        helps = "Remove the comma before it" if is_comma else f"Write {_SHAPES}"
        raise SuiteError(
            f"Line {number + error.lineno - 1} is not valid JSON ({error.msg} at character "
            f"{error.colno}). {helps}."
        ) from None
    except ValueError:  # an endless number
        raise SuiteError(f"Line {number} can't be read as JSON. Write {_SHAPES}.") from None


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def read_rows(text: str, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file that are not empty, each with the number of its first line."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    cells = 0
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise SuiteError(
                f"Line {line} is not valid CSV ({error}). Close every quote, and double those "
                "inside one."
            ) from None
        if len(row) > MAX_COLUMNS:
            raise SuiteError(f"Line {line} has more than {MAX_COLUMNS:,} columns. Remove some.")
        cells += len(row)
        if cells > _MAX_CELLS:
            raise SuiteError(
                f"Up to line {line} there are more than {_MAX_CELLS:,} cells. Remove columns that "
                "a suite does not need, or split it into several suites."
            )
        if any(cell.strip() for cell in row):
            yield line, row


def check_header(names: Sequence[str], where: str) -> None:
    """Raise SuiteError for a header that names a column twice."""
    lower = [name.strip().lower() for name in names]
    for name in filter(None, lower):
        if lower.count(name) > 1:
            raise SuiteError(f"{where} names the column {name[:40]!r} twice. Keep one.")


def row_fields(names: Sequence[str], row: Sequence[str], where: str) -> dict[str, str]:
    """Return the cells of a row by the names of a header; raise SuiteError if they do not fit."""
    if any(cell.strip() for cell in row[len(names) :]):
        raise SuiteError(
            f"{where} has {len(row)} columns, but the header has {len(names)}. Put a text with a "
            "comma in double quotes."
        )
    fields = dict(zip(names, row, strict=False))
    unnamed = [cell for name, cell in zip(names, row, strict=False) if not name and cell.strip()]
    if unnamed and names[0]:  # the first column of pandas has no name
        raise SuiteError(f"{where} has a cell without a column name. Add it to the header.")
    return {name: cell for name, cell in fields.items() if name}


# --- YAML, as nodes that know their lines


def compose_yaml(text: str, filename: str = "") -> yaml.Node | None:
    """Return the root of YAML or JSON; its nodes know their lines, and the file if it is named."""
    try:
        _check_bounds(text)
        stream = StringIO(text)
        stream.name = filename  # yaml reads it
        root: yaml.Node | None = yaml.compose(stream, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SuiteError(
            f"Line {line} is not valid YAML ({error.problem or 'it is broken'}). Write a list "
            "with each question after “- ”, in quotes if it has a colon."
        ) from None
    except yaml.YAMLError:
        raise SuiteError("This YAML can't be read. Write each question after “- ”.") from None
    return root


def compose_json(text: str, filename: str = "") -> yaml.Node | None:
    """Return the root of JSON; its nodes know their lines."""
    load_json(text, 1)
    # YAML has no escapes of half a character.
    return compose_yaml(_PAIRS.sub(lambda pair: str(json.loads(f'"{pair[0]}"')), text), filename)


def _check_bounds(text: str) -> None:
    """Raise YAMLError for a deep document, which would exhaust the stack of the parser in C.

    Raise SuiteError for one with more than MAX_NODES values, which would exhaust the memory.
    """
    depth = nodes = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        nodes += isinstance(event, yaml.NodeEvent)
        if depth > _MAX_YAML_DEPTH:
            raise yaml.YAMLError("it is nested too deeply")
        if nodes > MAX_NODES:
            raise SuiteError(
                f"{line_of(event)}: up to here it has more than {MAX_NODES:,} values. Save it as "
                ".csv or .jsonl, or split it."
            )


def node_of(value: object, mark: yaml.Mark) -> yaml.Node:
    """Return a JSON value as a node with a place."""
    if isinstance(value, dict):
        pairs = [(node_of(str(key), mark), node_of(one, mark)) for key, one in value.items()]
        return yaml.MappingNode("tag:yaml.org,2002:map", pairs, mark)
    if isinstance(value, list):
        return yaml.SequenceNode("tag:yaml.org,2002:seq", [node_of(x, mark) for x in value], mark)
    text = value if isinstance(value, str) else json.dumps(value)
    tag = {type(None): "null", bool: "bool", int: "int", float: "float"}.get(type(value), "str")
    return yaml.ScalarNode(f"tag:yaml.org,2002:{tag}", text, mark)


def mark_at(line: int, filename: str = "") -> yaml.Mark:
    """Return the place of a line of a file."""
    return yaml.Mark(filename, 0, line - 1, 0, None, 0)


def line_of(node: yaml.Node | yaml.Event) -> str:
    """Return the place of a node: "Line 7", or "Line 7 of tests.csv"."""
    mark = node.start_mark
    if mark is None:
        return "Line 1"
    is_named = mark.name and not mark.name.startswith("<")
    return f"Line {mark.line + 1}" + (f" of {mark.name}" if is_named else "")


def scalar_text(node: yaml.ScalarNode) -> str:
    """Return a scalar as it is written; "" for null."""
    return "" if node.tag == "tag:yaml.org,2002:null" else str(node.value)


def node_items(node: yaml.Node | None) -> list[yaml.Node]:
    """Return the items of a list; anything else is a list of one, and None an empty one."""
    if node is None:
        return []
    return list(node.value) if isinstance(node, yaml.SequenceNode) else [node]


def node_fields(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Return the values of a mapping by their keys, with merge keys (`<<`); none of other nodes."""
    merged: dict[str, yaml.Node] = {}
    own: dict[str, yaml.Node] = {}
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.tag == "tag:yaml.org,2002:merge":
            for source in reversed(node_items(value)):
                merged |= node_fields(source)
        else:
            own[scalar_text(key) if isinstance(key, yaml.ScalarNode) else "?"] = value
    return merged | own


def plain_value(node: yaml.Node, *, as_text: bool = False) -> object:
    """Return a node as a JSON value, whose scalars stay as they are written if `as_text`."""
    if isinstance(node, yaml.SequenceNode):
        return [plain_value(item, as_text=as_text) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return {k: plain_value(one, as_text=as_text) for k, one in node_fields(node).items()}
    text = scalar_text(node) if isinstance(node, yaml.ScalarNode) else ""
    if node.tag in _JSON_TAGS and not as_text:
        with suppress(ValueError):
            return json.loads((text or "null").lower())
    is_missing = node.tag == "tag:yaml.org,2002:float" and text.strip("+-.").lower() in _MISSING
    return None if is_missing else text


def check_expansion(root: yaml.Node) -> None:
    """Raise SuiteError if aliases multiply to very many nodes or much text, or loop."""
    stack: list[yaml.Node] = [root]
    seen = characters = 0
    while stack:
        node = stack.pop()
        seen += 1
        parts: Sequence[yaml.Node] = ()
        if isinstance(node, yaml.SequenceNode):
            parts = node.value
        elif isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        else:
            characters += len(node.value)
        if seen + len(stack) > 2 * MAX_NODES or characters > MAX_BYTES:
            raise SuiteError(
                f"{line_of(node)}: its aliases expand to more text than a suite can have. "
                "Remove them."
            )
        stack.extend(parts)
