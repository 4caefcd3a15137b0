"""Sights of progress end with what they are of, or before another process shows its end."""

import asyncio
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from bot.chat import Chat, IncomingMessage, Post, ProgressUpdates, SentMessage
from council.places import Place

SENT = SentMessage(Place("slow", "home", "here"), "1")
PROGRESS = Post((), "half way")


@dataclass(slots=True)
class SlowChat(Chat):
    """A chat whose edits take until they are let through."""

    is_room: ClassVar[bool] = True
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    let_through: asyncio.Event = field(default_factory=asyncio.Event)
    edits: list[Post] = field(default_factory=list)

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        return SENT

    async def find(self, place: Place, key: str) -> SentMessage | None:
        return None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        self.asked.set()
        await self.let_through.wait()
        self.edits.append(post)

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        return


async def test_an_edit_on_its_way_arrives_before_the_result() -> None:
    chat = SlowChat()
    shown = ProgressUpdates(chat)

    async with shown.kept_up(shown.show(SENT, PROGRESS)):
        await chat.asked.wait()
        asyncio.get_running_loop().call_later(0.01, chat.let_through.set)

    assert chat.edits == [PROGRESS]


async def test_a_showing_that_is_taken_away_edits_nothing_any_more() -> None:
    chat = SlowChat()
    shown = ProgressUpdates(chat)

    async def showing() -> None:
        async with shown.kept_up(shown.show(SENT, PROGRESS)):
            await asyncio.Event().wait()

    task = asyncio.create_task(showing())
    await chat.asked.wait()
    asyncio.get_running_loop().call_later(0.01, chat.let_through.set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert chat.edits == []
