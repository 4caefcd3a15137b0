"""Suites read from files: CSV, JSON Lines, YAML, JSON, TOML, or a question a line."""

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import PurePath

from bot.suites.decoding import decoded
from bot.suites.entries import Entry, questions_of
from bot.suites.lists import (
    entries_of_json,
    entries_of_json_lines,
    entries_of_lines,
    entry_of,
)
from bot.suites.naming import checked_name
from bot.suites.tables import entries_of_csv
from bot.suites.yaml_lists import entries_of_yaml
from council.bakeoffs.models import Suite
from council.errors import SuiteError

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
