"""What goes on after a chat has been answered: tasks that are kept, and ended with the bot."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

Sole = Callable[[str], AbstractAsyncContextManager[bool]]  # False where another process has a name


@asynccontextmanager
async def nobody_else(_: str) -> AsyncIterator[bool]:
    """Say that there is no other process."""
    yield True


class Doing:
    """Tasks of this process; nobody waits for them but the one who closes."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[None]] = set()

    def begin(self, act: Awaitable[None]) -> None:
        """Do something from now on; the loop itself would let go of it."""
        task = asyncio.ensure_future(act)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Wait until all of it is done, and what it began meanwhile."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Stop all of it; rounds go on, and what was not told is told after a restart."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
