"""The command `council bias`: how biased judges are, over stored rounds.

The laboratory adds its experiments, and reports from files of grades.
"""

from typing import Any

import typer
from typer.core import TyperGroup

from bot.bakeoffs.cli.reports import bias

OF_FILE, OF_ROUNDS = "of", "rounds"
_ROUND_OPTIONS = {"--rounds", "--since", "--panel", "--suite", "--full", "--png"}
_FORMS = "\b\ncouncil bias        over stored rounds; the same as --rounds"
_FILE_FORM = "\ncouncil bias FILE   from a file of grades"


class _FileOrCommand(TyperGroup):
    """A group that reads an unknown command as a file, and no command as `rounds`."""

    # Typer does not export the type of its contexts.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Insert the command that the arguments imply."""
        options = {arg.partition("=")[0] for arg in args}
        has_command = bool(args) and args[0] in {*self.commands, "--help"}
        if "--rounds" in args or (
            not has_command and (options <= {"--json"} or options & _ROUND_OPTIONS)
        ):
            rest = args[args[:1] == [OF_ROUNDS] :]
            args = [OF_ROUNDS, *(arg for arg in rest if arg != "--rounds")]
        elif OF_FILE in self.commands and not has_command:
            args = [OF_FILE, *args]
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the help, which names files only if the laboratory reads them."""
        forms = _FORMS + (_FILE_FORM if OF_FILE in self.commands else "")
        self.help = f"Measure the bias of judges, with one of these commands, or:\n\n{forms}"
        super().format_help_text(ctx, formatter)


bias_app = typer.Typer(cls=_FileOrCommand)
bias_app.command(OF_ROUNDS)(bias)
