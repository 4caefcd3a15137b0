"""`council bakeoff`: a suite put to a panel, as often as it is wanted; for checks as well."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.outcome import FAILED, MISUSED, fail, run

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
BakeoffId = Annotated[str, typer.Argument(help="A bake-off's id, its beginning, or last.")]

bakeoff_app = typer.Typer(help="Put suites of questions to panels.", no_args_is_help=True)


# Typer reads its options off the parameters, so there are as many as there are options.
@bakeoff_app.command("run")
def run_bakeoff(  # noqa: PLR0913, PLR0917
    suite: Annotated[
        str, typer.Argument(help="A suite's name, or a file that holds one.", show_default=False)
    ] = "",
    panel: Annotated[str | None, typer.Option(help="A panel of council.toml.")] = None,
    cap: Annotated[
        str, typer.Option(help="The most it may cost, in USD.", show_default=False)
    ] = "",
    resume: Annotated[
        str, typer.Option(help="Go on with a bake-off that ended early.", show_default=False)
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before it begins.")] = False,
    local: Annotated[bool, typer.Option("--local", help="Have the demonstration models.")] = False,
    as_json: Json = False,
    baseline: Annotated[
        Path | None, typer.Option(help="An earlier one's --save or --json: fail where it is worse.")
    ] = None,
    member: Annotated[
        str, typer.Option(help="Fail only where this member is worse.", show_default=False)
    ] = "",
    summary: Annotated[Path | None, typer.Option(help="Write a Markdown summary here.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write its JSON here, as a baseline.")] = None,
) -> None:
    """Hold a suite now. With a baseline: 0 is no worse, 1 worse beyond noise, 2 anything else."""
    if bool(suite) == bool(resume):
        fail("Name a suite or its file, as in: council bakeoff run sql", MISUSED)
    from bot.cli.bakeoff_run import Ended, Request, hold

    ended: list[Ended] = []
    request = Request(
        suite, panel, cap, resume, yes, local, as_json, baseline, member, summary, save
    )
    run(hold(request, ended.append), failing=MISUSED if baseline else FAILED)
    if ended != [Ended.WELL]:
        is_check = baseline and ended != [Ended.WORSE]
        raise typer.Exit(MISUSED if is_check else FAILED)


@bakeoff_app.command("list")
def list_bakeoffs(as_json: Json = False) -> None:
    """List the bake-offs, newest first."""
    from bot.cli.bakeoff_shown import list_all

    run(list_all(as_json=as_json))


@bakeoff_app.command("show")
def show_bakeoff(bakeoff_id: BakeoffId, as_json: Json = False) -> None:
    """Show a bake-off: how far it is, or what came of it."""
    from bot.cli.bakeoff_shown import show

    run(show(bakeoff_id, as_json=as_json))


@bakeoff_app.command("cancel")
def cancel_bakeoff(bakeoff_id: BakeoffId) -> None:
    """Stop spending on a bake-off; what there is of it is kept."""
    from bot.cli.bakeoff_shown import cancel

    run(cancel(bakeoff_id))
