"""What is stored of bake-offs: listed, shown, cancelled."""

import asyncio
import json
from dataclasses import dataclass

import typer

from bot.bakeoffs import lifecycle as holding
from bot.bakeoffs.lifecycle import standing
from bot.bakeoffs.posting import board_of, closed_rounds, records_of, shares_in
from bot.bakeoffs.records import record_document
from bot.chat import Asker, Post, Said
from bot.cli.outcome import say_json
from bot.cli.printing import print_posts
from bot.commands.bakeoffs import CANCELLED, meant_bakeoff, readable_bakeoffs
from bot.commands.context import Desk
from bot.render.bakeoffs import Document, bakeoff_document, line_document, result_thread, state_of
from bot.render.formatting import counted
from bot.render.leaderboard import board_thread
from bot.render.leaderboard_tables import Leaderboard
from bot.settings import load_settings
from bot.terminal import HERE
from bot.wiring import Wishes, opened_desk
from council.bakeoffs.models import Bakeoff, Progress, bakeoff_of

YOU = Said("", Asker("terminal", "you"), HERE, "")


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


async def whole(desk: Desk, bakeoff: Bakeoff) -> Whole:
    """Give all there is to show of a bake-off."""
    progress = await standing(desk, bakeoff)
    board = await board_of(desk, bakeoff)
    shares = {
        bakeoff_of(round_.id)[1]: shares_in(round_) for round_ in await closed_rounds(desk, bakeoff)
    }
    records = await asyncio.to_thread(
        lambda rows: list(map(record_document, rows)), await records_of(desk, bakeoff)
    )
    return Whole(progress, board, bakeoff_document(progress, board, shares, records))


async def list_all(*, as_json: bool) -> None:
    """Print a line for each bake-off."""
    async with opened_desk(load_settings(), Wishes()) as desk:
        there = [await standing(desk, one) for one in await readable_bakeoffs(desk, YOU)]
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
    async with opened_desk(load_settings(), Wishes()) as desk:
        found = await whole(desk, await meant_bakeoff(desk, YOU, wanted))
    if as_json:
        say_json(found.document)
    else:
        print_posts(found.posts)


async def cancel(wanted: str) -> None:
    """Cancel a bake-off, whoever holds it."""
    async with opened_desk(load_settings(), Wishes()) as desk:
        bakeoff = await meant_bakeoff(desk, YOU, wanted)
        kept = await holding.cancel(desk, bakeoff, CANCELLED)
    of = counted(len(bakeoff.suite.questions), "question")
    typer.echo(f"Bake-off {bakeoff.id} is cancelled: {kept} of {of} are kept.")
