"""Write docs/cli.md, the table of commands, from `--help`: `python -m tests.docs.cli_reference`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from bot.cli.main import app

PATH = Path(__file__).parents[2] / "docs" / "cli.md"
INTRODUCTION = """# Command line

`council COMMAND --help` lists a command's options; this table is generated from it by `make docs`.
A command exits with 0 on success, 1 on a failed round or check and 2 on bad usage.
`--json` prints one JSON document to standard output and nothing else there.

| command | does |
|---|---|
"""


def reference() -> str:
    """Return the whole document."""
    return INTRODUCTION + "".join(_rows())


def _rows() -> Iterator[str]:
    group: Any = get_command(app)
    for name in group.list_commands(None):
        if group.get_command(None, name).hidden:
            continue
        command = group.load_command(name)
        below = command.commands if isinstance(command, TyperGroup) else {"": command}
        for subcommand, found in below.items():
            if isinstance(found, TyperGroup):
                yield from (_row(name, subcommand, last) for last in found.commands)
            elif not found.hidden:
                yield _row(*filter(None, (name, subcommand)))


def _row(*words: str) -> str:
    result = CliRunner().invoke(app, [*words, "--help"], prog_name="council", terminal_width=200)
    usage, _, purpose = result.stdout.strip().partition("\n\n")
    usage = usage.removeprefix("Usage: ").replace(" [OPTIONS]", "").replace("|", "\\|")
    return f"| `{usage}` | {purpose.strip().splitlines()[0]} |\n"


if __name__ == "__main__":
    PATH.write_text(reference(), encoding="utf-8")
