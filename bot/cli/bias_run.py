"""The thesis' experiment from the command line: from the suite to the report on its grades."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from sys import stdin

import typer
from rich.console import Console

from bot.cli.bakeoff_shown import YOU
from bot.cli.bias_shown import Shown, show
from bot.cli.experiment_bar import ExperimentBar
from bot.cli.fetching import FetchBar
from bot.cli.outcome import MISUSED, fail
from bot.cli.suite_named import suite_named
from bot.cli.whole_file import check_writable
from bot.commands.bakeoffs import read_cap
from bot.commands.context import Desk
from bot.experiments.holding import found, hold, keep, new_experiment, unfinished
from bot.observability import logs
from bot.research.experiment_report import experiment_proposal
from bot.settings import load_settings
from bot.terminal import HERE, dressed
from bot.wiring import Wishes, opened_desk
from council.errors import BakeoffError
from council.research.experiment import Experiment, Progress


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    suite: str
    panel: str | None
    output: Path | None
    cap: str
    new: bool
    yes: bool
    local: bool
    as_json: bool


async def hold_experiment(request: Request, tell: Callable[[bool], None]) -> None:
    """Hold an experiment, or go on with one, and show what came of it.

    `tell` hears whether every call was made, and any of them gave a grade.
    """
    logs.set_up()
    if request.output:
        check_writable(request.output)
    console = Console(stderr=True, highlight=False)
    bar = FetchBar(console)
    async with opened_desk(load_settings(), Wishes(request.local, bar.show)) as desk:
        begun = await _begun(desk, request, console)
        progress = await _carried(desk, begun, console)
        held = await desk.experiments.held(begun.id)
    show(Shown(progress, held), request.output, as_json=request.as_json)
    tell(progress.blocked is None and progress.grades > 0)


async def _begun(desk: Desk, request: Request, console: Console) -> Experiment:
    """Say what it comes to, ask where somebody can answer, and keep it."""
    cap = _micro(request.cap)
    suite = await suite_named(desk, request.suite)
    panel = desk.panel(request.panel, HERE)
    known = None if request.new else await unfinished(desk, suite, panel)
    wanted = known or new_experiment(desk, suite, panel, YOU.asker.id)
    there = await found(desk, wanted if cap is None else replace(wanted, cap_micro=cap))
    console.print(dressed(experiment_proposal(there.experiment, there.left, there.cost)))
    if not request.yes and stdin.isatty() and not typer.confirm("Start?", err=True):
        fail("Nothing was begun, and nothing is spent.", MISUSED)
    return await keep(desk, wanted, cap)


def _micro(cap: str) -> int | None:
    try:
        return read_cap(cap) if cap else None
    except BakeoffError as error:
        fail(str(error), MISUSED)


async def _carried(desk: Desk, experiment: Experiment, console: Console) -> Progress:
    """Hold it to its end; Ctrl-C stops spending and keeps what there is."""
    bar = ExperimentBar(console, experiment)
    try:
        return await hold(desk, experiment, bar.show)
    except asyncio.CancelledError:
        bar.close()
        typer.echo("Stopped; what there is is kept. The same command goes on.", err=True)
        raise
    finally:
        bar.close()
