"""A clock wound by hand: sleepers wake when it is told that their time has come."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager

from council.gateways.throttling.limits import Clock


class Hands:
    """Moves the clock; remembers every sleep that was asked for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sleeps: list[float] = []
        self._asleep: list[tuple[float, asyncio.Event]] = []

    @property
    def clock(self) -> Clock:
        """The clock these hands are on; its chance is always a half."""
        return Clock(lambda: self.now, self._sleep, lambda: 0.5)

    async def _sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        woken = asyncio.Event()
        self._asleep.append((self.now + seconds, woken))
        await woken.wait()

    async def move(self, seconds: float) -> None:
        """Let the time pass, and all run that can."""
        self.now += seconds
        for at, woken in self._asleep:
            if at <= self.now:
                woken.set()
        await settled()


async def settled() -> None:
    """Let every task run until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


@asynccontextmanager
async def begun(*acts: Awaitable[object]) -> AsyncIterator[Sequence["asyncio.Future[object]"]]:
    """Give the acts under way; those not done at the end are stopped."""
    tasks = [asyncio.ensure_future(act) for act in acts]
    await settled()
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def notes_of(task: "asyncio.Future[object]") -> list[str]:
    """Cancel a task as a deadline would, and give what it notes."""
    task.cancel()
    try:
        await task
    except asyncio.CancelledError as stopped:
        return list(getattr(stopped, "__notes__", ()))
    return []
