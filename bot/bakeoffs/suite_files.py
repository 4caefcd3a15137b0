"""Suite files: parsers of CSV, JSON, YAML and text within bounds, and writers of JSON and CSV."""

import csv
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from math import nan
from pathlib import PurePath
from types import FunctionType
from typing import Any

import yaml

from bot.attachments import OFFICE_FILES, decode_utf
from bot.bakeoffs.suite_imports import (
    Entry,
    Imported,
    LeftOut,
    import_alpaca,
    import_evals_line,
    import_promptfoo,
    is_alpaca,
    is_evals_line,
    is_promptfoo,
    line_of,
    scalar_text,
)
from bot.chat import MAX_QUESTION_CHARACTERS, clean_text
from council.bakeoffs.graders import check_reference, default_reference, final_number
from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion
from council.errors import SuiteError
from council.registry import NO_PLUGINS, Registry

MAX_BYTES = 200_000
MAX_QUESTIONS = 1_000
COLUMNS = ("question", "category", "answer", "grading", "tolerance", "rubric", "context", "checks")
_HEADERS = {*COLUMNS, "questions", "prompt", "prompts", "problem", "query", "input", "text"}
_MAX_CATEGORY = 60  # characters
_SHAPES = 'a question, or {"question": …, "answer": …}'
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_RESERVED = {"list", "show", "add", "remove", "keep", "leave", "last", "cancel", "resume", "now"}
_MAX_YAML_DEPTH = 20
_MAX_FAULTS = 5  # named where a file has nothing usable
# What a spreadsheet takes for the start of a formula; a number with a sign is none.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,]+\Z)")
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """The suite in a file, and what of a file for another tool a suite cannot have."""

    suite: Suite
    left_out: tuple[LeftOut, ...] = ()


def read_suite_file(
    name: str,
    filename: str,
    content: bytes,
    category: str = "",
    *,
    partial: bool = False,
    registry: Registry = NO_PLUGINS,
) -> SuiteFile:
    """Return the suite in a file's bytes; SuiteError names the line that is wrong.

    `category` is that of questions that name none. A question that lost a part of its grader is
    graded by the rest if `partial`; else it gets no grade. The registry has the graders and
    formats of plug-ins.
    """
    text = _decode(filename, content)
    name = validate_suite_name(name)
    suffix = PurePath(filename).suffix.lower()
    parse = PARSERS.get(suffix) or _plugin_parser(suffix, registry)
    if parse is None:
        raise SuiteError(
            f"{filename}: this type of file is not supported. "
            f"{registry.missing_part('suite_formats', suffix)}Save it as .csv, .jsonl, .yaml, "
            ".json or .txt, one question per line."
        )
    left_out: dict[LeftOut, None] = {}
    parsed = _parse_yaml(text, registry.graders) if parse is _parse_yaml else parse(text)
    entries = (_whole(entry, partial=partial) for entry in parsed)
    try:
        questions = _parse_questions(entries, category, left_out, registry)
    except SuiteError as error:
        raise SuiteError(f"{filename}: {error}") from None
    return SuiteFile(Suite(name, questions), tuple(left_out))


def _whole(entry: Entry | LeftOut, *, partial: bool) -> Entry | LeftOut:
    if isinstance(entry, LeftOut):
        return entry
    return entry._replace(fields=entry.columns(partial=partial))


def parse_suite_file(
    name: str,
    filename: str,
    content: bytes,
    category: str = "",
    registry: Registry = NO_PLUGINS,
) -> Suite:
    """Return the whole suite in a file's bytes; SuiteError if a part cannot be imported."""
    file = read_suite_file(name, filename, content, category, registry=registry)
    if file.left_out:
        raise SuiteError(
            f"{filename}: {_left_out_sentence(file.left_out)} Import the rest with "
            f"`council suite add {file.suite.name} {filename}`."
        )
    return file.suite


def parse_suite_lines(name: str, lines: str) -> Suite:
    """Return the suite of the questions in a message, one a line."""
    return Suite(validate_suite_name(name), _parse_questions(_parse_lines(lines)))


def suite_from_rows(
    name: str, rows: Iterable[Mapping[str, str]], registry: Registry = NO_PLUGINS
) -> Suite:
    """Return the suite of the rows of a form, by column; empty rows do not count."""
    entries = (
        Entry(f"Question {n}", {column: cell for column, cell in row.items() if cell.strip()})
        for n, row in enumerate(rows, start=1)
        if any(cell.strip() for cell in row.values())
    )
    return Suite(validate_suite_name(name), _parse_questions(entries, registry=registry))


def suite_from_section(
    name: str, items: Iterable[object], category: str = "", registry: Registry = NO_PLUGINS
) -> Suite:
    """Return the suite of a list of strings and mappings from council.toml."""
    questions = _parse_questions(_parse_items(items), category, registry=registry)
    return Suite(validate_suite_name(name), questions)


def suite_suffixes(registry: Registry) -> list[str]:
    """Return how the names of files end that can have a suite, such as ".csv"."""
    return [*PARSERS, *registry.suite_formats]


def validate_suite_name(name: str) -> str:
    """Return a suite's name in lower case; SuiteError if it could not be typed in a command."""
    lower = name.strip().lower()
    if not _NAME.fullmatch(lower) or lower in _RESERVED:
        raise SuiteError(
            f"A suite can't be called {name[:50]!r}. Use one word of at most 40 letters, digits, "
            "dots, - and _, such as sql-basics."
        )
    return lower


def check_size(filename: str, size: int) -> None:
    """Raise SuiteError for a file of more than MAX_BYTES bytes."""
    if size > MAX_BYTES:
        raise SuiteError(
            f"{filename} has {size:,} bytes, and a suite can have {MAX_BYTES:,} at most. Split "
            "it into several."
        )


def same_question(one: SuiteQuestion, other: SuiteQuestion) -> bool:
    """Return whether two questions have the same text and context, but for case and spaces."""
    return _comparison_key(one) == _comparison_key(other)


def suite_document(suite: Suite) -> dict[str, Any]:
    """Return the suite as a JSON document."""
    return {
        "name": suite.name,
        "version": suite.version,
        "judges_see_references": suite.judges_see_references,
        **({"method": suite.method} if suite.method else {}),
        "questions": [question_fields(question) for question in suite.questions],
    }


def question_fields(question: SuiteQuestion) -> dict[str, str]:
    """Return the columns of a question that are not empty."""
    reference = question.reference
    fields = {
        "question": question.text,
        "category": question.category,
        "answer": reference.value if reference and not question.rubric else "",
        "grading": str(reference.grading) if reference else "",
        "tolerance": repr(reference.tolerance) if reference and reference.tolerance else "",
        "rubric": question.rubric,
        "context": question.context,
        "checks": question.checks,
    }
    return {name: text for name, text in fields.items() if text}


def suite_csv(suite: Suite) -> str:
    """Return the suite as CSV with a header, which parses to the same suite."""
    out = StringIO(newline="")
    rows = [
        {name: csv_cell(text) for name, text in question_fields(question).items()}
        for question in suite.questions
    ]
    used = [name for name in COLUMNS if any(name in row for row in rows)]
    writer = csv.DictWriter(out, used, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def csv_cell(value: object) -> object:
    """Return a value for a CSV cell; an apostrophe keeps spreadsheets from evaluating a text.

    Our parser takes the apostrophe off again.
    """
    is_formula = isinstance(value, str) and _FORMULA.match(value.lstrip("'"))
    return f"'{value}" if is_formula else value


def _from_csv_cell(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell.lstrip("'")) else cell


# --- From a file to its questions


def _decode(filename: str, content: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with a byte order mark."""
    check_size(filename, len(content))
    if content.startswith(OFFICE_FILES):
        raise SuiteError(
            f"{filename} is a spreadsheet or an archive. Save the sheet as “CSV UTF-8”, and send "
            "that."
        )
    if content.startswith(_LFS_POINTER):
        raise SuiteError(
            f"{filename} is a Git LFS pointer, not the file itself. Fetch the file with "
            "`git lfs pull`, and send that."
        )
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


def _parse_questions(
    entries: Iterable[Entry | LeftOut],
    category: str = "",
    left_out: dict[LeftOut, None] | None = None,
    registry: Registry = NO_PLUGINS,
) -> tuple[SuiteQuestion, ...]:
    """Return the validated questions; `category` is for those that name none.

    What an import leaves out is added to `left_out`, once each.
    """
    seen: dict[tuple[str, str], str] = {}
    questions: list[SuiteQuestion] = []
    missing = {} if left_out is None else left_out
    for entry in entries:
        if isinstance(entry, LeftOut):
            missing[entry] = None
            continue
        if len(questions) == MAX_QUESTIONS:
            raise SuiteError(
                f"There are more than {MAX_QUESTIONS:,} questions, which is the limit for a "
                "suite. Keep those that matter, or split it into several suites."
            )
        try:
            question = _parse_entry(entry.where, entry.fields, category, registry)
            _check_new(question, entry.where, seen)
        except SuiteError as error:
            if not entry.is_imported:
                raise
            missing[LeftOut(entry.where, "question", str(error))] = None
            continue
        questions.append(question)
    if not questions and missing:
        raise SuiteError(f"It has no usable question. {_left_out_sentence(tuple(missing))}")
    if not questions:
        raise SuiteError(
            "There are no questions in it. Write one per line, or see docs/bakeoffs.md."
        )
    return tuple(questions)


def _check_new(question: SuiteQuestion, where: str, seen: dict[tuple[str, str], str]) -> None:
    """Note a question in `seen`; raise SuiteError if it is there."""
    before = seen.setdefault(_comparison_key(question), where)
    if before is not where:
        raise SuiteError(f"{where} asks the same as {before.lower()}. Remove one of them.")


def _left_out_sentence(left_out: Sequence[LeftOut]) -> str:
    first = "; ".join(f"{one.where}: {one.name}, {one.why}" for one in left_out[:_MAX_FAULTS])
    more = f"; and {len(left_out) - _MAX_FAULTS} more" if len(left_out) > _MAX_FAULTS else ""
    return f"This can't be imported: {first.rstrip('.')}{more}."


def _check_columns(names: Iterable[str], where: str) -> None:
    for name in names:
        if name in COLUMNS:
            continue
        raise SuiteError(
            f"{where} has an unknown column {name[:40]!r}: known columns are {', '.join(COLUMNS)}."
        )


def _parse_entry(
    where: str, fields: Mapping[str, str], category: str, registry: Registry
) -> SuiteQuestion:
    _check_columns(fields, where)
    given = {name: clean_text(text) for name, text in fields.items()}
    text, context = given.get("question", ""), given.get("context", "")
    if not text:
        raise SuiteError(f"{where} has no question. Write one, or remove the line.")
    if len(text) + len(context) > MAX_QUESTION_CHARACTERS:
        raise SuiteError(
            f"{where} has a question of {len(text) + len(context):,} characters; the limit is "
            f"{MAX_QUESTION_CHARACTERS:,}. Shorten it."
        )
    label = given.get("category") or category
    if len(label) > _MAX_CATEGORY:
        raise SuiteError(
            f"{where} has a category of {len(label):,} characters; the limit is {_MAX_CATEGORY}. "
            "Shorten it."
        )
    reference = _parse_reference(where, given, registry)
    return SuiteQuestion(text, " ".join(label.split()), reference, context)


def _parse_reference(where: str, given: Mapping[str, str], registry: Registry) -> Reference | None:
    value, name = given.get("answer", ""), given.get("grading", "")
    tolerance, rubric = given.get("tolerance", ""), given.get("rubric", "")
    checks = given.get("checks", "")
    if not (value or name or tolerance or rubric or checks):
        return None
    if rubric or name.lower() == Grading.JUDGE:
        if not rubric or value or name.lower() not in {"", Grading.JUDGE}:
            raise SuiteError(
                f"{where} needs a rubric and no answer if judges grade it: say what a right answer "
                "must meet."
            )
        value, name = rubric, Grading.JUDGE.value
    try:
        reference = _with_grading(value, name, registry)
    except ValueError:
        known = ", ".join((*Grading, *registry.graders))
        raise SuiteError(
            f"{where} has an unknown grading {name[:40]!r}. "
            f"{registry.missing_part('graders', name)}Choose one of {known}."
        ) from None
    reference = replace(reference, tolerance=_parse_tolerance(tolerance), checks=checks)
    try:
        check_reference(reference, registry)
    except SuiteError as error:
        raise SuiteError(f"{where}: {str(error)[0].lower()}{str(error)[1:]}") from None
    return reference


def _with_grading(value: str, name: str, registry: Registry) -> Reference:
    """Return a reference with a grading by name, or the default one; ValueError if unknown."""
    if not name:
        return default_reference(value)
    if name in registry.graders:
        return Reference(name, value)
    grading = Grading(name.lower())
    is_solution = grading is Grading.NUMBER and "####" in value
    return Reference(grading, final_number(value) or value if is_solution else value)


def _parse_tolerance(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return nan  # check_reference refuses it


def _comparison_key(question: SuiteQuestion) -> tuple[str, str]:
    text, context = (" ".join(x.casefold().split()) for x in (question.text, question.context))
    return text, context


# --- Parsers: text, JSON, CSV and YAML


def _parse_lines(text: str) -> Iterator[Entry]:
    for number, line in enumerate(_split_lines(text), start=1):
        if line.strip():
            yield Entry(f"Line {number}", {"question": line})


def _parse_json_lines(text: str) -> Imported:
    """Yield a question for each line of JSON: a string, an object of columns, or OpenAI Evals."""
    for number, line in enumerate(_split_lines(text), start=1):
        if not line.strip():
            continue
        where, item = f"Line {number}", _load_json(line, number)
        if isinstance(item, dict) and is_evals_line(item) and not is_alpaca(item):
            yield from import_evals_line(item, where)
        else:
            yield from _parse_object(item, where)


def _parse_json(text: str) -> Imported:
    if not text.strip():
        return
    items = _load_json(text, 1)
    if not isinstance(items, list):
        raise SuiteError(
            f"Line 1 does not start a list. Write [ and ] around the questions, {_SHAPES}."
        )
    for number, item in enumerate(items, start=1):
        yield from _parse_object(item, f"Question {number}")


def _parse_object(item: object, where: str) -> Imported:
    if isinstance(item, dict) and is_alpaca(item):
        yield from import_alpaca(item, where)
    else:
        yield _parse_item(item, where)


def _parse_item(item: object, where: str) -> Entry:
    if isinstance(item, str):
        return Entry(where, {"question": item})
    if not isinstance(item, dict):
        raise SuiteError(f"{where} is not a question. Write {_SHAPES}.")
    fields = {str(key): _cell_text(value, str(key), where) for key, value in item.items()}
    return Entry(where, fields)


def _cell_text(value: object, key: str, where: str) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
    raise SuiteError(f"{where}: {key[:40]!r} must be a text or a number.")


def _load_json(text: str, number: int) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SuiteError(
            f"Line {number + error.lineno - 1} is not valid JSON ({error.msg} at character "
            f"{error.colno}). Write {_SHAPES}."
        ) from None
    except (RecursionError, ValueError):  # nested too deeply, or an endless number
        raise SuiteError(f"Line {number} can't be read as JSON. Write {_SHAPES}.") from None


def _split_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _parse_csv(text: str) -> Iterator[Entry]:
    """Yield the questions of a CSV file: under a header, or as a list of one column.

    The delimiter is a comma, a semicolon or a tab.
    """
    names: list[str] | None = None
    for where, row in _read_rows(text, _detect_delimiter(text)):
        if names is None:
            names = [cell.strip().lower() for cell in row]
            if len(names) == 1 and names[0] in _HEADERS:
                names = [name if name in COLUMNS else "question" for name in names]
            if "question" in names:
                _check_header(names, where)
                continue
        yield (_parse_row if "question" in names else _parse_single_cell)(names, row, where)


def _read_rows(text: str, delimiter: str) -> Iterator[tuple[str, list[str]]]:
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
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
        if any(cell.strip() for cell in row):
            yield f"Line {line}", row


def _detect_delimiter(text: str) -> str:
    """Return the delimiter of the header; a comma if there is no header."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    for delimiter in (",", ";", "\t"):
        names = [name.strip().strip('"').lower() for name in header.split(delimiter)]
        if "question" in names:
            return delimiter
    return ","


def _check_header(names: list[str], where: str) -> None:
    _check_columns(filter(None, names), where)
    for name in filter(None, names):
        if names.count(name) > 1:
            raise SuiteError(f"{where} names the column {name!r} twice. Keep one.")


def _parse_row(names: list[str], row: list[str], where: str) -> Entry:
    if any(cell.strip() for cell in row[len(names) :]):
        raise SuiteError(
            f"{where} has {len(row)} columns, but the header has {len(names)}. Put a text with a "
            "comma in double quotes."
        )
    cells = map(_from_csv_cell, row)
    fields = {name: cell for name, cell in zip(names, cells, strict=False) if name or cell.strip()}
    if "" in fields:
        raise SuiteError(f"{where} has a cell without a column name. Add it to the header.")
    return Entry(where, fields)


def _parse_single_cell(_: list[str], row: list[str], where: str) -> Entry:
    if len(row) > 1:
        raise SuiteError(
            f"{where} has {len(row)} columns and no header. Start the file with a line such as "
            "question,category,answer, or put each question in double quotes."
        )
    return Entry(where, {"question": _from_csv_cell(row[0])})


def _parse_yaml(text: str, graders: Collection[str] = ()) -> Imported:
    """Yield the questions of a YAML list, each a string or a mapping, or those of promptfoo.

    Scalars are read as text, so that `no` remains "no".
    """
    root = _compose_yaml(text)
    if root is None:
        return
    if is_promptfoo(root):
        yield from import_promptfoo(root, MAX_QUESTIONS, graders)
        return
    if not isinstance(root, yaml.SequenceNode):
        raise SuiteError(f"{line_of(root)} does not start a list. Write each question after “- ”.")
    characters = 0
    for node in root.value:
        fields = _parse_node(node)
        characters += sum(map(len, fields.values()))
        if characters > MAX_BYTES:
            raise SuiteError(
                f"{line_of(node)}: its aliases expand to more text than a suite can have. "
                "Remove them."
            )
        yield Entry(line_of(node), fields)


def _compose_yaml(text: str) -> yaml.Node | None:
    try:
        _check_depth(text)
        return yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SuiteError(
            f"Line {line} is not valid YAML ({error.problem or 'it is broken'}). Write a list "
            "with each question after “- ”, in quotes if it has a colon."
        ) from None
    except yaml.YAMLError:
        raise SuiteError("This YAML can't be read. Write each question after “- ”.") from None


def _check_depth(text: str) -> None:
    """Raise YAMLError for a deep document, which would exhaust the stack of the parser in C."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_YAML_DEPTH:
            raise yaml.YAMLError("it is nested too deeply")


def _parse_node(node: yaml.Node) -> dict[str, str]:
    if isinstance(node, yaml.ScalarNode):
        return {"question": scalar_text(node)}
    if not isinstance(node, yaml.MappingNode):
        raise SuiteError(f"{line_of(node)} is not a question. Write {_SHAPES}.")
    fields: dict[str, str] = {}
    for key, value in node.value:
        if not (isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)):
            raise SuiteError(f"{line_of(key)} must hold a text or a number.")
        fields[str(key.value)] = scalar_text(value)
    return fields


def _parse_items(items: Iterable[object]) -> Iterator[Entry]:
    for number, item in enumerate(items, start=1):
        yield _parse_item(item, f"Question {number}")


Parser = Callable[[str], Iterable[Entry | LeftOut]]


def _plugin_parser(suffix: str, registry: Registry) -> Parser | None:
    """Return the parser of a plug-in for files with this ending; None if there is none."""
    part = registry.suite_formats.get(suffix)
    if part is None:
        return None
    read_items = part.load(FunctionType)

    def parse(text: str) -> Iterator[Entry]:
        try:
            items = [*read_items(text)]
        except SuiteError:
            raise
        except Exception as error:
            raise SuiteError(
                f"The plug-in {part.plugin} can't read it ({type(error).__name__}: {error}). Save "
                "it as .csv, or ask the plug-in's author."
            ) from error
        yield from _parse_items(items)

    return parse


PARSERS: dict[str, Parser] = {
    ".csv": _parse_csv,
    ".tsv": _parse_csv,
    ".jsonl": _parse_json_lines,
    ".ndjson": _parse_json_lines,
    ".yaml": _parse_yaml,
    ".yml": _parse_yaml,
    ".json": _parse_json,
    ".txt": _parse_lines,
}
