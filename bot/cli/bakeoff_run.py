"""One bake-off from the command line: from the suite to its leaderboard, or a check's verdict."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from sys import stdin

import typer
from rich.console import Console

from bot.bakeoffs import lifecycle as holding
from bot.bakeoffs.leaderboard import changed
from bot.bakeoffs.posting import records_of
from bot.bakeoffs.records import check_comparable, read_baseline
from bot.bakeoffs.runner import expected
from bot.cli.bakeoff_bar import BakeoffBar
from bot.cli.bakeoff_shown import YOU, Whole, whole
from bot.cli.fetching import FetchBar
from bot.cli.outcome import MISUSED, fail, say_json
from bot.cli.printing import print_posts
from bot.cli.suite_named import suite_named
from bot.cli.whole_file import written_whole
from bot.commands.bakeoffs import CANCELLED, meant_bakeoff, read_cap
from bot.commands.context import Desk
from bot.observability import logs
from bot.render.bakeoffs import proposal_post, summary_markdown
from bot.settings import load_settings
from bot.terminal import HERE, dressed
from bot.wiring import Wishes, opened_desk
from council.bakeoffs.changes import Changes
from council.bakeoffs.models import Bakeoff, Progress
from council.errors import BakeoffError


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
    bar = FetchBar(console)
    async with opened_desk(load_settings(), Wishes(request.local, bar.show)) as desk:
        bakeoff = await _wanted(desk, request)
        if before:
            check_comparable(before, bakeoff)
        if request.member:
            _check_member(bakeoff, request.member)
        await _begun(desk, request, bakeoff, console)
        await _carried(desk, bakeoff, console)
        found = await whole(desk, await desk.bench.bakeoffs.load(bakeoff.id))
        changes = changed(await records_of(desk, bakeoff), before) if before else None
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


async def _wanted(desk: Desk, request: Request) -> Bakeoff:
    """Give the bake-off to hold: a new one, not kept yet, or one to go on with."""
    micro = _micro(request.cap)
    if request.resume:
        stopped = await meant_bakeoff(desk, YOU, request.resume)
        return stopped if micro is None else replace(stopped, cap_micro=micro)
    suite = await suite_named(desk, request.suite)
    panel = desk.panel(request.panel, HERE)
    own = (f"bo:{desk.new_id()}", suite, panel, HERE, YOU.asker.id, desk.now())
    return Bakeoff(*own, micro)


def _micro(cap: str) -> int | None:
    try:
        return read_cap(cap) if cap else None
    except BakeoffError as error:
        fail(str(error), MISUSED)


async def _begun(desk: Desk, request: Request, bakeoff: Bakeoff, console: Console) -> None:
    """Say what it comes to, ask where somebody can answer, and keep it; or reopen one."""
    if request.resume:
        await holding.reopened(desk, bakeoff, _micro(request.cap))
        return
    proposal = proposal_post(bakeoff, await expected(desk, bakeoff), "")
    console.print(dressed(proposal))
    if not request.yes and stdin.isatty() and not typer.confirm("Start?", err=True):
        fail("Nothing was begun, and nothing is spent.", MISUSED)
    await desk.bench.bakeoffs.open(bakeoff)


async def _carried(desk: Desk, bakeoff: Bakeoff, console: Console) -> None:
    """Hold it to its end; Ctrl-C stops spending and keeps what there is."""
    bar = BakeoffBar(console, bakeoff)
    try:
        await holding.begin(desk, None, bakeoff)
        async for progress in desk.holds.watching(bakeoff.id):
            bar.show(progress)
    except asyncio.CancelledError:
        bar.close()
        with suppress(BakeoffError):
            await holding.cancel(desk, bakeoff, CANCELLED)
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
