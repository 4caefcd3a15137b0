"""Write docs/cli.md from the help texts of `council`: `python -m tests.docs.cli_reference`."""

from collections.abc import Iterator
from pathlib import Path

from typer.core import TyperGroup
from typer.testing import CliRunner

from bot.cli.main import COMMANDS, app, load_command

PATH = Path(__file__).parents[2] / "docs" / "cli.md"
INTRODUCTION = """# Command line

Every command of `council` with its options, generated from `--help` by `make docs`.
It exits with 0 on success, 1 on a failed round or check and 2 on bad usage.
`--json` prints one JSON document to standard output and nothing else there.
"""


def reference() -> str:
    """Return the whole document."""
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    yield _section()
    for name in COMMANDS:
        command = load_command(name)
        if isinstance(command, TyperGroup):
            for subcommand in command.commands:
                yield _section(name, subcommand)
        else:
            yield _section(name)


def _section(*words: str) -> str:
    # Wide enough that no line of help is cut.
    result = CliRunner().invoke(app, [*words, "--help"], prog_name="council", terminal_width=100)
    lines = (line.rstrip() for line in result.stdout.strip().splitlines())
    # Every command has --help; some have nothing else.
    text = "\n".join(line for line in lines if not line.startswith("  --help "))
    text = text.replace("\n\nOptions:\n\n", "\n\n").removesuffix("\n\nOptions:")
    text = text.removeprefix("Usage: ")
    return f"## {' '.join(('council', *words))}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    PATH.write_text(reference(), encoding="utf-8")
