"""The turnstile of all processes on one Postgres."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from secrets import token_hex

from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from council.providers import Crowd, Limits
from storage.turns.counting import MINUTE_SECONDS, Counting
from storage.turns.gate import PATIENCE_SECONDS, Gate, Told


class SqlTurnstile:
    """Counts turns as rows, so that limits hold for all processes together.

    The turns of a process that died come free after half a minute. While the database cannot be
    asked, everybody is let through. `tell` has other processes look at an address at once; `counts`
    hears when turns are counted no more, or again.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        tell: Callable[[str], None] = lambda _: None,
        counts: Callable[[bool], None] = lambda _: None,
        minute_seconds: float = MINUTE_SECONDS,
    ) -> None:
        self._counting = Counting(engine, token_hex(8), minute_seconds)
        self._tell = tell
        self._told = counts
        self._counts = True
        self._gates: dict[str, Gate] = {}

    @asynccontextmanager
    async def turn(self, gate: str, limits: Limits) -> AsyncIterator[None]:
        """Wait for a turn at an address, and hold it as long as the block lasts."""
        if gate not in self._gates:
            visit = partial(self._counting.visit, gate)
            told = Told(partial(self._tell, gate), self._say)
            self._gates[gate] = Gate(visit, told)
        async with self._gates[gate].turn(limits):
            yield

    def crowd(self, gate: str) -> Crowd | None:
        """Give what all processes had at an address when last looked."""
        return self._gates[gate].crowd if gate in self._gates else None

    def ring(self, gate: str = "") -> None:
        """Have an address looked at where anybody waits, or all of them."""
        for name, found in self._gates.items():
            if gate in {"", name}:
                found.ring()

    async def close(self) -> None:
        """Give everything back, for as long as anybody waits for that."""
        self._told = lambda _: None
        await asyncio.gather(*(gate.close() for gate in self._gates.values()))
        leaving = asyncio.create_task(self._leave())
        await asyncio.wait({leaving}, timeout=PATIENCE_SECONDS)

    async def _leave(self) -> None:
        with suppress(StoreError):  # then it comes free by itself
            await self._counting.leave()

    def _say(self, counts: bool) -> None:
        if counts is not self._counts:
            self._counts = counts
            self._told(counts)
