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


bias_app = typer.Typer(
    help="Measure the bias of judges: council bias --rounds, or one of these.",
    cls=_FileOrCommand,
    no_args_is_help=True,
)
bias_app.command(OF_ROUNDS)(bias)
