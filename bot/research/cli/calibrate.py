"""The command `council criteria`: criteria for judges, drafted from people's votes."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot.bakeoffs.cli.bakeoffs import confirm_start, parse_cap
from bot.bootstrap import StartOptions, open_app
from bot.chat import TERMINAL, TERMINAL_USER
from bot.cli.completion import complete
from bot.cli.output import (
    FAILED,
    Json,
    async_command,
    check_writable,
    print_json,
    text_option,
    write_file,
)
from bot.cli.progress import DownloadBar
from bot.commands.parameters import Kind
from bot.observability import logs
from bot.render.formatting import count_noun, max_cost_text
from bot.research.calibration import (
    CriteriaRun,
    calibration_document,
    calibration_lines,
    estimate_criteria,
    find_criteria,
    load_examples,
    rubric_toml,
)
from bot.settings import load_settings
from council.research.criteria import check_votes


# Typer reads its options off the parameters, so there are as many as there are options.
@async_command
async def criteria(  # noqa: PLR0913, PLR0917
    panel: Annotated[
        str | None,
        typer.Option(help="The panel with the votes.", autocompletion=complete(Kind.PANEL)),
    ] = None,
    workspace: Annotated[
        str,
        text_option(
            help="Only votes from this workspace: slack/T1, or local for page, terminal and API."
        ),
    ] = "",
    output: Annotated[
        Path | None, typer.Option(help="Write criteria that help to this file, as TOML.")
    ] = None,
    usd: Annotated[str, text_option(help="The most it may cost in total, in USD.")] = "",
    seed: Annotated[
        str, typer.Option(help="Any text; the same seed gives the same samples.")
    ] = "criteria",
    yes: Annotated[bool, typer.Option("--yes", help="Start without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Draft criteria for judges from people's blind votes.

    They are kept only if they help.

    The panel's first chairman drafts from a third of the rounds that people voted on, and its
    judges try the best draft on the others. Exits 1 if the criteria in use stay.
    """
    logs.configure_logging()
    cap_micro = parse_cap(usd)
    if output:
        check_writable(output)
    console = Console(stderr=True, highlight=False)
    async with open_app(load_settings(), StartOptions(on_fetch=DownloadBar(console).show)) as app:
        chosen = app.panel(panel, TERMINAL)
        examples = await load_examples(app.store, chosen, workspace)
        check_votes(examples)
        run = CriteriaRun(chosen, examples, seed, app.now(), app.registry)
        cost = await estimate_criteria(run, app.gateway)
        app.budget.check_prices(chosen, cost)
        console.print(
            f"{count_noun(run.votes, 'vote')} on {count_noun(len(examples), 'round')} of panel "
            f"{chosen.name}. {max_cost_text(cost.micro, cost.unknown)}.",
            markup=False,
            soft_wrap=True,
        )
        confirm_start(yes=yes)
        found = await find_criteria(app, run, TERMINAL_USER.id, cap_micro)
    toml = rubric_toml(run, found)
    if output and toml:
        write_file(output, toml.encode())
    if as_json:
        print_json(calibration_document(run, found))
    else:
        typer.echo("\n".join((*calibration_lines(run, found), toml)).rstrip())
    if not found.is_adopted:
        raise typer.Exit(FAILED)
