"""Three processes with a turnstile each, in one memory or on one Postgres; who is let in, noted."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from council.gateways.throttling.limits import Clock, OwnTurnstile
from council.ports import SharedRateLimiter
from council.providers import Limits
from storage.engine import open_engine
from storage.rate_limiter import SqlRateLimiter

GATE = "openai"
MINUTE_SECONDS = 0.5  # what a minute takes in these tests


@dataclass
class Crowd:
    """Everybody who asks for a turn, at whichever of the processes."""

    processes: Sequence[SharedRateLimiter]
    now: int = 0
    most: int = 0
    order: list[str] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)

    async def entered(self, count: int) -> None:
        """Wait until so many have been let in."""
        async with asyncio.timeout(10):
            while len(self.order) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    async def ask(self, who: str, process: int, limits: Limits, seconds: float = 0.0) -> None:
        """Wait for a turn, and hold it for so long."""
        async with self.processes[process].turn(GATE, limits):
            self.moments.append(time.monotonic())
            self.order.append(who)
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(seconds)
            self.now -= 1


def in_memory() -> list[SharedRateLimiter]:
    """Give one turnstile that all share, whose minutes are short."""
    pace = 60 / MINUTE_SECONDS
    clock = Clock(lambda: time.monotonic() * pace, lambda seconds: asyncio.sleep(seconds / pace))
    return [OwnTurnstile(clock)] * 3


@asynccontextmanager
async def on_postgres(
    url: str, counts: Callable[[bool], None] = lambda _: None
) -> AsyncIterator[list[SqlRateLimiter]]:
    """Give a turnstile a process, each with connections of its own; they hear each other."""
    turnstiles: list[SqlRateLimiter] = []

    def tell(gate: str) -> None:
        for turnstile in turnstiles:
            asyncio.get_running_loop().call_soon(turnstile.ring, gate)

    async with AsyncExitStack() as stack:
        for _ in range(3):
            engine = open_engine(url)
            stack.push_async_callback(engine.dispose)
            turnstile = SqlRateLimiter(engine, tell, counts, MINUTE_SECONDS)
            stack.push_async_callback(turnstile.close)
            turnstiles.append(turnstile)
        yield turnstiles
