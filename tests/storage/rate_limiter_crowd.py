"""Three processes with a shared rate limiter, and callers that record when they are admitted."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from council.gateways.throttling.rate_limiter import Clock, RateLimiter
from council.ports import SharedRateLimiter
from council.providers import Limits, ProviderLoad
from storage.engine import open_engine
from storage.rate_limiter import SqlRateLimiter
from tests.storage.builders import wait_until

GATE = "openai"
MINUTE_SECONDS = 0.5  # the length of a minute in these tests


@dataclass
class Callers:
    """The callers of all processes, with the order and the times in which they were admitted."""

    processes: Sequence[SharedRateLimiter]
    now: int = 0
    most: int = 0
    order: list[str] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)

    async def entered(self, count: int) -> None:
        """Wait until so many callers have been admitted."""
        await wait_until(lambda: len(self.order) >= count)

    async def ask(self, who: str, process: int, limits: Limits, seconds: float = 0.0) -> None:
        """Wait for a turn, and hold it for some seconds."""
        async with self.processes[process].slot(GATE, limits):
            self.moments.append(time.monotonic())
            self.order.append(who)
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(seconds)
            self.now -= 1


class InMemoryLimiter:
    """The rate limiter of one process, for the callers of all."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._limiters: dict[str, RateLimiter] = {}

    def slot(self, gate: str, limits: Limits) -> AbstractAsyncContextManager[None]:
        if gate not in self._limiters:
            self._limiters[gate] = RateLimiter(limits, self._clock)
        return self._limiters[gate].turn(gate)

    def provider_load(self, gate: str) -> ProviderLoad | None:
        return None


def in_memory_limiters() -> list[SharedRateLimiter]:
    """Return one in-memory rate limiter for all, with short minutes."""
    pace = 60 / MINUTE_SECONDS
    clock = Clock(lambda: time.monotonic() * pace, lambda seconds: asyncio.sleep(seconds / pace))
    return [InMemoryLimiter(clock)] * 3


@asynccontextmanager
async def postgres_limiters(
    url: str, counts: Callable[[bool], None] = lambda _: None
) -> AsyncIterator[list[SqlRateLimiter]]:
    """Yield a rate limiter for each process, each with its own connections."""
    limiters: list[SqlRateLimiter] = []

    def wake_all(gate: str) -> None:
        for limiter in limiters:
            asyncio.get_running_loop().call_soon(limiter.wake, gate)

    async with AsyncExitStack() as stack:
        for _ in range(3):
            engine = open_engine(url)
            stack.push_async_callback(engine.dispose)
            limiter = SqlRateLimiter(engine, wake_all, counts, MINUTE_SECONDS)
            stack.push_async_callback(limiter.close)
            limiters.append(limiter)
        yield limiters
