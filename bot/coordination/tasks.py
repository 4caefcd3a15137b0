"""What goes on after a chat has been answered: tasks that are kept, and ended with the bot."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

Sole = Callable[[str], AbstractAsyncContextManager[bool]]  # False where another process has a name


@asynccontextmanager
async def nobody_else(_: str) -> AsyncIterator[bool]:
    """Say that there is no other process."""
    yield True


@asynccontextmanager
async def beside(*acts: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Do other things beside the block, as long as it lasts."""
    tasks = [asyncio.create_task(act) for act in acts]
    try:
        yield
    finally:
        await stopped(tasks)


async def first_of(*acts: Coroutine[None, None, object]) -> None:
    """Do several things until one of them ends; raise what ended it."""
    tasks = [asyncio.create_task(act) for act in acts]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await stopped(tasks)


async def stopped(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Have tasks stopped, and wait for their ends; what they failed with is nobody's affair."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class BackgroundTasks:
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
        await stopped(self._tasks)
