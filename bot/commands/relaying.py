"""What the asker alone is told, passed on to the process that heard them; it reaches them best.

That process is there no more, or does not listen: then it is told by whoever has to tell it.
"""

import asyncio
from contextlib import suppress

from bot.chat import Caution, Chat, Post, Said, Whisper
from bot.ports import Bus, Work, Works, seems_begun
from council.errors import StoreError

ANSWER_SECONDS = 1.0  # what the process that heard the asker is given to say that it tells them
LOOK_SECONDS = 15.0  # without a word, after which the works are asked
ENDED = "-"


class Relay:
    """Tells an asker by the process that heard them, else by the way it was given."""

    def __init__(self, bus: Bus, work: Work, whisper: Whisper) -> None:
        self._bus = bus
        self._work = work
        self._whisper = whisper

    async def __call__(self, said: Said, post: Post) -> None:
        """Tell the one who spoke."""
        with self._bus.heard(_answered(self._work)) as answers:
            await self._bus.tell(_told(self._work), f"+{post.summary}")
            with suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_SECONDS):
                    while not await answers.get():
                        pass
                return
        await self._whisper(said, post)

    async def end(self) -> None:
        """Say that there is nothing more to be told."""
        await self._bus.tell(_told(self._work), ENDED)


async def begin_and_hear(works: Works, bus: Bus, work: Work, chat: Chat, said: Said) -> None:
    """Begin a work, and tell the one who spoke what comes of it, until it is over."""
    with bus.heard(_told(work)) as told:
        with suppress(StoreError):  # then the sweep finds it
            await works.begin(work)
        while True:
            text = ""
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    text = await told.get()
            if text == ENDED or (not text and not await seems_begun(works, work)):
                return
            if text.startswith("+"):
                await bus.tell(_answered(work), "+")
                await chat.whisper(said, Post((Caution(text[1:]),), text[1:]))


def _told(work: Work) -> str:
    return f"told {work.queue} {work.name}"


def _answered(work: Work) -> str:
    return f"answered {work.queue} {work.name}"
