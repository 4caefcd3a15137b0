"""Turns that one process counts by itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from council.gateways.traffic.clock import Clock
from council.gateways.traffic.pace import Pace
from council.providers import Crowd, Limits


class OwnTurnstile:
    """Gives turns in the order they were asked for; every address has its own count."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._gates: dict[str, tuple[asyncio.Semaphore, Pace]] = {}

    @asynccontextmanager
    async def turn(self, gate: str, limits: Limits) -> AsyncIterator[None]:
        """Wait for a turn at an address, and hold it as long as the block lasts."""
        if gate not in self._gates:
            pace = Pace(limits.requests_per_minute, self._clock)
            self._gates[gate] = asyncio.Semaphore(limits.concurrency), pace
        free, pace = self._gates[gate]
        async with free:
            await pace.begin()
            yield

    def crowd(self, gate: str) -> Crowd | None:
        """Give None: of other processes nothing is known."""
        return None
