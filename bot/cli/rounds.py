"""One round from the command line, from the question to its report or its JSON."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import typer
from rich.console import Console

from bot.chat import Asker, Said
from bot.cli.fetching import FetchBar
from bot.cli.outcome import say_json
from bot.commands.ask import accepted
from bot.commands.context import Desk
from bot.commands.round_delivery import see_through
from bot.observability import logs
from bot.render.round_json import document
from bot.settings import load_settings
from bot.terminal import HERE, TerminalChat, new_session
from bot.wiring import Wishes, opened_desk
from council.errors import StoreError
from council.integrity.erasure import check_remembered
from council.rounds import Question, Round

YOU = Asker("terminal", "you")


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    question: str
    panel: str | None
    method: str | None
    seed: str | None
    resume: str | None
    local: bool
    as_json: bool


async def hold(request: Request, tell: Callable[[bool], None]) -> None:
    """Hold or resume the round and show it; `tell` hears whether it closed without a failure."""
    logs.set_up()
    bar = FetchBar(Console(stderr=True))
    async with opened_desk(load_settings(), Wishes(request.local, bar.show)) as desk:
        round_ = await _round(desk, request)
        closed = await _seen_through(desk, round_, quiet=request.as_json)
    if request.as_json:
        say_json(document(closed))
    tell(closed.closing is not None and closed.closing.failure is None)


async def _seen_through(desk: Desk, round_: Round, *, quiet: bool) -> Round:
    chat = TerminalChat(Console(quiet=quiet, highlight=False))
    said = Said(round_.question.text, YOU, new_session(), round_.id)
    try:
        await chat.whisper(said, await accepted(desk, round_))
        return await see_through(desk, chat, said.place, round_)
    except asyncio.CancelledError:
        chat.close()
        stopped = f"Stopped; what there is is kept. Go on with: council ask --resume {round_.id}"
        typer.echo(stopped, err=True)
        raise
    except StoreError as error:
        raise StoreError(f"{error} Go on with: council ask --resume {round_.id}") from error
    finally:
        chat.close()


async def _round(desk: Desk, request: Request) -> Round:
    """Give the stored round to resume, or a new one, stored."""
    if request.resume:
        stopped = await desk.store.load(await desk.store.find(request.resume))
        check_remembered(stopped)
        return stopped
    panel = desk.panel(request.panel, HERE, request.method)
    question = Question(request.question, YOU.id, place=HERE)
    round_ = desk.new_round(question, panel, request.seed, desk.new_id())
    await desk.open(round_)
    return round_
