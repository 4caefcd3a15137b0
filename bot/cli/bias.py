"""`council bias`: what grades and rounds tell of judges, and the experiment that makes grades."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bot.cli.outcome import FAILED, run

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
OF_FILE, OF_ROUNDS = "of", "rounds"


class _FileOrCommand(TyperGroup):
    """Takes for a file what is no command's name, and `--rounds` for a command."""

    # Typer keeps the type of its contexts to itself.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Name the command that is meant where none is."""
        if "--rounds" in args:
            args = [OF_ROUNDS, *(arg for arg in args if arg != "--rounds")]
        elif args and args[0] not in {*self.commands, "--help"}:
            args = [OF_FILE, *args]
        return super().parse_args(ctx, args)


bias_app = typer.Typer(
    help="Measure the bias of judges: council bias FILE, council bias --rounds, or one of these.",
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


# Typer reads its options off the parameters, so there are as many as there are options.
@bias_app.command("run")
def run_experiment(  # noqa: PLR0913, PLR0917
    suite: Annotated[str, typer.Argument(help="A suite's name, or a file that holds one.")],
    panel: Annotated[str | None, typer.Option(help="A panel of council.toml.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the grades here.")] = None,
    usd: Annotated[
        str, typer.Option(help="The most it may cost in all, in USD.", show_default=False)
    ] = "",
    new: Annotated[bool, typer.Option("--new", help="Go on with none that is there.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before it begins.")] = False,
    local: Annotated[bool, typer.Option("--local", help="Have the demonstration models.")] = False,
    as_json: Json = False,
) -> None:
    """Have every member answer, and grade every answer in both framings; go on where it stopped."""
    from bot.cli.bias_run import Request, hold_experiment

    ended: list[bool] = []
    request = Request(suite, panel, output, usd, new, yes, local, as_json)
    run(hold_experiment(request, ended.append))
    if ended != [True]:
        raise typer.Exit(FAILED)


@bias_app.command(OF_ROUNDS)
def of_rounds(
    since: Annotated[
        str, typer.Option(help="Asked since: 2026-11-21, or 30d, 2w, 12h ago.", show_default=False)
    ] = "",
    panel: Annotated[str, typer.Option(help="One panel's rounds.", show_default=False)] = "",
    suite: Annotated[str, typer.Option(help="One suite's rounds.", show_default=False)] = "",
    as_json: Json = False,
    to_png: Annotated[
        Path | None, typer.Option("--png", help="Draw the figures into a file.")
    ] = None,
) -> None:
    """Show how judges of stored rounds rank themselves, their family, slots, length and style."""
    from bot.cli.bias_rounds import report_rounds

    given = {"since": since, "panel": panel, "suite": suite}
    report_rounds(given, as_json=as_json, to_png=to_png)


@bias_app.command("show")
def show_experiment(
    experiment: Annotated[
        str, typer.Argument(help="An experiment's id, its beginning, or last.")
    ] = "last",
    output: Annotated[Path | None, typer.Option(help="Write the grades here.")] = None,
    as_json: Json = False,
) -> None:
    """Show what came of an experiment."""
    from bot.cli.bias_shown import show_stored

    run(show_stored(experiment, output, as_json=as_json))


@bias_app.command("list")
def list_experiments() -> None:
    """List the experiments, newest first."""
    from bot.cli.bias_shown import list_stored

    run(list_stored())
