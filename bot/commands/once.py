"""Presses count once: what is being done for somebody is not done beside itself."""

from collections.abc import Awaitable, Callable

from bot.chat import Chat, Note, Post, Said
from bot.commands.desk import Desk

BUSY = "That is under way already."
PRESS = "press"  # the kind of memo
MOST_REMEMBERED = 1_000
# In a cluster, how long after a press another process takes the same one for the same.
PRESS_SECONDS = 10.0


class Once:
    """Remembers what is being done, by whatever tells one press from any other."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._doing: set[tuple[str, ...]] = set()

    async def do(
        self, does: tuple[str, ...], act: Callable[[], Awaitable[None]], *, everywhere: bool
    ) -> bool:
        """Do what a press says, unless it is being done; say whether it was done.

        What is done once `everywhere` is not done by any other process of a cluster right after.
        """
        if does in self._doing:
            return False
        self._doing.add(does)
        try:
            if everywhere and not await self._is_first(does):
                return False
            await act()
        finally:
            self._doing.discard(does)
        return True

    async def _is_first(self, does: tuple[str, ...]) -> bool:
        if self._desk.works is None:
            return True
        return await self._desk.memos.once(PRESS, " ".join(does), PRESS_SECONDS)


async def tell_busy(chat: Chat, said: Said) -> None:
    """Tell who pressed twice that once is enough."""
    await chat.whisper(said, Post((Note(BUSY),), BUSY))
