"""Presses count once: what is being done for somebody is not done beside itself."""

from collections.abc import Awaitable, Callable

from bot.chat import Chat, Note, Post, Said

BUSY = "That is under way already."


class Once:
    """Remembers what is being done, by whatever tells one press from any other."""

    def __init__(self) -> None:
        self._doing: set[tuple[str, ...]] = set()

    async def do(self, does: tuple[str, ...], act: Callable[[], Awaitable[None]]) -> bool:
        """Do what a press says, unless it is being done; say whether it was done."""
        if does in self._doing:
            return False
        self._doing.add(does)
        try:
            await act()
        finally:
            self._doing.discard(does)
        return True


async def tell_busy(chat: Chat, said: Said) -> None:
    """Tell who pressed twice that once is enough."""
    await chat.whisper(said, Post((Note(BUSY),), BUSY))
