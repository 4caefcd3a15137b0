"""The command that everything is for: put a question to a panel."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from bot.chat import Chat, Note, Post, Said, Sent
from bot.commands.desk import Desk
from bot.logs import round_closed
from bot.render.acceptance import accepted_post
from bot.render.progress import progress_post
from bot.render.report import report
from council.convene import convene
from council.rounds import Question, Round
from council.sitting import Council

TICK_SECONDS = 1.0
_OPTION = re.compile(r"\A(panel|seed):(\S+)\s+")


async def ask(desk: Desk, chat: Chat, said: Said, text: str) -> None:
    """Open a round for the question, once for each event, and see it through.

    The text may begin with `panel:NAME` and `seed:TEXT`.
    """
    options, question = _options(text)
    panel = desk.panel(options.get("panel"), said.place)
    asked = Question(question, said.asker.id, said.context)
    round_ = desk.new_round(asked, panel, options.get("seed"), said.key)
    if not await desk.store.open(round_):
        await chat.whisper(said, Post((Note(f"This has been asked already: round {said.key}."),)))
        return
    await chat.whisper(said, accepted_post(round_))
    await desk.prepare(panel)
    await see_through(desk, chat, said, round_)


def _options(text: str) -> tuple[dict[str, str], str]:
    options: dict[str, str] = {}
    while match := _OPTION.match(text):
        options[match[1]] = match[2]
        text = text[match.end() :]
    return options, text


async def see_through(desk: Desk, chat: Chat, said: Said, round_: Round) -> Round:
    """Convene a stored round, showing how it goes on, then the answer and its thread."""
    async with _shown(chat, said, round_) as screen:
        council = Council(desk.gateway, desk.store, on_round=screen.show)
        closed = await convene(round_.id, council)
    round_closed(closed)
    thread = report(closed)
    await chat.edit(screen.sent, thread.root)
    place = replace(said.place, thread=screen.sent.message)
    for reply in thread.replies:
        await chat.send(place, reply)
    return closed


class _Screen:
    """Shows the newest state of a round, and that time passes; never holds the round up."""

    def __init__(self, chat: Chat, sent: Sent, round_: Round) -> None:
        self.sent = sent
        self._chat = chat
        self._round = round_
        self._changed = asyncio.Event()
        self._started = asyncio.get_running_loop().time()

    def show(self, round_: Round) -> None:
        """Take note of a change."""
        self._round = round_
        self._changed.set()

    async def keep_up(self) -> None:
        """Edit the message on every change, and each second; runs until it is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout(TICK_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                pass
            self._changed.clear()
            post = progress_post(self._round, loop.time() - self._started)
            await self._chat.edit(self.sent, post)


@asynccontextmanager
async def _shown(chat: Chat, said: Said, round_: Round) -> AsyncIterator[_Screen]:
    sent = await chat.send(said.place, progress_post(round_, 0))
    screen = _Screen(chat, sent, round_)
    keeping_up = asyncio.create_task(screen.keep_up())
    try:
        yield screen
    finally:
        keeping_up.cancel()
        await asyncio.gather(keeping_up, return_exceptions=True)
