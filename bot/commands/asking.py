"""The command that everything is for: put a question to a panel."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from bot.access import admitted
from bot.chat import Chat, Note, Post, Said, Sent
from bot.commands.accepting import accepted
from bot.commands.desk import Desk
from bot.ports import Sight
from bot.render.progress import progress_post
from bot.render.report import report
from council.rounds import Question, Round

TICK_SECONDS = 1.0
_OPTION = re.compile(r"\A(panel|method|seed):(\S+)\s+")


async def ask(desk: Desk, chat: Chat, said: Said, text: str) -> None:
    """Open a round for the question, once for each event, and see it through."""
    round_ = await opened(desk, said, text)
    if round_ is None:
        await chat.whisper(said, Post((Note(f"This has been asked already: round {said.key}."),)))
        return
    await chat.whisper(said, await accepted(desk, round_))
    await see_through(desk, chat, said, round_)


@dataclass(frozen=True, slots=True)
class Choice:
    """What an asker may choose; None is left to the place, the panel and chance."""

    panel: str | None = None
    method: str | None = None
    seed: str | None = None


async def opened(desk: Desk, said: Said, text: str) -> Round | None:
    """Give the stored round of a new question, or None for an event that has come before."""
    round_ = proposed(desk, said, text)
    return round_ if await desk.open(round_) else None


def proposed(desk: Desk, said: Said, text: str, choice: Choice = Choice()) -> Round:
    """Give the round of a question, not stored yet; NotAdmittedError where it may not be asked.

    The text may begin with `panel:NAME`, `method:NAME` and `seed:TEXT`, which go before a choice.
    """
    admitted(desk.access, said)
    options, question = _options(text)
    chosen = replace(choice, **options)
    panel = desk.panel(chosen.panel, said.place, chosen.method)
    asked = Question(question, said.asker.id, said.context, said.place)
    return desk.new_round(asked, panel, chosen.seed, said.key)


def _options(text: str) -> tuple[dict[str, str], str]:
    options: dict[str, str] = {}
    while match := _OPTION.match(text):
        options[match[1]] = match[2]
        text = text[match.end() :]
    return options, text


async def see_through(desk: Desk, chat: Chat, said: Said, round_: Round) -> Round:
    """Carry a stored round on, showing how it goes, then the answer and its thread.

    Whoever is stopped while showing it stops the round as well.
    """
    try:
        async with _shown(desk, chat, said, round_) as screen:
            desk.runner.start(round_)
            async with desk.runner.watching(round_.id) as sights:
                async for sight in sights:
                    screen.show(sight)
    except asyncio.CancelledError:
        await desk.runner.stop(round_.id)
        raise
    await _post(desk, chat, screen.sent, screen.sight.round_)
    return screen.sight.round_


async def _post(desk: Desk, chat: Chat, sent: Sent, round_: Round) -> None:
    """Put the answer where progress was shown, and the rest under it."""
    thread = report(round_)
    await chat.edit(sent, thread.root)
    place = replace(sent.place, thread=sent.place.thread or sent.message)
    for part, reply in enumerate(thread.replies, start=1):
        await desk.outbox.send(chat, round_.id, part, reply, place)


class _Screen:
    """Shows the newest state of a round, and that time passes; never holds the round up."""

    def __init__(self, chat: Chat, sent: Sent, round_: Round) -> None:
        self.sent = sent
        self.sight = Sight(round_)
        self._chat = chat
        self._changed = asyncio.Event()
        self._started = asyncio.get_running_loop().time()

    def show(self, sight: Sight) -> None:
        """Take note of a change."""
        self.sight = sight
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
            post = progress_post(self.sight.round_, loop.time() - self._started, self.sight.draft)
            await self._chat.edit(self.sent, post)


@asynccontextmanager
async def _shown(desk: Desk, chat: Chat, said: Said, round_: Round) -> AsyncIterator[_Screen]:
    sent = await desk.outbox.send(chat, round_.id, 0, progress_post(round_, 0), said.place)
    screen = _Screen(chat, sent, round_)
    keeping_up = asyncio.create_task(screen.keep_up())
    try:
        yield screen
    finally:
        keeping_up.cancel()
        await asyncio.gather(keeping_up, return_exceptions=True)
