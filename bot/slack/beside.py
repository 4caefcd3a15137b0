"""Whispers beside a thread: Slack shows nobody what is whispered in one without replies."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from bot.chat import Said

Words = TypeVar("Words")


def beside(
    whisper: Callable[[Said, Words], Awaitable[None]],
) -> Callable[[Said, Words], Awaitable[None]]:
    """Give a whisper that is heard in the channel, whatever thread is spoken of."""

    async def told(said: Said, words: Words) -> None:
        await whisper(replace(said, place=replace(said.place, thread=None)), words)

    return told
