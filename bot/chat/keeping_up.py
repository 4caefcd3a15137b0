"""A message kept up to date while something goes on, without getting in the way of its end."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager

from bot.chat.chat import Chat, Sent
from bot.chat.posts import Post

EDIT_SECONDS = 1.0  # what an edit under way is given before the result replaces it


class Shown:
    """Sights of progress in one chat, one after another."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._is_editing = False

    async def show(self, sent: Sent, post: Post) -> None:
        """Replace the message for the time being."""
        self._is_editing = True
        await self._chat.show_progress(sent, post)
        self._is_editing = False

    @asynccontextmanager
    async def kept_up(self, showing: Coroutine[None, None, None]) -> AsyncIterator[None]:
        """Have progress shown as long as the block lasts, and no longer."""
        keeping_up = asyncio.create_task(showing)
        try:
            yield
        except asyncio.CancelledError:  # another may show the result already
            keeping_up.cancel()
            raise
        finally:
            if self._is_editing:  # an edit on its way must not arrive after the result
                await asyncio.wait([keeping_up], timeout=EDIT_SECONDS)
            keeping_up.cancel()
            await asyncio.gather(keeping_up, return_exceptions=True)
