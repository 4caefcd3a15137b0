"""Background tasks: run coroutines alongside a block, race them, cancel them with the bot."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

# Tries to acquire a named lock across processes; yields False if another process has it.
TryLock = Callable[[str], AbstractAsyncContextManager[bool]]


@asynccontextmanager
async def always_acquired(_: str) -> AsyncIterator[bool]:
    """Acquire any lock: there is no other process."""
    yield True


@asynccontextmanager
async def running_alongside(*coroutines: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Run coroutines as tasks for the duration of the block, then cancel them."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        yield
    finally:
        await cancel_and_wait(tasks)


async def run_until_first(*coroutines: Coroutine[None, None, object]) -> None:
    """Run coroutines until one ends, cancel the others, and raise the error it ended with."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await cancel_and_wait(tasks)


async def cancel_and_wait(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Cancel tasks and wait for them to end; ignore the errors they end with."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class BackgroundTasks:
    """Tasks that nobody awaits until they are closed."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[None]] = set()

    def start(self, awaitable: Awaitable[None]) -> None:
        """Start a task; a reference is stored, because the event loop holds none."""
        task = asyncio.ensure_future(awaitable)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Wait until all tasks have ended, including those started meanwhile."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Cancel all tasks; the rounds they showed run on, and are delivered after a restart."""
        await cancel_and_wait(self._tasks)
