"""The command `council bias`: how biased judges are, over stored rounds.

The laboratory adds its experiments, and reports from files of grades.
"""

from typing import Any

import typer
from typer.core import TyperGroup

from bot.bakeoffs.cli.reports import bias

OF_FILE, OF_ROUNDS = "of", "rounds"


class _FileOrCommand(TyperGroup):
    """A group that reads an unknown command as a file, and `--rounds` as a command."""

    # Typer does not export the type of its contexts.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Insert the command that the arguments imply."""
        if "--rounds" in args:
            args = [OF_ROUNDS, *(arg for arg in args if arg != "--rounds")]
        elif args and OF_FILE in self.commands and args[0] not in {*self.commands, "--help"}:
            args = [OF_FILE, *args]
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the help, which names files only if the laboratory reads them."""
        files = "council bias FILE, " if OF_FILE in self.commands else ""
        self.help = f"Measure the bias of judges: {files}council bias --rounds, or one of these."
        super().format_help_text(ctx, formatter)


bias_app = typer.Typer(cls=_FileOrCommand, no_args_is_help=True)
bias_app.command(OF_ROUNDS)(bias)
