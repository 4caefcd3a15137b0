"""Turns at one provider's address: how many calls are under way, and who comes next."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from council.gateways.traffic.clock import Clock, noting
from council.gateways.traffic.pace import Pace
from council.providers import Limits


class Turns:
    """Gives turns in the order they were asked for, within the provider's limits."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.limits = limits
        self.under_way = 0
        self.waiting = 0
        self._free = asyncio.Semaphore(limits.concurrency)
        self._pace = Pace(limits.requests_per_minute, clock)

    @asynccontextmanager
    async def turn(self, place: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it; cancelled meanwhile, note what was waited for."""
        async with self._queued(place):
            self.under_way += 1
            try:
                yield
            finally:
                self.under_way -= 1

    @asynccontextmanager
    async def _queued(self, place: str) -> AsyncIterator[None]:
        self.waiting += 1
        try:
            with noting(f"waited for its turn at {place}"):
                await self._free.acquire()
                try:
                    await self._pace.begin()
                except BaseException:
                    self._free.release()
                    raise
        finally:
            self.waiting -= 1
        try:
            yield
        finally:
            self._free.release()
