"""The progress bar of an experiment."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from pathlib import Path
from sys import stdin
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars
from typer.core import TyperGroup

from bot.bakeoffs.bias_report import bias_report, bias_sought, shown_bias
from bot.bakeoffs.leaderboard import LeaderboardQuery, LeaderboardQueryError
from bot.bootstrap import StartOptions, opened_app, opened_books
from bot.cli.bakeoffs import YOU
from bot.cli.output import (
    FAILED,
    MISUSED,
    check_writable,
    fail,
    print_posts,
    run,
    say_json,
    written_whole,
)
from bot.cli.serve import DownloadBar
from bot.cli.suites import suite_named
from bot.commands.bakeoffs import read_cap
from bot.commands.context import AppContext
from bot.observability import logs
from bot.render.bias_export import bias_document
from bot.render.bias_message import bias_thread, whole_picture_of
from bot.render.bias_view import ShownBias
from bot.render.formatting import known_names, roughly
from bot.research.experiment_report import (
    ending_lines,
    experiment_document,
    experiment_proposal,
    experiment_title,
    going,
    going_beside,
)
from bot.research.experiments import (
    found,
    hold,
    keep,
    lines_of,
    meant_experiment,
    new_experiment,
    unfinished,
)
from bot.research.grade_files import read_grades
from bot.research.grade_report import grades_document, grades_post
from bot.settings import load_houses, load_settings
from bot.terminal import HERE, dressed
from council.errors import BakeoffError, GradesError
from council.research.experiment import (
    Experiment,
    ExperimentState,
    Progress,
    grade_of,
    is_settled,
    last_marks,
    standing,
)
from council.research.grades import GradeReport, grade_report

# --- The progress bar of an experiment.

_LINES = 20  # on no terminal, so many lines for the whole experiment


class ExperimentBar:
    """Shows a bar of calls with the time that is left; on no terminal, a line now and then."""

    def __init__(self, console: Console, experiment: Experiment) -> None:
        self._console = console
        self._step = max(1, experiment.calls // _LINES)
        self._told = -1
        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}", markup=False),
            console=console,
        )
        title = experiment_title(experiment)
        self._task = self._bars.add_task(title, total=experiment.calls, told="")
        if console.is_terminal:
            self._bars.start()

    def show(self, progress: Progress) -> None:
        """Take note of how far it is."""
        left = progress.seconds_left
        time = "" if left is None else f"about {roughly(left)} left"
        told = f"{time}{going_beside(progress)}"
        self._bars.update(self._task, completed=progress.over, told=told)
        if not self._console.is_terminal and progress.over // self._step > self._told:
            self._told = progress.over // self._step
            self._console.print(going(progress), markup=False)

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bars.stop()


# --- Self-preference by grades from a file, printed.

WIDEST = 120  # columns of what goes to a file or another program


async def report_file(path: Path, *, strict: bool, as_json: bool) -> None:
    """Print what the grades of a file tell, or its JSON."""
    read = read_grades(path.name, _content(path), strict=strict)
    show_report(grade_report(read.grades), as_json=as_json)


def show_report(report: GradeReport, *, as_json: bool) -> None:
    """Print a report on grades, or its JSON."""
    if as_json:
        say_json(grades_document(report))
        return
    from rich.console import Console

    from bot.terminal import dressed

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, WIDEST)
    console.print(dressed(grades_post(report)))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise GradesError(
            f"{path} cannot be read ({error.strerror}): name a file of grades."
        ) from None


# --- The bias of judges over the stored rounds: printed, as JSON, as a picture.


def report_rounds(given: Mapping[str, str], *, as_json: bool, to_png: Path | None) -> None:
    """Report on the rounds that options mean: since, panel and suite; "" means nothing."""
    try:
        sought = bias_sought(given, datetime.now(UTC))
    except LeaderboardQueryError as error:
        fail(str(error), MISUSED)
    run(_report(sought, as_json=as_json, to_png=to_png))


async def _report(sought: LeaderboardQuery, *, as_json: bool, to_png: Path | None) -> None:
    settings = load_settings()
    names = known_names(load_houses(settings.named_config).panels.values())
    async with opened_books(settings) as books:
        measure = partial(bias_report, tell=partial(typer.echo, err=True))
        bias = await shown_bias(books, sought, names, measure)
    give(bias, as_json=as_json, to_png=to_png)


def give(bias: ShownBias, *, as_json: bool, to_png: Path | None) -> None:
    """Print a report, or its JSON, and draw its figures into a file where one is named."""
    if to_png:
        with written_whole(to_png) as file:
            file.write(whole_picture_of(bias))
    if as_json:
        say_json(bias_document(bias))
        return
    if to_png:
        typer.echo(f"Written to {to_png}.")
    thread = bias_thread(bias)
    print_posts((thread.root, *thread.replies))


# --- What came of experiments, listed and printed.


@dataclass(frozen=True, slots=True)
class Shown:
    """An experiment as it stands, with what is held of it."""

    progress: Progress
    held: ExperimentState

    @property
    def report(self) -> GradeReport:
        """What its grades tell."""
        settled = [mark for mark in last_marks(self.held).values() if is_settled(mark)]
        return grade_report([grade_of(self.progress.experiment, mark) for mark in settled])


def show(shown: Shown, output: Path | None, *, as_json: bool) -> None:
    """Print what came of an experiment, and write the file that is wanted."""
    console = Console(stderr=True, highlight=False)
    for line in ending_lines(shown.progress):
        console.print(line, markup=False, soft_wrap=True)
    if output:
        with written_whole(output) as file:
            lines = lines_of(shown.progress.experiment, shown.held)
            file.writelines(f"{line}\n".encode() for line in lines)
        console.print(f"Written to {output}.", markup=False, soft_wrap=True)
    if as_json:
        say_json(experiment_document(shown.progress, shown.report))
    else:
        show_report(shown.report, as_json=False)


async def show_stored(wanted: str, output: Path | None, *, as_json: bool) -> None:
    """Print what came of a stored experiment."""
    async with opened_books(load_settings()) as books:
        experiment = meant_experiment(await books.experiments.recent(), wanted)
        held = await books.experiments.held(experiment.id)
        spent = await books.ledger.spent(experiment.id)
    show(Shown(standing(experiment, held, spent), held), output, as_json=as_json)


async def list_stored() -> None:
    """Print a line for each experiment, newest first."""
    async with opened_books(load_settings()) as books:
        for experiment in await books.experiments.recent():
            held = await books.experiments.held(experiment.id)
            spent = await books.ledger.spent(experiment.id)
            name = f"{experiment.suite.name} by {experiment.panel.name}"
            state = going(standing(experiment, held, spent))
            typer.echo(f"{experiment.id}  {experiment.at:%Y-%m-%d %H:%M}  {name}  {state}")


# --- The thesis' experiment from the command line: from the suite to the report on its grades.


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
    bar = DownloadBar(console)
    async with opened_app(load_settings(), StartOptions(request.local, bar.show)) as app:
        begun = await _begun(app, request, console)
        progress = await _carried(app, begun, console)
        held = await app.experiments.held(begun.id)
    show(Shown(progress, held), request.output, as_json=request.as_json)
    tell(progress.blocked is None and progress.grades > 0)


async def _begun(app: AppContext, request: Request, console: Console) -> Experiment:
    """Say what it comes to, ask where somebody can answer, and keep it."""
    cap = _micro(request.cap)
    suite = await suite_named(app, request.suite)
    panel = app.panel(request.panel, HERE)
    known = None if request.new else await unfinished(app, suite, panel)
    wanted = known or new_experiment(app, suite, panel, YOU.asker.id)
    there = await found(app, wanted if cap is None else replace(wanted, cap_micro=cap))
    console.print(dressed(experiment_proposal(there.experiment, there.left, there.cost)))
    if not request.yes and stdin.isatty() and not typer.confirm("Start?", err=True):
        fail("Nothing was begun, and nothing is spent.", MISUSED)
    return await keep(app, wanted, cap)


def _micro(cap: str) -> int | None:
    try:
        return read_cap(cap) if cap else None
    except BakeoffError as error:
        fail(str(error), MISUSED)


async def _carried(app: AppContext, experiment: Experiment, console: Console) -> Progress:
    """Hold it to its end; Ctrl-C stops spending and keeps what there is."""
    bar = ExperimentBar(console, experiment)
    try:
        return await hold(app, experiment, bar.show)
    except asyncio.CancelledError:
        bar.close()
        typer.echo("Stopped; what there is is kept. The same command goes on.", err=True)
        raise
    finally:
        bar.close()


# --- `council bias`: what grades and rounds tell of judges, and the experiment that makes grades.

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
    run(show_stored(experiment, output, as_json=as_json))


@bias_app.command("list")
def list_experiments() -> None:
    """List the experiments, newest first."""
    run(list_stored())
