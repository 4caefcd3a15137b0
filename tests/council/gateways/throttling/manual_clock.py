"""A manual clock: sleepers wake when a test moves the time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager

from council.gateways.throttling.rate_limiter import Clock


class ManualClock:
    """A clock that a test moves; it records every sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sleeps: list[float] = []
        self._asleep: list[tuple[float, asyncio.Event]] = []

    @property
    def clock(self) -> Clock:
        """The clock for the code under test; its jitter is always a half."""
        return Clock(lambda: self.now, self._sleep, lambda: 0.5)

    async def _sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        woken = asyncio.Event()
        self._asleep.append((self.now + seconds, woken))
        await woken.wait()

    async def move(self, seconds: float) -> None:
        """Move the time, and wake the sleepers that are due."""
        self.now += seconds
        for at, woken in self._asleep:
            if at <= self.now:
                woken.set()
        await settled()


async def settled() -> None:
    """Run every task until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


@asynccontextmanager
async def started(*acts: Awaitable[object]) -> AsyncIterator[Sequence["asyncio.Future[object]"]]:
    """Yield the tasks of the awaitables, started; cancel the unfinished ones at the end."""
    tasks = [asyncio.ensure_future(act) for act in acts]
    await settled()
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def cancel_and_get_notes(task: "asyncio.Future[object]") -> list[str]:
    """Cancel a task as a deadline would; return the notes of its CancelledError."""
    task.cancel()
    try:
        await task
    except asyncio.CancelledError as stopped:
        return list(getattr(stopped, "__notes__", ()))
    return []
