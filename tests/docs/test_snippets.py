"""Blocks of the documents have a language, and are what that language and the product take."""

import json
import re
import sqlite3
import tomllib
from pathlib import Path

import pytest
import yaml

from bot.bakeoffs.suite_files import ReadingOptions, parse_suite_file
from bot.settings.panels import parse_panel_config
from council.registry import build_registry
from tests.docs.snippets import SNIPPETS, Snippet, checked, read_snippets
from tests.sqlite import new_file

# test_code.py, test_commands.py and the tests below check these.
CHECKED = {"console", "csv", "json", "jsonl", "python", "sh", "sql", "toml", "yaml"}
UNCHECKED = {"mermaid", "text"}  # tests/docs/package_graph.py draws the graph; text is no code
PACKAGING = {"build-system", "project", "tool"}  # of pyproject.toml, which is not ours to check
ONE_QUESTION = b"question,answer\nWhat is 6 x 7?,42\n"


def where(snippet: Snippet) -> str:
    return snippet.where


def test_every_block_has_a_language() -> None:
    wrong = [one.where for one in SNIPPETS if one.language not in CHECKED | UNCHECKED]

    assert wrong == [], "name a language that is checked, or `text` for output and the like"


def test_no_command_of_ours_hides_in_a_block_of_text() -> None:
    hidden = [
        one.where
        for one in SNIPPETS
        if one.language == "text"
        and re.search(r"^(\$|council|make|curl|\.venv/\S+) ", one.text, re.M)
    ]

    assert hidden == [], "use `sh`, or `console` for commands after `$ ` and their output"


def test_a_reason_exempts_only_the_block_below_it(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(
        "<!-- unchecked: needs a key -->\n```python\nimport secret\n```\n\n```python\n1\n```\n"
        "1. Do:\n   <!-- unchecked: -->\n   ```sh\n   council\n   ```\n",
        encoding="utf-8",
    )

    found = [(one.line, one.language, one.unchecked) for one in read_snippets(document)]

    assert found == [(2, "python", "needs a key"), (6, "python", ""), (11, "sh", "")]


@pytest.mark.parametrize("snippet", checked("toml"), ids=where)
def test_toml_is_what_council_toml_takes(snippet: Snippet, tmp_path: Path) -> None:
    document = tomllib.loads(snippet.text)
    if document.keys() & PACKAGING:
        return
    # What a fragment names, the rest of the file has.
    policies = (
        document.get("access", {}),
        *document.get("access", {}).get("workspaces", {}).values(),
    )
    named = {rules.get("panel") for policy in policies for rules in policy.get("in", {}).values()}
    for panel in named - {None} - document.get("panels", {}).keys():
        members = [f"{panel}/{name}" for name in ("one", "two")]
        document.setdefault("panels", {})[panel] = {"members": members}
    for suite in document.get("suites", {}).values():
        if "file" in suite:
            (tmp_path / suite["file"]).write_bytes(ONE_QUESTION)

    config = parse_panel_config(document, tmp_path / "council.toml")

    assert config.panels.keys() >= document.get("panels", {}).keys()


@pytest.mark.parametrize("snippet", checked("json", "jsonl"), ids=where)
def test_json_is_json(snippet: Snippet) -> None:
    documents = snippet.text.splitlines() if snippet.language == "jsonl" else [snippet.text]

    assert [*map(json.loads, documents)]


def is_suite(snippet: Snippet) -> bool:
    """Return whether a block has questions; other YAML is for other programs, and only parsed."""
    if snippet.language == "csv":
        return True
    first, *_ = yaml.safe_load_all(snippet.text)
    return isinstance(first, list) and "question" in first[0]


@pytest.mark.parametrize("snippet", checked("csv", "yaml"), ids=where)
def test_questions_are_a_suite(snippet: Snippet) -> None:
    if not is_suite(snippet):
        return

    suite = parse_suite_file(
        "sample",
        f"sample.{snippet.language}",
        snippet.text.encode(),
        ReadingOptions(),
        build_registry(()),
    )

    assert suite.questions


def test_queries_name_tables_and_columns_that_there_are(tmp_path: Path) -> None:
    new_file(tmp_path)
    with sqlite3.connect(tmp_path / "council.db") as database:
        for snippet in checked("sql"):
            try:
                database.execute(f"EXPLAIN {snippet.text}")
            except sqlite3.Error as error:
                pytest.fail(f"{snippet.where}: {error}")
    database.close()
