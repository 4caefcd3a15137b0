"""The shell lines in the documents name commands, options, targets and files that there are."""

import importlib.util
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pytest
import typer
import yaml
from markdown_it import MarkdownIt
from typer.core import TyperGroup
from typer.main import get_command

from bot.cli.main import app
from tests.docs.snippets import DOCUMENTS, ROOT, Snippet, checked

SHELL = ("sh", "console")
OUR_PYTHON = {"python", "python3", ".venv/bin/python"}
# Programs of others, whose options are theirs. Add one here if a document needs it.
FOREIGN = {"cd", "claude", "curl", "docker", "export", "gh", "git", "pip", "psql", "sqlite3"}
BETWEEN = {"&&", "||", "|", ";", "&"}
_BEFORE_COMMENT = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|(?<=\S)\#|[^#"'\\])*""")
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=")
_TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
_NAME = re.compile(r"[a-z][a-z-]*")


class WrongLineError(Exception):
    """A shell line that names what there is not."""


def shell_lines(snippet: Snippet) -> list[str]:
    """Return the commands of a block, each on one line, without comments and output.

    In `console` blocks, commands follow a `$ `, and the rest is output.
    """
    text = snippet.text.replace("\\\n", " ")
    lines = text.splitlines()
    if snippet.language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    found = (_BEFORE_COMMENT.match(line) for line in lines)
    return [match[0].strip() for match in found if match and match[0].strip()]


def split_commands(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line, without variables and redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    tokens = iter(lexer)
    for token in tokens:
        if token in BETWEEN:
            yield words
            words = []
        elif token in {">", ">>", "<", ">&"}:
            next(tokens, "")
        elif words or not _ASSIGNMENT.match(token):
            words.append(token)
    if words:
        yield words


def check_line(line: str, snippet: Snippet) -> None:
    """Raise WrongLineError for what a line names and there is not."""
    for name, *words in split_commands(line):
        if name == "council" or name.endswith(".venv/bin/council"):
            parse_command(words)
        elif name == "make":
            check_targets(words)
        elif name in OUR_PYTHON:
            check_python(words, snippet)
        elif name not in FOREIGN:
            raise WrongLineError(f"{name!r} is no command that documents use")
        elif "--" in words:  # `claude mcp add council -- .venv/bin/council mcp`
            check_line(shlex.join(words[words.index("--") + 1 :]), snippet)


def parse_command(words: Sequence[str]) -> None:
    """Parse the words of a `council` command as the program does, without running it."""
    try:
        command: Any = get_command(app)
        context = command.make_context("council", [*words])
        while isinstance(command, TyperGroup):
            left = [*context._protected_args, *context.args]
            name, command, rest = command.resolve_command(context, left)
            context = command.make_context(name, rest, parent=context)
    except typer.Exit as ended:  # --help and --version end here
        if ended.exit_code:
            raise WrongLineError(f"there is no command {shlex.join(words)!r}") from None
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        raise WrongLineError(error.format_message()) from None


def check_targets(words: Sequence[str]) -> None:
    """Raise WrongLineError for a target or variable that the Makefile has not."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in words:
        variable = _ASSIGNMENT.match(word)
        known = f"$({variable[0][:-1]})" in makefile if variable else word in _targets()
        if not known:
            raise WrongLineError(f"the Makefile has no {word!r}")


@cache
def _targets() -> frozenset[str]:
    return frozenset(_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))


def check_python(words: Sequence[str], snippet: Snippet) -> None:
    """Raise WrongLineError for a module, file or path of tests that there is not."""
    first, *rest = words
    if first != "-m":
        if not (snippet.path.parent / first).exists():
            raise WrongLineError(f"there is no file {first!r}")
        return
    module, *arguments = rest
    if importlib.util.find_spec(module) is None:
        raise WrongLineError(f"there is no module {module!r}")
    for path in arguments if module == "pytest" else ():
        if path.startswith("tests/") and not (ROOT / path).exists():
            raise WrongLineError(f"there is no {path!r}")


def faults(lines: Sequence[str], snippet: Snippet) -> list[str]:
    """Return what is wrong with lines of a block."""
    found = []
    for line in lines:
        try:
            check_line(line, snippet)
        except (WrongLineError, ValueError) as error:
            found.append(f"{snippet.where}: {line}: {error}")
    return found


def test_shell_lines_name_what_there_is() -> None:
    snippets = checked(*SHELL)

    assert [fault for one in snippets for fault in faults(shell_lines(one), one)] == []
    assert sum(len(shell_lines(one)) for one in snippets) > 10


def run_lines(document: object) -> Iterator[str]:
    """Yield what the steps of a workflow run."""
    if isinstance(document, dict):
        for name, value in document.items():
            if name == "run" and isinstance(value, str):
                yield from value.splitlines()
            yield from run_lines(value)
    elif isinstance(document, list):
        for value in document:
            yield from run_lines(value)


def test_workflows_run_commands_that_there_are() -> None:
    found = [
        fault
        for one in checked("yaml")
        for document in yaml.safe_load_all(one.text)
        for fault in faults([*run_lines(document)], one)
    ]

    assert found == []


def inline_commands() -> Iterator[tuple[str, str]]:
    """Yield each `council …` and `make …` in a sentence or a table, and where it is."""
    for path in DOCUMENTS:
        for token in MarkdownIt().parse(path.read_text(encoding="utf-8")):
            for child in token.children or ():
                if child.type == "code_inline" and re.match(
                    r"(council|make) [a-z-]", child.content
                ):
                    line = token.map[0] + 1 if token.map else 0
                    yield f"{path.relative_to(ROOT)}:{line}", child.content


def check_usage(text: str) -> None:
    """Raise WrongLineError for a command or option in a usage such as `council show ID [--full]`.

    What follows a command may be elided, alternative or optional, so it is not parsed.
    """
    program, *words = text.replace("\\|", "|").split()
    if program == "make":
        check_targets(words)
        return
    command: Any = get_command(app)
    while isinstance(command, TyperGroup) and words and _NAME.fullmatch(words[0]):
        name, words = words[0], words[1:]
        loaded = command.get_command(None, name)  # type: ignore[arg-type]  # nothing needs one
        if loaded is None:
            raise WrongLineError(f"there is no command {name!r}")
        command = getattr(command, "load_command", lambda _, found=loaded: found)(name)
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    unknown = {*_OPTION.findall(" ".join(words))} - known
    if unknown and not isinstance(command, TyperGroup):
        raise WrongLineError(f"it has no {', '.join(sorted(unknown))}")


def test_commands_in_sentences_and_tables_exist() -> None:
    commands, wrong = [*inline_commands()], []
    for where, text in commands:
        try:
            check_usage(text)
        except (WrongLineError, typer.Exit) as error:
            wrong.append(f"{where}: {text}: {error}")

    assert wrong == []
    assert len(commands) > 50


HERE = Snippet(ROOT / "README.md", 1, "sh", "")


@pytest.mark.parametrize(
    "line",
    [
        "council asks 'Why?'",
        "council ask 'Why?' --panels house",
        "council rank",
        "council tally ballots.json --json yes",
        "council db upgrades",
        ".venv/bin/council budget --cap 2",
        "git pull && council nothing",
        "claude mcp add council -- /path/to/council/.venv/bin/council mpc",
        "make everything",
        "make ask QUESTION=why",
        ".venv/bin/python -m tests.bench.nothing",
        ".venv/bin/python -m pytest tests/nothing.py",
        "python nothing.py",
        "yum install council",
        "council ask 'Why?",
    ],
)
def test_a_line_that_names_what_there_is_not_is_found(line: str) -> None:
    assert faults([line], HERE) != []


@pytest.mark.parametrize(
    "line",
    [
        'council ask "Why #1? It\'s blue" --panel house | sqlite3',
        "X=1 .venv/bin/council export --to all.jsonl > log",
        "council --version",
        "make ask Q=why",
    ],
)
def test_a_line_that_names_what_there_is_passes(line: str) -> None:
    assert faults([line], HERE) == []


def test_comments_and_output_are_no_commands() -> None:
    block = "$ council show a1 # it's a comment\noutput\n$ make \\\n  run\n"

    assert shell_lines(Snippet(HERE.path, 1, "console", block)) == [
        "council show a1",
        "make    run",
    ]


@pytest.mark.parametrize("usage", ["council asks WHY", "council show ID [--fulll]", "make all"])
def test_a_usage_of_what_there_is_not_is_found(usage: str) -> None:
    with pytest.raises((WrongLineError, typer.Exit)):
        check_usage(usage)
