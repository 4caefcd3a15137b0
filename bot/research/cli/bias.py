"""Commands below `council bias`: judges' bias in files of grades and in experiments."""

import asyncio
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot.bakeoffs.cli.bakeoffs import confirm_start, parse_cap
from bot.bakeoffs.cli.suites import find_suite
from bot.bootstrap import StartOptions, open_app
from bot.chat import TERMINAL, TERMINAL_USER
from bot.cli.output import (
    FAILED,
    Json,
    Local,
    async_command,
    check_writable,
    fail,
    print_items,
    print_json,
    print_post,
    read_file,
    text_option,
    write_file,
)
from bot.cli.progress import CountBar, DownloadBar
from bot.cli.rounds import find_round_id
from bot.context import AppContext
from bot.database import Stores, open_stores
from bot.observability import logs
from bot.render.formatting import rough_duration
from bot.research import experiments
from bot.research.experiment_report import (
    ending_lines,
    experiment_document,
    experiment_proposal,
    experiment_title,
    progress_details,
    progress_line,
)
from bot.research.grade_files import read_grades
from bot.research.grade_report import grades_document, grades_post
from bot.research.parts import experiment_store
from bot.research.perplexity import (
    familiarity_document,
    familiarity_post,
    has_local_judges,
    measure_familiarity,
)
from bot.research.services import open_llama_server
from bot.settings import load_settings
from bot.terminal import render_post
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

MAX_PROGRESS_LINES = 20  # where output is no terminal
MIN_FILE_WIDTH = 120  # columns, where output is no terminal


Output = Annotated[Path | None, typer.Option(help="Write the grades to this file.")]


class Parse(Enum):
    """Which reading of the replies counts."""

    PUBLISHED = "published"
    STRICT = "strict"


@async_command
async def of_file(
    file: Annotated[Path, typer.Argument(help="Grades as JSON Lines.")],
    as_json: Json = False,
    parse: Annotated[
        Parse, typer.Option(help="Read grades as the thesis did, or strictly.")
    ] = Parse.PUBLISHED,
) -> None:
    """Measure self-preference from a file of grades."""
    content = read_file(file, "Name a file of grades.")
    grades = read_grades(file.name, content, strict=parse is Parse.STRICT).grades
    report = build_grade_report(grades)
    if as_json:
        print_json(grades_document(report))
    else:
        _print_grade_report(report)


# Typer reads its options off the parameters, so there are as many as there are options.
@async_command
async def run_experiment(  # noqa: PLR0913, PLR0917
    suite: Annotated[str, typer.Argument(help="A suite's name, or a file with one.")],
    panel: Annotated[str | None, typer.Option(help="A panel from council.toml.")] = None,
    output: Output = None,
    usd: Annotated[str, text_option(help="The most it may cost in total, in USD.")] = "",
    new: Annotated[
        bool, typer.Option("--new", help="Start a new one instead of resuming.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Start without asking.")] = False,
    local: Local = False,
    as_json: Json = False,
) -> None:
    """Run an experiment: every model answers and grades.

    It resumes where it stopped.
    """
    logs.configure_logging()
    if output:
        check_writable(output)
    console = Console(stderr=True, highlight=False)
    options = StartOptions(local, DownloadBar(console).show)
    async with open_app(load_settings(), options) as app:
        cap_micro = parse_cap(usd)
        found = await _find_or_create(app, suite, panel, new=new)
        await _print_proposal(app, found, cap_micro, console)
        confirm_start(yes=yes)
        experiment = await experiments.save_experiment(app, found, cap_micro)
        progress = await _follow(app, experiment, console)
        state = await experiment_store(app).load_state(experiment.id)
    _print_results(progress, state, output, as_json=as_json)
    if progress.blocked is not None or not progress.grades:
        raise typer.Exit(FAILED)


@async_command
async def show_experiment(
    experiment: Annotated[
        str, typer.Argument(help="An experiment's id, the start of one, or last.")
    ] = "last",
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Show the result of an experiment."""
    async with open_stores(load_settings()) as stores:
        recent = await experiment_store(stores).list_recent()
        found = experiments.find_experiment(recent, experiment)
        progress, state = await _load_progress(stores, found)
    _print_results(progress, state, output, as_json=as_json)


@async_command
async def list_experiments() -> None:
    """List experiments, newest first."""
    items = []
    async with open_stores(load_settings()) as stores:
        for experiment in await experiment_store(stores).list_recent():
            progress, _ = await _load_progress(stores, experiment)
            name = f"{experiment.suite.name} by {experiment.panel.name}"
            facts = (name, f"{experiment.at:%Y-%m-%d %H:%M}", experiment.id)
            items.append((facts, progress_line(progress)))
    if not items:
        typer.echo(experiments.NO_EXPERIMENTS)
    print_items(items)


@async_command
async def show_perplexity(
    round_id: Annotated[str, typer.Argument(help="A round judged by the demo models.")] = "last",
    as_json: Json = False,
) -> None:
    """Show how familiar each answer is to local judges.

    Also show how that changes the result.
    """
    console = Console(stderr=True, highlight=False)
    start = StartOptions(local=True, on_fetch=DownloadBar(console).show)
    async with open_app(load_settings(), start) as app:
        round_ = await app.store.load(await find_round_id(app.store, round_id))
        if not has_local_judges(round_):
            fail(
                f"No judge of round {round_.id} is a demo model. Other providers return no "
                "log-probabilities of a given text, so there is nothing to measure.",
                FAILED,
            )
        tell = partial(console.print, markup=False, soft_wrap=True)
        found = await measure_familiarity(round_, await open_llama_server(app), tell)
    if as_json:
        print_json(familiarity_document(found))
    else:
        print_post(familiarity_post(found))
    if not found.surprise:
        raise typer.Exit(FAILED)


async def _find_or_create(
    app: AppContext, suite_or_file: str, panel_name: str | None, *, new: bool
) -> Experiment:
    suite = await find_suite(app, suite_or_file)
    panel = app.panel(panel_name, TERMINAL)
    known = None if new else await experiments.find_unfinished(app, suite, panel)
    return known or experiments.new_experiment(app, suite, panel, TERMINAL_USER.id)


async def _print_proposal(
    app: AppContext, experiment: Experiment, cap_micro: int | None, console: Console
) -> None:
    """Print the size and the estimated cost; a cap, if given, replaces the experiment's."""
    if cap_micro is not None:
        experiment = replace(experiment, cap_micro=cap_micro)
    prepared = await experiments.prepare_experiment(app, experiment)
    proposal = experiment_proposal(prepared.experiment, prepared.left, prepared.cost)
    console.print(render_post(proposal))


async def _follow(app: AppContext, experiment: Experiment, console: Console) -> ExperimentProgress:
    try:
        with ExperimentBar(console, experiment) as bar:
            return await experiments.complete_experiment(app, experiment, bar.show)
    except asyncio.CancelledError:
        typer.echo("Stopped. Your progress is saved. Resume with the same command.", err=True)
        raise


class ExperimentBar(CountBar):
    """A bar of an experiment's calls with the time left; on no terminal, a line now and then."""

    def __init__(self, console: Console, experiment: Experiment) -> None:
        super().__init__(console, experiment_title(experiment), experiment.calls)
        self._step = max(1, experiment.calls // MAX_PROGRESS_LINES)
        self._printed_step = -1

    def show(self, progress: ExperimentProgress) -> None:
        """Show the progress of the experiment."""
        left = progress.seconds_left
        time = "" if left is None else f"about {rough_duration(left)} left"
        self.update(progress.over, f"{time}{progress_details(progress)}")
        if not self._console.is_terminal and progress.over // self._step > self._printed_step:
            self._printed_step = progress.over // self._step
            self._console.print(progress_line(progress), markup=False)


async def _load_progress(
    stores: Stores, experiment: Experiment
) -> tuple[ExperimentProgress, ExperimentState]:
    state = await experiment_store(stores).load_state(experiment.id)
    spent = await stores.ledger.spent(experiment.id)
    return experiment_progress(experiment, state, spent), state


def _print_results(
    progress: ExperimentProgress, state: ExperimentState, output: Path | None, *, as_json: bool
) -> None:
    console = Console(stderr=True, highlight=False)
    for line in ending_lines(progress):
        console.print(line, markup=False, soft_wrap=True)
    if output:
        lines = experiments.grade_lines(progress.experiment, state)
        write_file(output, "".join(f"{line}\n" for line in lines).encode())
        console.print(f"Written to {output}.", markup=False, soft_wrap=True)
    settled = [reply for reply in last_replies(state).values() if is_settled(reply)]
    report = build_grade_report([grade_of(progress.experiment, reply) for reply in settled])
    if as_json:
        print_json(experiment_document(progress, report))
    else:
        _print_grade_report(report)


def _print_grade_report(report: GradeReport) -> None:
    """Print a report; its tables are wide where output is no terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, MIN_FILE_WIDTH)
    console.print(render_post(grades_post(report)))
