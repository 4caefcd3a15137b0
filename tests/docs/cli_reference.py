"""Write docs/cli.md, every command with its options: `python -m tests.docs.cli_reference`.

Read from the tree of commands, as `--help` is.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.main import get_command

from bot.cli.main import app

PATH = Path(__file__).parents[2] / "docs" / "cli.md"
INTRODUCTION = """# Command line

For everyone who types `council`: look up any command and its options.
Commands are in `.venv/bin`; `council COMMAND --help` prints the same.

A command exits with 0 on success, 1 on a failed round or check and 2 on bad usage.
With `--json` nothing else goes to standard output.
A round is named by its id, the start of one, or `last`.
`council --version` prints the version, `council --install-completion` sets up your shell.

These options mean the same wherever a command lists them after "also":

"""
# By heading: the first words of its commands.
SUBJECTS = {
    "Ask and read": ("ask", "chat", "show", "rounds", "vote", "decide", "rank"),
    "Bake-offs": ("bakeoff", "leaderboard"),
    "Suites": ("suite",),
    "Schedules": ("schedule",),
    "Run the server": ("serve", "mcp", "doctor", "budget", "key", "plugins", "slack", "discord"),
    "Data": ("verify", "export", "import", "forget", "db"),
    "Bias of judges": ("bias",),
    "Laboratory": ("lab",),
}
SHARED_BY = 5  # commands that have an option with the same help, from which on it is said once

Command = tuple[str, TyperCommand]
Records = list[tuple[str, str]]


def reference() -> str:
    """Return the whole document."""
    commands = [*_commands()]
    counts: dict[tuple[str, str], int] = {}
    for _, command in commands:
        for record in _records(command, is_argument=False):
            counts[record] = counts.get(record, 0) + 1
    shared = {record for record, count in counts.items() if count >= SHARED_BY}
    parts = [INTRODUCTION, *map(_line, sorted(shared))]
    for subject, names in SUBJECTS.items():
        parts.append(f"\n## {subject}\n")
        for name in names:
            parts += (_section(x, shared) for x in commands if x[0].split()[0] == name)
    _check_subjects(commands)
    return "".join(parts)


def _check_subjects(commands: list[Command]) -> None:
    known = {name for names in SUBJECTS.values() for name in names}
    if missing := {name.split()[0] for name, _ in commands} - known:
        raise ValueError(f"add {', '.join(sorted(missing))} to SUBJECTS")


def _commands() -> Iterator[Command]:
    """Yield each visible command with its full name."""
    group: Any = get_command(app)
    for name in group.list_commands(None):
        if not group.get_command(None, name).hidden:
            yield from _below(name, group.load_command(name))


def _below(name: str, command: Any) -> Iterator[Command]:  # noqa: ANN401
    if not isinstance(command, TyperGroup):
        yield name, command
        return
    for below, found in command.commands.items():
        if not found.hidden:
            yield from _below(f"{name} {below}", found)


def _section(named: Command, shared: set[tuple[str, str]]) -> str:
    name, command = named
    pieces = " ".join(command.collect_usage_pieces(_context(command))[1:])
    paragraphs = (command.help or "").strip().split("\n\n")
    purpose = "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    options = _records(command, is_argument=False)
    lines = [
        f"\n### council {name}\n\n`council {f'{name} {pieces}'.rstrip()}`: {purpose}\n\n",
        *map(_line, _records(command, is_argument=True)),
        *(_line(option) for option in options if option not in shared),
    ]
    if also := [f"`{option[0].split()[0]}`" for option in options if option in shared]:
        lines.append(f"- also {', '.join(also)}\n")
    return "".join(lines).rstrip("\n") + "\n"


def _records(command: TyperCommand, *, is_argument: bool) -> Records:
    """Return the names and texts of arguments or of options, as `--help` prints them."""
    context = _context(command)
    found = (
        parameter.get_help_record(context)
        for parameter in command.params
        if isinstance(parameter, TyperArgument) is is_argument
    )
    return [(name, " ".join(text.split())) for name, text in filter(None, found)]


def _context(command: TyperCommand) -> Any:  # noqa: ANN401 - Typer does not export the type
    return command.context_class(command)


def _line(record: tuple[str, str]) -> str:
    name, text = record
    return f"- `{name}`: {text}\n" if text else f"- `{name}`\n"


if __name__ == "__main__":
    PATH.write_text(reference(), encoding="utf-8")
