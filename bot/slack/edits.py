"""Who edits next in a workspace: answers at once, sights of progress with what room they leave."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter

# Slack allows about 50 edits a minute in a workspace. Of progress, no minute sees more than 40: so
# many at once, and so many after each other.
AT_ONCE, A_MINUTE = 4, 36


class Edits:
    """Lets sights of progress by at a steady pace, and none while an answer waits."""

    def __init__(self) -> None:
        self._pace = AsyncLimiter(AT_ONCE, 60 * AT_ONCE / A_MINUTE)
        self._answers = 0
        self._free = asyncio.Event()
        self._free.set()

    @asynccontextmanager
    async def first(self) -> AsyncIterator[None]:
        """Go before all progress, as long as the block lasts."""
        self._answers += 1
        self._free.clear()
        try:
            yield
        finally:
            self._answers -= 1
            if not self._answers:
                self._free.set()

    async def turn(self) -> None:
        """Wait until another sight of progress may be shown."""
        while True:
            await self._free.wait()
            await self._pace.acquire()
            if self._free.is_set():
                return
