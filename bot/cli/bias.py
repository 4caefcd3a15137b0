"""The commands `council bias`: the bias of judges, from rounds, from grades, or by experiment."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from bot.bakeoffs.bias_report import bias_report, load_bias, parse_bias_query
from bot.bakeoffs.leaderboard import LeaderboardQuery, LeaderboardQueryError
from bot.bootstrap import StartOptions, Stores, open_app, open_stores
from bot.cli.bakeoffs import confirm_start, parse_cap
from bot.cli.output import (
    FAILED,
    MISUSED,
    Json,
    atomic_write,
    check_writable,
    fail,
    print_json,
    print_posts,
    run,
)
from bot.cli.progress import DownloadBar, ExperimentBar
from bot.cli.rounds import TERMINAL_USER
from bot.cli.suites import find_suite
from bot.context import AppContext
from bot.observability import logs
from bot.render.bias_export import bias_document
from bot.render.bias_message import bias_thread, render_combined_bias_png
from bot.render.bias_view import BiasView
from bot.render.formatting import panel_seat_names
from bot.research import experiments
from bot.research.experiment_report import (
    ending_lines,
    experiment_document,
    experiment_proposal,
    progress_line,
)
from bot.research.grade_files import read_grades
from bot.research.grade_report import grades_document, grades_post
from bot.settings import load_panel_config, load_settings
from bot.terminal import TERMINAL, render_post
from council.errors import GradesError
from council.research.experiment import (
    Experiment,
    ExperimentProgress,
    ExperimentState,
    experiment_progress,
    grade_of,
    is_settled,
    last_replies,
)
from council.research.grades import GradeReport, build_grade_report

MIN_FILE_WIDTH = 120  # columns, where output is no terminal
OF_FILE, OF_ROUNDS = "of", "rounds"


class _FileOrCommand(TyperGroup):
    """A group that reads an unknown command as a file, and `--rounds` as a command."""

    # Typer does not export the type of its contexts.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Insert the command that the arguments imply."""
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
    run(_report_grades(file, strict=parse is Parse.STRICT, as_json=as_json))


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
    options = ExperimentOptions(suite, panel, output, usd, new, yes, local, as_json)
    if not run(_run_experiment(options)):
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
    try:
        query = parse_bias_query(
            {"since": since, "panel": panel, "suite": suite}, datetime.now(UTC)
        )
    except LeaderboardQueryError as error:
        fail(str(error), MISUSED)
    run(_report_rounds(query, as_json=as_json, to_png=to_png))


@bias_app.command("show")
def show_experiment(
    experiment: Annotated[
        str, typer.Argument(help="An experiment's id, its beginning, or last.")
    ] = "last",
    output: Annotated[Path | None, typer.Option(help="Write the grades here.")] = None,
    as_json: Json = False,
) -> None:
    """Show what came of an experiment."""
    run(_show_experiment(experiment, output, as_json=as_json))


@bias_app.command("list")
def list_experiments() -> None:
    """List the experiments, newest first."""
    run(_list_experiments())


# --- Grades from a file


async def _report_grades(path: Path, *, strict: bool, as_json: bool) -> None:
    """Print a report on the grades of a file, or its JSON."""
    report = build_grade_report(read_grades(path.name, _read_file(path), strict=strict).grades)
    if as_json:
        print_json(grades_document(report))
    else:
        _print_grade_report(report)


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise GradesError(
            f"{path} cannot be read ({error.strerror}): name a file of grades."
        ) from None


def _print_grade_report(report: GradeReport) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, MIN_FILE_WIDTH)
    console.print(render_post(grades_post(report)))


# --- Stored rounds


async def _report_rounds(query: LeaderboardQuery, *, as_json: bool, to_png: Path | None) -> None:
    """Print a report on the judges of stored rounds, or its JSON; draw its figures."""
    settings = load_settings()
    names = panel_seat_names(load_panel_config(settings.config_file).panels.values())
    async with open_stores(settings) as stores:
        measure = partial(bias_report, tell=partial(typer.echo, err=True))
        bias = await load_bias(stores, query, names, measure)
    print_bias(bias, as_json=as_json, to_png=to_png)


def print_bias(bias: BiasView, *, as_json: bool, to_png: Path | None) -> None:
    """Print a report or its JSON, and draw its figures into a file if one is named."""
    if to_png:
        with atomic_write(to_png) as file:
            file.write(render_combined_bias_png(bias))
    if as_json:
        print_json(bias_document(bias))
        return
    if to_png:
        typer.echo(f"Written to {to_png}.")
    thread = bias_thread(bias)
    print_posts((thread.root, *thread.replies))


# --- Experiments


@dataclass(frozen=True, slots=True)
class ExperimentOptions:
    """The options of `council bias run`."""

    suite: str
    panel: str | None
    output: Path | None
    cap: str
    new: bool
    yes: bool
    local: bool
    as_json: bool


async def _run_experiment(options: ExperimentOptions) -> bool:
    """Run or resume an experiment and print its results.

    Return whether every call was made and at least one gave a grade.
    """
    logs.configure_logging()
    if options.output:
        check_writable(options.output)
    console = Console(stderr=True, highlight=False)
    bar = DownloadBar(console)
    async with open_app(load_settings(), StartOptions(options.local, bar.show)) as app:
        experiment = await _open_experiment(app, options, console)
        progress = await _follow(app, experiment, console)
        state = await app.experiments.load_state(experiment.id)
    _print_experiment(progress, state, options.output, as_json=options.as_json)
    return progress.blocked is None and progress.grades > 0


async def _open_experiment(
    app: AppContext, options: ExperimentOptions, console: Console
) -> Experiment:
    """Print the estimated cost, ask, and store the experiment."""
    cap_micro = parse_cap(options.cap)
    suite = await find_suite(app, options.suite)
    panel = app.panel(options.panel, TERMINAL)
    known = None if options.new else await experiments.find_unfinished(app, suite, panel)
    wanted = known or experiments.new_experiment(app, suite, panel, TERMINAL_USER.id)
    prepared = await experiments.prepare_experiment(
        app, wanted if cap_micro is None else replace(wanted, cap_micro=cap_micro)
    )
    console.print(
        render_post(experiment_proposal(prepared.experiment, prepared.left, prepared.cost))
    )
    confirm_start(yes=options.yes)
    return await experiments.save_experiment(app, wanted, cap_micro)


async def _follow(app: AppContext, experiment: Experiment, console: Console) -> ExperimentProgress:
    """Run an experiment to its end; Ctrl-C stops spending."""
    bar = ExperimentBar(console, experiment)
    try:
        return await experiments.complete_experiment(app, experiment, bar.show)
    except asyncio.CancelledError:
        bar.close()
        typer.echo("Stopped; what there is is kept. The same command goes on.", err=True)
        raise
    finally:
        bar.close()


def _print_experiment(
    progress: ExperimentProgress, state: ExperimentState, output: Path | None, *, as_json: bool
) -> None:
    """Print the results of an experiment, and write its grades to a file if one is named."""
    console = Console(stderr=True, highlight=False)
    for line in ending_lines(progress):
        console.print(line, markup=False, soft_wrap=True)
    if output:
        with atomic_write(output) as file:
            lines = experiments.grade_lines(progress.experiment, state)
            file.writelines(f"{line}\n".encode() for line in lines)
        console.print(f"Written to {output}.", markup=False, soft_wrap=True)
    settled = [mark for mark in last_replies(state).values() if is_settled(mark)]
    report = build_grade_report([grade_of(progress.experiment, mark) for mark in settled])
    if as_json:
        print_json(experiment_document(progress, report))
    else:
        _print_grade_report(report)


async def _show_experiment(start: str, output: Path | None, *, as_json: bool) -> None:
    """Print the results of a stored experiment."""
    async with open_stores(load_settings()) as stores:
        experiment = experiments.find_experiment(await stores.experiments.list_recent(), start)
        state = await stores.experiments.load_state(experiment.id)
        progress = await _progress(stores, experiment, state)
    _print_experiment(progress, state, output, as_json=as_json)


async def _list_experiments() -> None:
    """Print a line for each experiment, newest first."""
    async with open_stores(load_settings()) as stores:
        for experiment in await stores.experiments.list_recent():
            state = await stores.experiments.load_state(experiment.id)
            name = f"{experiment.suite.name} by {experiment.panel.name}"
            outcome = progress_line(await _progress(stores, experiment, state))
            typer.echo(f"{experiment.id}  {experiment.at:%Y-%m-%d %H:%M}  {name}  {outcome}")


async def _progress(
    stores: Stores, experiment: Experiment, state: ExperimentState
) -> ExperimentProgress:
    return experiment_progress(experiment, state, await stores.ledger.spent(experiment.id))
