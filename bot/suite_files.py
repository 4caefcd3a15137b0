"""From the bytes of a file to its text, or to a sentence about why they are none."""

import codecs
import csv
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import get_close_matches
from io import StringIO
from math import nan
from pathlib import PurePath
from typing import Any

import yaml

from bot.chat.incoming import MOST_CHARACTERS, cleaned
from council.bakeoffs.grading import check_reference, usual_grading
from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion
from council.bakeoffs.ports import SuiteStore
from council.errors import SuiteError

# --- From the bytes of a file to its text, or to a sentence about why they are none.

MAX_BYTES = 2_000_000
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # .xlsx and .ods, .xls


def decoded(filename: str, content: bytes) -> str:
    """Give the text of a file; SuiteError says what to do with one that is not UTF-8.

    UTF-16 is read where it says so itself, as spreadsheets have it.
    """
    check_size(filename, len(content))
    if content.startswith(_SPREADSHEETS):
        raise SuiteError(
            f"{filename} is a spreadsheet or an archive: save the sheet as “CSV UTF-8”, and send "
            "that."
        )
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SuiteError(
            f"Line {line} of {filename} is not UTF-8: save the file as UTF-8, in a spreadsheet as "
            "“CSV UTF-8”."
        ) from None
    if "\0" in text:
        raise SuiteError(f"{filename} is no text: save it as text in UTF-8, and send that.")
    return text


def check_size(filename: str, size: int) -> None:
    """Raise SuiteError for a file of more bytes than a suite takes."""
    if size > MAX_BYTES:
        raise SuiteError(
            f"{filename} has {size:,} bytes, and a suite takes {MAX_BYTES:,} at most: make "
            "several of it."
        )


# --- One question as a file has it, checked: every fault is a sentence that says where it is.

COLUMNS = ("question", "category", "answer", "grading", "tolerance", "context")
MOST_QUESTIONS = 1_000
LONGEST_CATEGORY = 60


@dataclass(frozen=True, slots=True)
class Entry:
    """What a file says of one question, by column, and where it says so: "line 7"."""

    where: str
    fields: Mapping[str, str] = field(default_factory=dict)


def questions_of(entries: Iterable[Entry], category: str = "") -> tuple[SuiteQuestion, ...]:
    """Give the questions, in this category where they name none; SuiteError for a fault."""
    seen: dict[tuple[str, str], str] = {}
    questions: list[SuiteQuestion] = []
    for entry in entries:
        if len(questions) == MOST_QUESTIONS:
            raise SuiteError(
                f"There are more than {MOST_QUESTIONS:,} questions, the most that a suite takes: "
                "keep those that matter, or make several suites of them."
            )
        question = _checked(entry, category)
        same = _folded(question)
        if same in seen:
            raise SuiteError(
                f"{begun(entry.where)} asks the same as {seen[same]}: take one of them out."
            )
        seen[same] = entry.where
        questions.append(question)
    if not questions:
        raise SuiteError("There is no question in it: write one a line, or see docs/bakeoffs.md.")
    return tuple(questions)


def check_columns(names: Iterable[str], where: str) -> None:
    """Raise SuiteError for a column that says nothing to us."""
    for name in names:
        if name in COLUMNS:
            continue
        near = get_close_matches(name, COLUMNS, 1)
        meant = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(COLUMNS)}."
        raise SuiteError(f"{begun(where)} names a column {name[:40]!r} that I do not know: {meant}")


def same_question(one: SuiteQuestion, other: SuiteQuestion) -> bool:
    """Say whether two questions ask the same, about the same."""
    return _folded(one) == _folded(other)


def _checked(entry: Entry, category: str) -> SuiteQuestion:
    check_columns(entry.fields, entry.where)
    given = {name: cleaned(text) for name, text in entry.fields.items()}
    text, context = given.get("question", ""), given.get("context", "")
    if not text:
        raise SuiteError(f"{begun(entry.where)} holds no question: write it, or take the line out.")
    if len(text) + len(context) > MOST_CHARACTERS:
        raise SuiteError(
            f"{begun(entry.where)} has a question of {len(text) + len(context):,} characters, and "
            f"at most {MOST_CHARACTERS:,} can be asked: shorten it."
        )
    label = given.get("category") or category
    if len(label) > LONGEST_CATEGORY:
        raise SuiteError(
            f"{begun(entry.where)} has a category of {len(label):,} characters: "
            f"{LONGEST_CATEGORY} are enough for its name."
        )
    return SuiteQuestion(text, " ".join(label.split()), _reference(entry.where, given), context)


def _reference(where: str, given: Mapping[str, str]) -> Reference | None:
    """Give the answer that is known to be right; None where the file names none."""
    value, tolerance = given.get("answer", ""), given.get("tolerance", "")
    if not (value or given.get("grading") or tolerance):
        return None
    grading = _grading(where, given.get("grading", "")) or usual_grading(value)
    reference = Reference(grading, value, _tolerance(tolerance))
    try:
        check_reference(reference)
    except SuiteError as error:
        raise SuiteError(f"{begun(where)}: {str(error)[0].lower()}{str(error)[1:]}") from None
    return reference


def _grading(where: str, name: str) -> Grading | None:
    if not name:
        return None
    try:
        return Grading(name.lower())
    except ValueError:
        known = ", ".join(Grading)
        raise SuiteError(
            f"{begun(where)} grades as {name[:40]!r}, which I do not know: choose one of {known}."
        ) from None


def _tolerance(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return nan  # which is refused with the others


def _folded(question: SuiteQuestion) -> tuple[str, str]:
    text, context = (" ".join(x.casefold().split()) for x in (question.text, question.context))
    return text, context


def begun(where: str) -> str:
    """Give a place as the beginning of a sentence."""
    return f"{where[0].upper()}{where[1:]}"


# --- Questions as JSON Lines or JSON, or a line each.

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


# --- Questions in CSV: under a header, or as a plain list of one column.

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


# --- Questions as a YAML list: what is written is read as text, so that `no` stays "no".

_NULL = "tag:yaml.org,2002:null"


def entries_of_yaml(text: str) -> Iterator[Entry]:
    """Give the questions of a YAML list, each a text or a mapping."""
    root = _composed(text)
    if root is None:
        return
    if not isinstance(root, yaml.SequenceNode):
        raise SuiteError(f"{_place(root)} begins no list: write each question after “- ”.")
    for node in root.value:
        yield Entry(_place(node).lower(), _fields(node))


def _composed(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SuiteError(
            f"Line {line} is no YAML ({error.problem or 'it is broken'}): write a list, each "
            "question after “- ”, in quotes where it holds a colon."
        ) from None
    except (yaml.YAMLError, RecursionError):
        raise SuiteError(
            "It is no YAML that can be read: write each question after “- ”."
        ) from None


def _fields(node: yaml.Node) -> dict[str, str]:
    if isinstance(node, yaml.ScalarNode):
        return {"question": _scalar(node)}
    if not isinstance(node, yaml.MappingNode):
        raise SuiteError(f"{_place(node)} is no question: write {SHAPES}.")
    fields: dict[str, str] = {}
    for key, value in node.value:
        if not (isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)):
            raise SuiteError(f"{_place(key)} must hold a text or a number.")
        fields[str(key.value)] = _scalar(value)
    return fields


def _scalar(node: yaml.ScalarNode) -> str:
    return "" if node.tag == _NULL else str(node.value)


def _place(node: yaml.Node) -> str:
    return f"Line {node.start_mark.line + 1}"


# --- What a suite may be called, so that it can be typed in a command.

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
RESERVED = {"list", "show", "add", "remove", "keep", "leave", "last", "cancel", "resume", "now"}


def checked_name(name: str) -> str:
    """Give a suite's name in small letters; SuiteError for one that could not be typed."""
    small = name.strip().lower()
    if not _NAME.fullmatch(small) or small in RESERVED:
        raise SuiteError(
            f"A suite cannot be called {name[:50]!r}: take one word of at most 40 letters, digits, "
            "dots, - and _, such as sql-basics."
        )
    return small


def name_from(filename: str) -> str:
    """Give a file's own name as a suite's."""
    return checked_name(PurePath(filename).stem.replace(" ", "-"))


# --- Suites read from files: CSV, JSON Lines, YAML, JSON, TOML, or a question a line.

READERS: dict[str, Callable[[str], Iterable[Entry]]] = {
    ".csv": entries_of_csv,
    ".tsv": entries_of_csv,
    ".jsonl": entries_of_json_lines,
    ".ndjson": entries_of_json_lines,
    ".yaml": entries_of_yaml,
    ".yml": entries_of_yaml,
    ".json": entries_of_json,
    ".txt": entries_of_lines,
}
TOML = ".toml"
_SETTINGS = ("questions", "category", "judges_see_references")


def read_suite(name: str, filename: str, text: str) -> Suite:
    """Give the house's suite that a file holds; SuiteError names the line that is at fault."""
    name = checked_name(name)
    ending = PurePath(filename).suffix.lower()
    try:
        if ending == TOML:
            return _from_toml(name, text)
        return Suite(name, questions_of(_reader(filename, ending)(text)))
    except SuiteError as error:
        raise SuiteError(f"{filename}: {error}") from None


def read_file(name: str, filename: str, content: bytes) -> Suite:
    """Give the suite that a file's bytes hold."""
    return read_suite(name, filename, decoded(filename, content))


def read_lines(name: str, lines: str) -> Suite:
    """Give the suite of questions that somebody typed, one a line."""
    return Suite(checked_name(name), questions_of(entries_of_lines(lines)))


def suite_of(name: str, items: Iterable[object], category: str = "") -> Suite:
    """Give a suite of texts and mappings, as settings list them."""
    entries = (entry_of(item, f"question {n}") for n, item in enumerate(items, start=1))
    return Suite(checked_name(name), questions_of(entries, category))


def _reader(filename: str, ending: str) -> Callable[[str], Iterable[Entry]]:
    if ending not in READERS:
        raise SuiteError(
            "I read suites from .csv, .jsonl, .yaml, .json, .toml and .txt: save it as one of "
            "these, a question a line."
        )
    return READERS[ending]


def _from_toml(name: str, text: str) -> Suite:
    """Give the suite of a file that is written as a section of council.toml."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SuiteError(f"It is no TOML: {error}.") from None
    if unknown := [name for name in document if name not in _SETTINGS]:
        raise SuiteError(
            f"There is no setting {unknown[0]!r} of a suite; known are {', '.join(_SETTINGS)}."
        )
    questions, seen = document.get("questions"), document.get("judges_see_references", False)
    category = document.get("category", "")
    if not isinstance(questions, list):
        raise SuiteError('Its questions are missing: write questions = ["…", "…"].')
    if not (isinstance(seen, bool) and isinstance(category, str)):
        raise SuiteError("category is a text, and judges_see_references true or false.")
    read = suite_of(name, questions, category)
    return Suite(name, read.questions, judges_see_references=seen)


def in_category(suite: Suite, category: str) -> Suite:
    """Give a suite whose questions without a category are in this one."""
    named = (
        replace(question, category=question.category or category) for question in suite.questions
    )
    return replace(suite, questions=tuple(named))


# --- A suite written down: as JSON, and as CSV that reads back as the same suite.


def suite_document(suite: Suite) -> dict[str, Any]:
    """Give everything a suite holds, as JSON has it."""
    return {
        "name": suite.name,
        "version": suite.version,
        "judges_see_references": suite.judges_see_references,
        "questions": [question_fields(question) for question in suite.questions],
    }


def question_fields(question: SuiteQuestion) -> dict[str, str]:
    """Give what a question has, by column; what it has not is left out."""
    reference = question.reference
    tolerance = repr(reference.tolerance) if reference and reference.tolerance else ""
    fields = {
        "question": question.text,
        "category": question.category,
        "answer": reference.value if reference else "",
        "grading": reference.grading.value if reference else "",
        "tolerance": tolerance,
        "context": question.context,
    }
    return {name: text for name, text in fields.items() if text}


def as_csv(suite: Suite) -> str:
    """Give a suite as CSV with a header."""
    out = StringIO(newline="")
    rows = [question_fields(question) for question in suite.questions]
    used = [name for name in COLUMNS if any(name in row for row in rows)]
    writer = csv.DictWriter(out, used, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


# --- The house's own suites, kept when the bot starts; what has not changed is left alone.

HOUSE = "council.toml"  # by whom they were kept


async def keep_house(suites: SuiteStore, read: Iterable[Suite], at: datetime) -> None:
    """Have every suite of council.toml be the newest version of its name."""
    for suite in read:
        await suites.keep(suite, HOUSE, at)
