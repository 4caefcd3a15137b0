"""The commands `council bakeoff`: run suites of questions on panels, and use runs as checks."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from sys import stdin
from typing import Annotated

import typer
from rich.console import Console

from bot.bakeoffs import lifecycle
from bot.bakeoffs.cli.progress import BakeoffBar
from bot.bakeoffs.cli.suites import find_suite
from bot.bakeoffs.commands import trials, voting
from bot.bakeoffs.commands.bakeoffs import (
    CANCELLED,
    apply_methods,
    change_baseline,
    find_bakeoff,
    load_readable_bakeoffs,
    parse_cap_text,
)
from bot.bakeoffs.matrix import (
    BakeoffResults,
    against_baseline,
    compare_with_baseline,
    load_results,
)
from bot.bakeoffs.outcomes import load_outcome
from bot.bakeoffs.parts import bakeoff_registry, bakeoff_stores
from bot.bakeoffs.records import Baseline, check_comparable, load_closed_rounds, read_baseline
from bot.bakeoffs.render.bakeoffs import (
    bakeoff_state,
    bakeoff_summary_document,
    proposal_post,
    result_thread,
    summary_markdown,
)
from bot.bakeoffs.render.junit import Case, Outcome, bakeoff_cases, junit_xml
from bot.bakeoffs.render.leaderboard import leaderboard_thread
from bot.bakeoffs.render.matrix import grader_lines, matrix_csv, matrix_post
from bot.bakeoffs.render.pull_request import pull_request_comment
from bot.bakeoffs.render.trials import trial_document, trial_proposal_post, trial_thread
from bot.bakeoffs.runner import estimate_bakeoff
from bot.bakeoffs.trials import Tried, load_tried, trial_of
from bot.bootstrap import StartOptions, open_app
from bot.chat import TERMINAL, TERMINAL_USER, IncomingMessage
from bot.cli.completion import complete
from bot.cli.output import (
    FAILED,
    MISUSED,
    FileError,
    FullBoard,
    Json,
    Local,
    async_command,
    check_writable,
    dump_json,
    fail,
    print_items,
    print_json,
    print_note,
    print_posts,
    run,
    text_option,
    write_file,
)
from bot.cli.progress import DownloadBar
from bot.commands.parameters import LAST, Kind
from bot.commands.rounds import FeedbackError
from bot.commands.voting import cast_vote
from bot.context import AppContext
from bot.observability import logs
from bot.render.formatting import count_noun
from bot.settings import load_settings
from bot.terminal import render_post
from council.bakeoffs.changes import Changes
from council.bakeoffs.models import Bakeoff
from council.errors import BakeoffError

BakeoffId = Annotated[
    str,
    typer.Argument(
        help="A bake-off's id, the start of one, or last.",
        autocompletion=complete(suggest="bot.bakeoffs.commands.table:suggest_bakeoffs"),
    ),
]

MESSAGE = IncomingMessage("", TERMINAL_USER, TERMINAL, "")

bakeoff_app = typer.Typer(help="Run a suite of questions on a panel.", no_args_is_help=True)


Suite = Annotated[
    str,
    typer.Argument(
        help="A suite's name, or a file with one.",
        show_default=False,
        autocompletion=complete(suggest="bot.bakeoffs.commands.table:suggest_suites"),
    ),
]
PanelName = Annotated[
    str | None, typer.Option(help="A panel, by name.", autocompletion=complete(Kind.PANEL))
]
Cap = Annotated[str, text_option(help="The most it may cost, in US dollars.")]
Yes = Annotated[bool, typer.Option("--yes", help="Start without asking.")]


# Typer reads its options off the parameters, so there are as many as there are options.
@bakeoff_app.command("run")
def run_bakeoff(  # noqa: PLR0913, PLR0917
    suite: Suite = "",
    panel: PanelName = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="How answers are judged; twice or more to compare methods."),
    ] = None,
    cap: Cap = "",
    resume: Annotated[str, text_option(help="Resume a bake-off that ended early.")] = "",
    yes: Yes = False,
    local: Local = False,
    as_json: Json = False,
    baseline: Annotated[
        Path | None,
        typer.Option(help="An earlier --save or --json: exit with 1 if results regress."),
    ] = None,
    member: Annotated[str, text_option(help="Fail only if this model is worse.")] = "",
    summary: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write leaderboard and wrong answers as Markdown."),
    ] = None,
    comment: Annotated[
        Path | None,
        typer.Option(help="Write a comment for a pull request, as Markdown."),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(help="Write JUnit XML: a test case for each question and model."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the result as JSON, for use as a baseline.")
    ] = None,
) -> None:
    """Run a bake-off. With a baseline, exits 1 if results regress."""
    if bool(suite) == bool(resume):
        fail("Name a suite or its file, as in: council bakeoff run sql", MISUSED)

    options = RunOptions(
        suite,
        panel,
        tuple(method or ()),
        cap,
        resume,
        yes,
        local,
        as_json,
        baseline,
        member,
        summary,
        comment,
        junit,
        save,
    )
    if code := run(_run(options), options.failure_code):
        raise typer.Exit(code)


@bakeoff_app.command("try")
@async_command
async def try_model(  # noqa: PLR0913, PLR0917
    model: Annotated[str, typer.Argument(help="A model that is not in the panel.")],
    suite: Suite,
    panel: PanelName = None,
    incumbent: Annotated[str, text_option(help="The model that it may replace.")] = "",
    cap: Cap = "",
    yes: Yes = False,
    local: Local = False,
    as_json: Json = False,
) -> None:
    """Try a new model on a suite: should it replace one of the panel's?

    The panel's stored answers are used again. It stops as soon as the answer is clear.
    """
    logs.configure_logging()
    console = Console(stderr=True, highlight=False)
    start = StartOptions(local, DownloadBar(console).show)
    async with open_app(load_settings(), start) as app:
        asked = await find_suite(app, suite)
        message = IncomingMessage("", TERMINAL_USER, TERMINAL, app.new_id())
        bakeoff = trials.new_trial(
            app, message, asked, app.panel(panel, TERMINAL), (model, incumbent)
        )
        bakeoff = replace(bakeoff, cap_micro=parse_cap(cap))
        plan = await trials.plan_trial(app, bakeoff)
        console.print(render_post(trial_proposal_post(bakeoff, trial_of(bakeoff), plan)))
        confirm_start(yes=yes)
        await bakeoff_stores(app).bakeoffs.open(bakeoff)
        await _follow(app, bakeoff, console)
        stored = await bakeoff_stores(app).bakeoffs.load(bakeoff.id)
        tried = await load_tried(app, await lifecycle.load_progress(app, stored))
    if as_json:
        print_json(trial_document(tried))
    else:
        _print_trial(tried)


def _print_trial(tried: Tried) -> None:
    thread = trial_thread(tried)
    print_posts((thread.root, *thread.replies))


@bakeoff_app.command("list")
@async_command
async def list_bakeoffs(as_json: Json = False) -> None:
    """List bake-offs, newest first."""
    async with open_app(load_settings()) as app:
        bakeoffs = await load_readable_bakeoffs(app, MESSAGE)
        all_progress = [await lifecycle.load_progress(app, bakeoff) for bakeoff in bakeoffs]
        outcomes = {one.bakeoff.id: await load_outcome(app, one) for one in all_progress}
    if as_json:
        print_json(
            [
                bakeoff_summary_document(one) | {"headline": outcomes[one.bakeoff.id]}
                for one in all_progress
            ]
        )
        return
    if not all_progress:
        typer.echo("No bake-offs yet. Run a suite of questions with: council bakeoff run SUITE")
    print_items(
        (
            (_title(one.bakeoff), f"{one.bakeoff.at:%Y-%m-%d %H:%M}", one.bakeoff.id),
            outcomes[one.bakeoff.id] or bakeoff_state(one),
        )
        for one in all_progress
    )


def _title(bakeoff: Bakeoff) -> str:
    return f"{bakeoff.suite.name} by {bakeoff.panel.name}"


@bakeoff_app.command("show")
@async_command
async def show_bakeoff(
    bakeoff_id: BakeoffId,
    against: Annotated[str, text_option(help="Also show what changed since this run.")] = "",
    to_csv: Annotated[
        Path | None, typer.Option("--csv", help="Write the matrix to a CSV file.")
    ] = None,
    full: FullBoard = False,
    as_json: Json = False,
) -> None:
    """Show a bake-off: its result, question by question."""
    async with open_app(load_settings()) as app:
        bakeoff = await find_bakeoff(app, MESSAGE, bakeoff_id)
        other = await find_bakeoff(app, MESSAGE, against) if against else None
        results = await load_results(app, await lifecycle.load_progress(app, bakeoff), other)
    if to_csv:
        write_file(to_csv, matrix_csv(results.run).encode())
    if as_json:
        print_json(results.document)
        return
    _print(results, full=full)
    print_posts((matrix_post(results.run, results.board.names),))
    if to_csv:
        typer.echo(f"Saved to {to_csv}.")


@bakeoff_app.command("vote")
@async_command
async def vote(bakeoff_id: BakeoffId = LAST) -> None:
    """Vote for the best answers of a bake-off, without names."""
    async with open_app(load_settings()) as app:
        bakeoff = await find_bakeoff(app, MESSAGE, bakeoff_id)
        while True:
            print_posts(await voting.next_question_posts(app, MESSAGE, bakeoff.id))
            round_ = await voting.next_question(app, bakeoff, TERMINAL_USER.id)
            choice = _ask_vote() if round_ and stdin.isatty() else ""
            if round_ is None or not choice:
                return
            try:
                await cast_vote(app, round_, TERMINAL_USER.id, choice, hides_result=True)
            except FeedbackError as error:
                typer.echo(str(error), err=True)


def _ask_vote() -> str:
    """Return what was typed; nothing at the end of the input, too."""
    try:
        choice: str = typer.prompt(
            "The best answer's letter, or an order (K > M = L); Enter to stop",
            default="",
            show_default=False,
        )
    except typer.Abort:
        return ""
    return choice


@bakeoff_app.command("cancel")
@async_command
async def cancel_bakeoff(bakeoff_id: BakeoffId) -> None:
    """Stop a bake-off; finished rounds are kept."""
    async with open_app(load_settings()) as app:
        bakeoff = await find_bakeoff(app, MESSAGE, bakeoff_id)
        kept = await lifecycle.stop_bakeoff(app, bakeoff, CANCELLED)
    of = count_noun(len(bakeoff.suite.questions), "question")
    typer.echo(f"The bake-off of {bakeoff.suite.name} is cancelled; {kept} of {of} are saved.")


@bakeoff_app.command("bless")
@async_command
async def bless_bakeoff(
    bakeoff_id: BakeoffId,
    undo: Annotated[bool, typer.Option("--undo", help="Compare with earlier runs again.")] = False,
) -> None:
    """Compare later runs of its suite by its panel with this bake-off."""
    async with open_app(load_settings()) as app:
        bakeoff = await find_bakeoff(app, MESSAGE, bakeoff_id)
        typer.echo(await change_baseline(app, bakeoff, wanted=not undo))


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `council bakeoff run`."""

    suite: str
    panel: str | None
    methods: tuple[str, ...]
    cap: str
    resume: str
    yes: bool
    local: bool
    as_json: bool
    baseline: Path | None
    member: str
    summary: Path | None
    comment: Path | None
    junit: Path | None
    save: Path | None

    @property
    def files(self) -> list[Path]:
        """The files that it writes."""
        named = (self.save, self.junit, self.summary, self.comment)
        return [path for path in named if path]

    @property
    def failure_code(self) -> int:
        """The exit code of a run that fails; with a baseline, 1 says that a member is worse."""
        return MISUSED if self.baseline else FAILED


async def _run(options: RunOptions) -> int:
    logs.configure_logging()
    console = Console(stderr=True, highlight=False)
    _check_files(options.files)
    before = read_baseline(options.baseline) if options.baseline else None
    start = StartOptions(options.local, DownloadBar(console).show)
    async with open_app(load_settings(), start) as app:
        bakeoff = await _bakeoff(app, options, before)
        if before:
            check_comparable(before, bakeoff)
        seats, member = [seat.key for seat in bakeoff.panel.members], options.member
        if member and member not in seats:
            panel = f"Panel {bakeoff.panel.name!r}"
            fail(f"{panel} has no model {member!r}: {', '.join(seats)}.", MISUSED)
        await _open(app, options, bakeoff, console)
        await _follow(app, bakeoff, console)
        stored = await bakeoff_stores(app).bakeoffs.load(bakeoff.id)
        results = await load_results(app, await lifecycle.load_progress(app, stored))
        quotes_answers = options.junit or options.summary or options.baseline
        rounds = await load_closed_rounds(app, stored) if quotes_answers else ()
    changes = compare_with_baseline(results.records, before) if before else None
    run = against_baseline(results.run, before) if before else results.run
    comment = partial(
        pull_request_comment, results.progress, results.board, run, changes, options.member
    )
    cases = bakeoff_cases(results.progress, rounds)
    summary = _summary(options, results, cases, changes)
    faults = [*_write_files(options, results, cases, summary, comment)]
    _print_results(options, results, summary)
    if faults:
        saved = f"The bake-off is saved: council bakeoff show {stored.id} --json"
        fail(" ".join((*faults, saved)), options.failure_code)
    return _exit_code(options, results, changes)


def _check_files(paths: Iterable[Path]) -> None:
    """Exit with code 2 if a file can't be written, before anything is asked."""
    try:
        for path in paths:
            check_writable(path)
    except FileError as error:
        fail(f"{error} Nothing was asked.", MISUSED)


def _exit_code(options: RunOptions, results: BakeoffResults, changes: Changes | None) -> int:
    """Return 0, also for a trial that ends undecided; 1 for a model that got worse."""
    progress = results.progress
    if results.tried:
        return 0
    if not progress.is_complete or len(progress.failed) == progress.questions:
        return options.failure_code
    return FAILED if changes and changes.worse(options.member) else 0


async def _bakeoff(app: AppContext, options: RunOptions, before: Baseline | None) -> Bakeoff:
    """Return the bake-off to run; unless a method is named, under that of the baseline."""
    cap_micro = parse_cap(options.cap)
    if options.resume:
        stopped = await find_bakeoff(app, MESSAGE, options.resume)
        return stopped if cap_micro is None else replace(stopped, cap_micro=cap_micro)
    suite = await find_suite(app, options.suite)
    panel = app.panel(options.panel, TERMINAL)
    methods = options.methods or ((before.method,) if before and before.method else ())
    suite, panel = apply_methods(suite, panel, methods, app.registry)
    return Bakeoff(
        id=f"bo:{app.new_id()}",
        suite=suite,
        panel=panel,
        place=TERMINAL,
        asked_by=TERMINAL_USER.id,
        at=app.now(),
        cap_micro=cap_micro,
    )


def parse_cap(cap: str) -> int | None:
    """Return a cap in micro-dollars, None for ""; exit with code 2 if it is no amount."""
    try:
        return parse_cap_text(cap) if cap else None
    except BakeoffError as error:
        fail(str(error), MISUSED)


async def _open(app: AppContext, options: RunOptions, bakeoff: Bakeoff, console: Console) -> None:
    if options.resume:
        await lifecycle.reopen_bakeoff(app, bakeoff, parse_cap(options.cap))
        return
    cost = await estimate_bakeoff(app, bakeoff)
    console.print(render_post(proposal_post(bakeoff, cost, "")))
    confirm_start(yes=options.yes)
    await bakeoff_stores(app).bakeoffs.open(bakeoff)


def confirm_start(*, yes: bool) -> None:
    """Ask whether to start, unless `yes` or there is no terminal; exit with code 2 if not."""
    if not yes and stdin.isatty() and not typer.confirm("Start?", err=True):
        fail("Nothing was started and nothing was spent.", MISUSED)


async def _follow(app: AppContext, bakeoff: Bakeoff, console: Console) -> None:
    try:
        with BakeoffBar(console, bakeoff) as bar:
            await lifecycle.begin_bakeoff(app, None, bakeoff)
            async for progress in bakeoff_registry(app).subscribe(bakeoff.id):
                bar.show(progress)
    except asyncio.CancelledError:
        with suppress(BakeoffError):
            await lifecycle.stop_bakeoff(app, bakeoff, CANCELLED)
        resume = f"council bakeoff run --resume {bakeoff.typed_name}"
        typer.echo(f"Stopped. Your progress is saved. Resume with: {resume}", err=True)
        raise


def _print(results: BakeoffResults, *, full: bool) -> None:
    """Print the results as they read in a chat, and `full` what a thread there has.

    Methods are compared in the matrix instead.
    """
    if results.tried:
        _print_trial(results.tried)
        return
    is_one_board = results.board.board.rows and not results.progress.bakeoff.suite.methods
    board = leaderboard_thread(results.board) if is_one_board else None
    thread = result_thread(results.progress, board)
    print_posts((thread.root, *(thread.replies if full else ())))
    if not full:
        print_note(f"More: council bakeoff show {results.progress.bakeoff.typed_name} --full")


def _summary(
    options: RunOptions, results: BakeoffResults, cases: Sequence[Case], changes: Changes | None
) -> str:
    wrong = [(one.number, one.member) for one in cases if one.outcome is Outcome.WRONG]
    return summary_markdown(
        results.progress,
        results.board,
        changes,
        member=options.member,
        wrong=wrong,
        notes=[*grader_lines(results.run)],
    )


def _write_files(
    options: RunOptions,
    results: BakeoffResults,
    cases: Sequence[Case],
    summary: str,
    comment: Callable[[], str],
) -> Iterator[str]:
    """Write the files that were asked for; yield why one could not be written."""
    renders: tuple[tuple[Path | None, Callable[[], str | bytes]], ...] = (
        (options.save, lambda: f"{dump_json(results.document)}\n"),
        (options.junit, lambda: junit_xml(results.progress, cases)),
        (options.summary, lambda: summary),
        (options.comment, comment),
    )
    for path, render in renders:
        if path:
            content = render()
            try:
                write_file(path, content if isinstance(content, bytes) else content.encode())
            except FileError as error:
                yield str(error)


def _print_results(options: RunOptions, results: BakeoffResults, summary: str) -> None:
    if options.as_json:
        print_json(results.document)
    elif options.baseline and not options.summary:
        typer.echo(summary, nl=False)
    else:
        _print(results, full=False)
        if results.progress.bakeoff.suite.methods:
            print_posts((matrix_post(results.run, results.board.names),))
