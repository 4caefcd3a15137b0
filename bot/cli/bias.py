"""`council bias`: what grades tell of judges, and the experiment that makes some."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bot.cli.outcome import run

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
OF_FILE = "of"


class _FileOrCommand(TyperGroup):
    """Takes for a file what is no command's name."""

    # Typer keeps the type of its contexts to itself.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Name the command that reads files where no other is."""
        if args and args[0] not in {*self.commands, "--help"}:
            args = [OF_FILE, *args]
        return super().parse_args(ctx, args)


bias_app = typer.Typer(
    help="Measure the bias of judges: council bias FILE, or one of these.",
    cls=_FileOrCommand,
    no_args_is_help=True,
)


class Parse(Enum):
    """Which reading of the replies counts."""

    PUBLISHED = "published"
    STRICT = "strict"


@bias_app.command(OF_FILE)
def of_file(
    file: Annotated[Path, typer.Argument(help="Grades as JSON Lines.")],
    as_json: Json = False,
    parse: Annotated[
        Parse, typer.Option(help="Grades as the thesis read them, or as strictly as we do.")
    ] = Parse.PUBLISHED,
) -> None:
    """Measure self-preference by the grades of a file."""
    from bot.cli.bias_file import report_file

    run(report_file(file, strict=parse is Parse.STRICT, as_json=as_json))
