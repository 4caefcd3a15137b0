"""Progress edits end before the result is posted, also if another process posts it."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from bot import chat as chat_module
from bot.chat import (
    Chat,
    IncomingMessage,
    MessageGoneError,
    Post,
    ProgressUpdates,
    SentMessage,
)
from council.places import Place

SENT = SentMessage(Place("slow", "home", "here"), "1")
PROGRESS = Post((), "half way")


@dataclass(slots=True)
class SlowChat(Chat):
    """A chat whose edits block until they are released."""

    is_room: ClassVar[bool] = True
    started: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    edits: list[Post] = field(default_factory=list)

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        return SENT

    async def find(
        self, place: Place, key: str, age_seconds: float | None = None
    ) -> SentMessage | None:
        return None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        self.started.set()
        await self.released.wait()
        self.edits.append(post)

    async def send_ephemeral(self, message: IncomingMessage, post: Post) -> None:
        return


async def test_a_running_edit_ends_before_the_result() -> None:
    chat = SlowChat()
    progress = ProgressUpdates(chat)

    async with progress.keep_updating(progress.show(SENT, PROGRESS)):
        await chat.started.wait()
        asyncio.get_running_loop().call_later(0.01, chat.released.set)

    assert chat.edits == [PROGRESS]


class FailingChat(SlowChat):
    """A chat that fails every edit."""

    async def edit(self, sent: SentMessage, post: Post) -> None:
        raise MessageGoneError("It was deleted.")


async def test_an_edit_that_failed_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_module, "FINAL_EDIT_SECONDS", 60.0)
    progress = ProgressUpdates(FailingChat())

    async def updates() -> None:
        with suppress(MessageGoneError):
            await progress.show(SENT, PROGRESS)
        await asyncio.Event().wait()

    async with asyncio.timeout(10):
        async with progress.keep_updating(updates()):
            await asyncio.sleep(0)


async def test_cancelled_progress_edits_nothing() -> None:
    chat = SlowChat()
    progress = ProgressUpdates(chat)

    async def showing() -> None:
        async with progress.keep_updating(progress.show(SENT, PROGRESS)):
            await asyncio.Event().wait()

    task = asyncio.create_task(showing())
    await chat.started.wait()
    asyncio.get_running_loop().call_later(0.01, chat.released.set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert chat.edits == []
