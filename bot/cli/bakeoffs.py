"""The progress bar of a bake-off."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from sys import stdin
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars

from bot.bakeoffs import lifecycle as holding
from bot.bakeoffs.leaderboard import changed
from bot.bakeoffs.lifecycle import standing
from bot.bakeoffs.posting import board_of, closed_rounds, records_of, shares_in
from bot.bakeoffs.records import check_comparable, read_baseline, record_document
from bot.bakeoffs.runner import expected
from bot.bootstrap import StartOptions, opened_app
from bot.chat import Asker, IncomingMessage, Post
from bot.cli.output import FAILED, MISUSED, fail, print_posts, run, say_json, written_whole
from bot.cli.serve import DownloadBar
from bot.cli.suites import suite_named
from bot.commands.bakeoffs import CANCELLED, find_bakeoff, read_cap, readable_bakeoffs
from bot.commands.context import AppContext
from bot.observability import logs
from bot.render.bakeoffs import (
    Document,
    bakeoff_document,
    line_document,
    proposal_post,
    result_thread,
    state_of,
    summary_markdown,
    summary_of,
)
from bot.render.formatting import counted
from bot.render.leaderboard import board_thread
from bot.render.leaderboard_tables import Leaderboard
from bot.settings import load_settings
from bot.terminal import HERE, dressed
from council.bakeoffs.changes import Changes
from council.bakeoffs.models import Bakeoff, Progress, bakeoff_of
from council.errors import BakeoffError
from council.money import dollars

# --- The progress bar of a bake-off.


class BakeoffBar:
    """Shows a bar of questions; on no terminal, a line whenever one more is over."""

    def __init__(self, console: Console, bakeoff: Bakeoff) -> None:
        self._console = console
        self._over = 0
        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}", markup=False),
            console=console,
        )
        total = len(bakeoff.suite.questions)
        name = f"{bakeoff.suite.name} by {bakeoff.panel.name}"
        self._task = self._bars.add_task(name, total=total, told="")
        if console.is_terminal:
            self._bars.start()

    def show(self, progress: Progress) -> None:
        """Take note of how far it is."""
        self._bars.update(self._task, completed=progress.over, told=_told(progress))
        if not self._console.is_terminal and progress.over > self._over:
            self._console.print(f"{summary_of(progress)}{_told(progress)}", markup=False)
        self._over = progress.over

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bars.stop()


def _told(progress: Progress) -> str:
    failed = f" · {len(progress.failed)} failed" if progress.failed else ""
    spent = f" · {dollars(progress.spent_micro)}" if progress.spent_micro else ""
    return f"{failed}{spent}"


# --- What is stored of bake-offs: listed, shown, cancelled.

YOU = IncomingMessage("", Asker("terminal", "you"), HERE, "")


@dataclass(frozen=True, slots=True)
class Whole:
    """A bake-off with all there is to show of it."""

    progress: Progress
    board: Leaderboard
    document: Document

    @property
    def json(self) -> str:
        """Its document as a file holds it."""
        return json.dumps(self.document, ensure_ascii=False, indent=2) + "\n"

    @property
    def posts(self) -> tuple[Post, ...]:
        """What is printed of it."""
        shown = board_thread(self.board) if self.board.board.rows else None
        thread = result_thread(self.progress, shown)
        return (thread.root, *thread.replies)


async def whole(app: AppContext, bakeoff: Bakeoff) -> Whole:
    """Give all there is to show of a bake-off."""
    progress = await standing(app, bakeoff)
    board = await board_of(app, bakeoff)
    shares = {
        bakeoff_of(round_.id)[1]: shares_in(round_) for round_ in await closed_rounds(app, bakeoff)
    }
    records = await asyncio.to_thread(
        lambda rows: list(map(record_document, rows)), await records_of(app, bakeoff)
    )
    return Whole(progress, board, bakeoff_document(progress, board, shares, records))


async def list_all(*, as_json: bool) -> None:
    """Print a line for each bake-off."""
    async with opened_app(load_settings(), StartOptions()) as app:
        there = [await standing(app, one) for one in await readable_bakeoffs(app, YOU)]
    if as_json:
        say_json([line_document(progress) for progress in there])
        return
    for progress in there:
        bakeoff = progress.bakeoff
        begun = f"{bakeoff.at:%Y-%m-%d %H:%M}"
        name = f"{bakeoff.suite.name} by {bakeoff.panel.name}"
        typer.echo(f"{bakeoff.id}  {begun}  {name}  {state_of(progress)}")


async def show(wanted: str, *, as_json: bool) -> None:
    """Print what came of a bake-off, or its JSON."""
    async with opened_app(load_settings(), StartOptions()) as app:
        found = await whole(app, await find_bakeoff(app, YOU, wanted))
    if as_json:
        say_json(found.document)
    else:
        print_posts(found.posts)


async def cancel(wanted: str) -> None:
    """Cancel a bake-off, whoever holds it."""
    async with opened_app(load_settings(), StartOptions()) as app:
        bakeoff = await find_bakeoff(app, YOU, wanted)
        kept = await holding.cancel(app, bakeoff, CANCELLED)
    of = counted(len(bakeoff.suite.questions), "question")
    typer.echo(f"Bake-off {bakeoff.id} is cancelled: {kept} of {of} are kept.")


# --- One bake-off from the command line: from the suite to its leaderboard, or a check's verdict.


class Ended(Enum):
    """How it ended, for whoever reads the exit code."""

    WELL = "well"
    WORSE = "worse"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    suite: str
    panel: str | None
    cap: str
    resume: str
    yes: bool
    local: bool
    as_json: bool
    baseline: Path | None
    member: str
    summary: Path | None
    save: Path | None


async def hold(request: Request, tell: Callable[[Ended], None]) -> None:
    """Hold or resume a bake-off and show what came of it; `tell` hears how it ended."""
    logs.set_up()
    console = Console(stderr=True, highlight=False)
    before = read_baseline(request.baseline) if request.baseline else ()
    bar = DownloadBar(console)
    async with opened_app(load_settings(), StartOptions(request.local, bar.show)) as app:
        bakeoff = await _wanted(app, request)
        if before:
            check_comparable(before, bakeoff)
        if request.member:
            _check_member(bakeoff, request.member)
        await _begun(app, request, bakeoff, console)
        await _carried(app, bakeoff, console)
        found = await whole(app, await app.bakeoff_stores.bakeoffs.load(bakeoff.id))
        changes = changed(await records_of(app, bakeoff), before) if before else None
    _show(request, found, changes)
    tell(_ending(found.progress, changes, request.member))


def _ending(progress: Progress, changes: Changes | None, member: str) -> Ended:
    if not progress.is_whole or len(progress.failed) == progress.questions:
        return Ended.FAILED
    return Ended.WORSE if changes and changes.worse(member) else Ended.WELL


def _check_member(bakeoff: Bakeoff, member: str) -> None:
    seats = [seat.key for seat in bakeoff.panel.members]
    if member not in seats:
        fail(f"Panel {bakeoff.panel.name!r} has no member {member!r}: {', '.join(seats)}.", MISUSED)


async def _wanted(app: AppContext, request: Request) -> Bakeoff:
    """Give the bake-off to hold: a new one, not kept yet, or one to go on with."""
    micro = _micro(request.cap)
    if request.resume:
        stopped = await find_bakeoff(app, YOU, request.resume)
        return stopped if micro is None else replace(stopped, cap_micro=micro)
    suite = await suite_named(app, request.suite)
    panel = app.panel(request.panel, HERE)
    own = (f"bo:{app.new_id()}", suite, panel, HERE, YOU.asker.id, app.now())
    return Bakeoff(*own, micro)


def _micro(cap: str) -> int | None:
    try:
        return read_cap(cap) if cap else None
    except BakeoffError as error:
        fail(str(error), MISUSED)


async def _begun(app: AppContext, request: Request, bakeoff: Bakeoff, console: Console) -> None:
    """Say what it comes to, ask where somebody can answer, and keep it; or reopen one."""
    if request.resume:
        await holding.reopened(app, bakeoff, _micro(request.cap))
        return
    proposal = proposal_post(bakeoff, await expected(app, bakeoff), "")
    console.print(dressed(proposal))
    if not request.yes and stdin.isatty() and not typer.confirm("Start?", err=True):
        fail("Nothing was begun, and nothing is spent.", MISUSED)
    await app.bakeoff_stores.bakeoffs.open(bakeoff)


async def _carried(app: AppContext, bakeoff: Bakeoff, console: Console) -> None:
    """Hold it to its end; Ctrl-C stops spending and keeps what there is."""
    bar = BakeoffBar(console, bakeoff)
    try:
        await holding.begin(app, None, bakeoff)
        async for progress in app.bakeoff_registry.subscribe(bakeoff.id):
            bar.show(progress)
    except asyncio.CancelledError:
        bar.close()
        with suppress(BakeoffError):
            await holding.cancel(app, bakeoff, CANCELLED)
        go_on = f"council bakeoff run --resume {bakeoff.id}"
        typer.echo(f"Stopped; what there is is kept. Go on with: {go_on}", err=True)
        raise
    finally:
        bar.close()


def _show(request: Request, found: Whole, changes: Changes | None) -> None:
    """Print what came of it, and write the files that are wanted."""
    if request.save:
        _write(request.save, found.json)
    told = summary_markdown(found.progress, found.board, changes, request.member)
    if request.summary:
        _write(request.summary, told)
    if request.as_json:
        say_json(found.document)
    elif request.baseline and not request.summary:
        typer.echo(told, nl=False)
    else:
        print_posts(found.posts)


def _write(path: Path, text: str) -> None:
    with written_whole(path) as file:
        file.write(text.encode())


# --- `council bakeoff`: a suite put to a panel, as often as it is wanted; for checks as well.

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
    run(list_all(as_json=as_json))


@bakeoff_app.command("show")
def show_bakeoff(bakeoff_id: BakeoffId, as_json: Json = False) -> None:
    """Show a bake-off: how far it is, or what came of it."""
    run(show(bakeoff_id, as_json=as_json))


@bakeoff_app.command("cancel")
def cancel_bakeoff(bakeoff_id: BakeoffId) -> None:
    """Stop spending on a bake-off; what there is of it is kept."""
    run(cancel(bakeoff_id))
