"""Suite files: parsers of CSV, JSON, YAML and text within bounds, and writers of JSON and CSV."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from math import nan
from pathlib import Path, PurePath
from types import FunctionType
from typing import Any

import yaml

from bot.bakeoffs.column_mapper import ColumnMapper, Entry, Imported, LeftOut, Unneeded
from bot.bakeoffs.column_names import COLUMNS, NO_QUESTION, columns_sentence
from bot.bakeoffs.file_parsers import (
    MAX_COLUMNS,
    NearbyFiles,
    check_expansion,
    check_header,
    compose_json,
    compose_yaml,
    decode,
    line_of,
    load_json,
    mark_at,
    node_fields,
    node_of,
    numbered_lines,
    plain_value,
    read_rows,
    row_fields,
    scalar_text,
)
from bot.bakeoffs.suite_imports import PromptfooImporter, is_promptfoo, is_test, test_of_row
from bot.chat import MAX_QUESTION_CHARACTERS, clean_text
from bot.render.csv_text import cell_value, csv_text
from council.bakeoffs.graders import check_reference, default_reference, final_number
from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion
from council.errors import SuiteError
from council.registry import NO_PLUGINS, Registry

MAX_QUESTIONS = 10_000
_MAX_CATEGORY = 60  # characters
_SHAPES = 'a question, or {"question": …, "answer": …}'
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_RESERVED = {"list", "show", "add", "remove", "keep", "leave", "last", "cancel", "resume", "now"}
_MAX_LEFT_OUT = 50_000  # parts of a file
_MAX_PATTERNS = 100_000  # characters of all regular expressions
_COUNT, _COUNT_COST = re.compile(r"\{[0-9]"), 1_000
_MAX_FAULTS = 5  # named where a file has nothing usable


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """The suite in a file, and what of a file for another tool a suite cannot have."""

    suite: Suite
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How a file is read.

    `category` is that of questions that name none. A question that lost a part of its grader is
    graded by the rest if `partial`; else it gets no grade. `columns` has the file's names of our
    columns where somebody chose them, and `folder` may have other files that belong to this one.
    """

    category: str = ""
    partial: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None


def read_suite_file(
    name: str,
    filename: str,
    content: bytes,
    options: ReadingOptions = ReadingOptions(),
    registry: Registry = NO_PLUGINS,
) -> SuiteFile:
    """Return the suite in a file's bytes; SuiteError names the line that is wrong.

    The registry has the graders and formats of plug-ins.
    """
    text = decode(filename, content)
    name = validate_suite_name(name)
    suffix = PurePath(filename).suffix.lower()
    parse = PARSERS.get(suffix) or _plugin_parser(suffix, registry)
    if parse is None:
        raise SuiteError(
            f"{filename}: this type of file is not supported. "
            f"{registry.missing_part('suite_formats', suffix)}Save it as .csv, .jsonl, .yaml, "
            ".json or .txt, one question per line."
        )
    mapper = ColumnMapper(options.columns)
    files = NearbyFiles(options.folder)
    importer = PromptfooImporter(MAX_QUESTIONS, registry.graders, files, mapper)
    left_out: dict[LeftOut, None] = {}
    entries = (_whole(entry, partial=options.partial) for entry in parse(text, mapper, importer))
    try:
        questions = _parse_questions(entries, options.category, left_out, registry)
        mapper.check_chosen()
    except SuiteError as error:
        raise SuiteError(f"{filename}: {error}") from None
    except RecursionError:
        raise SuiteError(f"{filename} is nested too deeply. Flatten it.") from None
    return SuiteFile(Suite(name, questions), tuple(left_out))


def _whole(entry: Entry | LeftOut, *, partial: bool) -> Entry | LeftOut:
    if isinstance(entry, LeftOut):
        return entry
    return entry._replace(fields=entry.columns(partial=partial))


def parse_suite_file(
    name: str,
    filename: str,
    content: bytes,
    options: ReadingOptions = ReadingOptions(),
    registry: Registry = NO_PLUGINS,
) -> Suite:
    """Return the whole suite in a file's bytes; SuiteError if it lost a question or a check."""
    file = read_suite_file(name, filename, content, options, registry)
    if lost := _lost(file.left_out):
        raise SuiteError(
            f"{filename}: {_left_out_sentence(lost)} Import the rest with "
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
    left_out: dict[LeftOut, None] = {}
    entries = (_whole(one, partial=False) for one in _parse_items(items, ColumnMapper()))
    questions = _parse_questions(entries, category, left_out, registry)
    if lost := _lost(left_out):
        raise SuiteError(_left_out_sentence(lost))
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
    others = reference.others if reference else ()
    fields = {
        "question": question.text,
        "category": question.category,
        "answer": reference.value if reference and not question.rubric else "",
        "other_answers": json.dumps(others, ensure_ascii=False) if others else "",
        "grading": str(reference.grading) if reference else "",
        "tolerance": repr(reference.tolerance) if reference and reference.tolerance else "",
        "rubric": question.rubric,
        "context": question.context,
        "checks": question.checks,
    }
    return {name: text for name, text in fields.items() if text}


def suite_csv(suite: Suite) -> str:
    """Return the suite as CSV with a header, which parses to the same suite."""
    rows = [*map(question_fields, suite.questions)]
    return csv_text([name for name in COLUMNS if any(name in row for row in rows)], rows)


# --- From a file to its questions


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
    patterns: dict[str, int] = {}
    count = 0
    for entry in entries:
        if isinstance(entry, LeftOut):
            missing[entry] = None
        count += isinstance(entry, Entry)
        if count > MAX_QUESTIONS or len(missing) > _MAX_LEFT_OUT:
            raise SuiteError(
                f"There are more than {MAX_QUESTIONS:,} questions, which is the limit for a "
                "suite. Keep those that matter, or split it into several suites."
            )
        if isinstance(entry, LeftOut):
            continue
        _check_patterns(entry.fields, patterns)
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
        raise SuiteError("There are no questions in it. Write one per line, or see docs/suites.md.")
    return tuple(questions)


def _check_patterns(fields: Mapping[str, str], patterns: dict[str, int]) -> None:
    """Note what it costs to compile all patterns so far; raise SuiteError if that is too much."""
    text = fields.get("answer", "") + fields.get("other_answers", "")
    if fields.get("grading", "").strip().lower() != Grading.REGEX or text in patterns:
        return
    cost = len(text) + _COUNT_COST * len(_COUNT.findall(text))
    patterns[text] = cost + (patterns[next(reversed(patterns))] if patterns else 0)
    if patterns[text] > _MAX_PATTERNS:
        raise SuiteError(
            f"Its regular expressions have more than {_MAX_PATTERNS:,} characters in all, where a "
            f"count such as {{9}} is {_COUNT_COST:,}. Split it into several suites."
        )


def _check_new(question: SuiteQuestion, where: str, seen: dict[tuple[str, str], str]) -> None:
    """Note a question in `seen`; raise SuiteError if it is there."""
    before = seen.setdefault(_comparison_key(question), where)
    if before is not where:
        raise SuiteError(f"{where} asks the same as {before.lower()}. Remove one of them.")


def _lost(left_out: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    return tuple(one for one in left_out if not isinstance(one, Unneeded))


def _left_out_sentence(left_out: Sequence[LeftOut]) -> str:
    first = "; ".join(f"{one.where}: {one.name}, {one.why}" for one in left_out[:_MAX_FAULTS])
    more = f"; and {len(left_out) - _MAX_FAULTS} more" if len(left_out) > _MAX_FAULTS else ""
    return f"This can't be imported: {first.rstrip('.')}{more}."


def _parse_entry(
    where: str, fields: Mapping[str, str], category: str, registry: Registry
) -> SuiteQuestion:
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
    others = _parse_others(given.get("other_answers", ""))
    reference = replace(
        reference, tolerance=_parse_tolerance(tolerance), checks=checks, others=others
    )
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


def _parse_others(text: str) -> tuple[str, ...]:
    """Return other right answers, from a JSON list of texts or one on each line."""
    if not text:
        return ()
    with suppress(ValueError, RecursionError):
        if isinstance(listed := json.loads(text), list) and all(isinstance(x, str) for x in listed):
            return tuple(filter(None, (clean_text(one) for one in listed)))
    return tuple(filter(None, map(str.strip, text.split("\n"))))


def _parse_tolerance(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return nan  # check_reference refuses it


def _comparison_key(question: SuiteQuestion) -> tuple[str, str]:
    text, context = (" ".join(x.casefold().split()) for x in (question.text, question.context))
    return text, context


# --- Parsers: text, JSON, CSV and YAML

Parser = Callable[[str, ColumnMapper, PromptfooImporter], Imported]


def _parse_lines(text: str, *_: object) -> Imported:
    for number, line in numbered_lines(text):
        yield Entry(f"Line {number}", {"question": line})


def _parse_json_lines(text: str, mapper: ColumnMapper, importer: PromptfooImporter) -> Imported:
    for number, line in numbered_lines(text):
        item, mark = load_json(line, number), mark_at(number)
        if isinstance(item, dict) and is_test(item):
            yield from importer.import_test(node_of(item, mark))
        else:
            yield from _parse_item(item, f"Line {number}", mapper)


def _parse_json(text: str, mapper: ColumnMapper, importer: PromptfooImporter) -> Imported:
    lines = [line for _, line in numbered_lines(text)]
    if not lines:
        return
    if len(lines) > 1 and lines[0].startswith("{") and lines[0].endswith("}"):
        yield from _parse_json_lines(text, mapper, importer)  # with the ending of JSON
        return
    items = load_json(text, 1)
    if isinstance(items, dict) and (is_promptfoo(items) or is_test(items)):
        yield from _parse_nodes(compose_json(text), mapper, importer)
        return
    if isinstance(items, dict):
        lists = {name: one for name, one in items.items() if one and _is_list_of_objects(one)}
        name = next((name for name in _LISTS if name in lists), "")
        name = name or (next(iter(lists)) if len(lists) == 1 else "")
        for other in [one for one in items if name and one != name]:
            if other in lists and mapper.has_question(lists[other][0]):
                why = f"{name} is read; save the other questions as another file"
                yield LeftOut("Line 1", other[:40], why)
            else:
                yield Unneeded("Line 1", other[:40], "it is no list of questions")
        items = lists.get(name, items)
    if not isinstance(items, list):
        raise SuiteError(
            "Line 1 does not start a list. Write [ before the first question and ] after the "
            f"last one, each {_SHAPES}."
        )
    if _is_list_of_objects(items) and any(map(is_test, items)):
        yield from _parse_nodes(compose_json(text), mapper, importer)
        return
    yield from _parse_items(items, mapper)


# The list of questions in an object with several lists.
_LISTS = ("questions", "examples", "rows", "data", "items", "instances", "results", "test")


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _parse_item(item: object, where: str, mapper: ColumnMapper) -> Imported:
    if isinstance(item, str):
        yield Entry(where, {"question": item})
    elif isinstance(item, dict):
        yield from mapper.map_item({str(key): value for key, value in item.items()}, where)
    else:
        raise SuiteError(f"{where} is not a question. Write {_SHAPES}.")


def _parse_csv(text: str, mapper: ColumnMapper, importer: PromptfooImporter) -> Imported:
    """Yield the questions of a CSV file: under a header, or as a list of one column.

    The delimiter is a comma, a semicolon or a tab.
    """
    delimiter = _detect_delimiter(text, mapper)
    names: list[str] | None = None
    for line, row in read_rows(text, delimiter):
        where = f"Line {line}"
        if names is None:
            names = [cell.strip() for cell in row]
            if mapper.has_question(names):
                check_header(names, where)
                continue
            if len(names) > 1:
                raise SuiteError(f"{where} is no header: {NO_QUESTION}. {columns_sentence(names)}")
            names = []
        if not names:
            yield _parse_single_cell(row, where)
            continue
        fields = row_fields(names, [*map(cell_value, row)], where)
        if any(name.startswith("__expected") for name in names):
            yield from importer.import_test(test_of_row(fields, mark_at(line)))
        else:
            yield from mapper.map_item(fields, where)


def _detect_delimiter(text: str, mapper: ColumnMapper) -> str:
    """Return the delimiter of a header, or one that the first two lines have as often."""
    header, line = ([line for _, line in islice(numbered_lines(text), 2)] + ["", ""])[:2]
    if header.startswith("sep="):
        raise SuiteError("Line 1 is for a spreadsheet, and names no columns. Remove it.")
    for delimiter in (",", ";", "\t"):
        names = [name.strip().strip('"') for name in header.split(delimiter, MAX_COLUMNS)]
        if mapper.has_question(names):
            return delimiter
    others = (one for one in ";\t" if 0 < header.count(one) == line.count(one))
    return "," if "," in header else next(others, ",")


def _parse_single_cell(row: list[str], where: str) -> Entry:
    if len(row) > 1:
        raise SuiteError(
            f"{where} has {len(row)} columns and no header. Start the file with a line such as "
            "question,category,answer, or put each question in double quotes."
        )
    return Entry(where, {"question": cell_value(row[0])})


def _parse_yaml(text: str, mapper: ColumnMapper, importer: PromptfooImporter) -> Imported:
    """Yield the questions of a YAML list, each a string or a mapping, or those of promptfoo.

    Scalars are read as text, so that `no` remains "no".
    """
    yield from _parse_nodes(compose_yaml(text), mapper, importer)


def _parse_nodes(
    root: yaml.Node | None, mapper: ColumnMapper, importer: PromptfooImporter
) -> Imported:
    if root is None:
        return
    check_expansion(root)
    if is_promptfoo(node_fields(root)):
        yield from importer.import_config(root)
        return
    if not isinstance(root, yaml.SequenceNode):
        raise SuiteError(f"{line_of(root)} does not start a list. Write each question after “- ”.")
    for node in root.value:
        if is_test(node_fields(node)):
            yield from importer.import_test(node)
        else:
            item = (
                scalar_text(node)
                if isinstance(node, yaml.ScalarNode)
                else plain_value(node, as_text=True)
            )
            yield from _parse_item(item, line_of(node), mapper)


def _plugin_parser(suffix: str, registry: Registry) -> Parser | None:
    """Return the parser of a plug-in for files with this ending; None if there is none."""
    part = registry.suite_formats.get(suffix)
    if part is None:
        return None
    read_items = part.load(FunctionType)

    def parse(text: str, mapper: ColumnMapper, _: object) -> Imported:
        try:
            items = [*read_items(text)]
        except SuiteError:
            raise
        except Exception as error:
            raise SuiteError(
                f"The plug-in {part.plugin} can't read it ({type(error).__name__}: {error}). Save "
                "it as .csv, or ask the plug-in's author."
            ) from error
        yield from _parse_items(items, mapper)

    return parse


def _parse_items(items: Iterable[object], mapper: ColumnMapper) -> Imported:
    for number, item in enumerate(items, start=1):
        yield from _parse_item(item, f"Question {number}", mapper)


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
