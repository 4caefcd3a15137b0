"""Turns at one provider's address: how many calls are under way, and who comes next."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from council.gateways.traffic.clock import Clock, noting
from council.gateways.traffic.own import OwnTurnstile
from council.ports import Turnstile
from council.providers import Crowd, Limits


class Turns:
    """Gives turns in the order they were asked for, within the provider's limits.

    Where a turnstile is shared with other processes, its turn comes first. The process keeps the
    same limits by itself as well: that costs nobody a wait, and holds when nobody else counts.
    """

    def __init__(
        self, limits: Limits, clock: Clock, shared: Turnstile | None = None, gate: str = ""
    ) -> None:
        self.limits = limits
        self.under_way = 0
        self.waiting = 0
        self.count = 0
        self.waited_seconds = 0.0
        self._clock = clock
        self._shared = shared
        self._gate = gate
        self._own = OwnTurnstile(clock)

    @property
    def everywhere(self) -> Crowd | None:
        """What all processes had at this address when last looked; None where each counts alone."""
        return self._shared.crowd(self._gate) if self._shared else None

    @asynccontextmanager
    async def turn(self, place: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it; cancelled meanwhile, note what was waited for."""
        async with AsyncExitStack() as held:
            await self._wait(held, place)
            self.under_way += 1
            try:
                yield
            finally:
                self.under_way -= 1

    async def _wait(self, held: AsyncExitStack, place: str) -> None:
        came = self._clock.now()
        self.waiting += 1
        try:
            with noting(f"waited for its turn at {place}"):
                if self._shared:
                    await held.enter_async_context(self._shared.turn(self._gate, self.limits))
                await held.enter_async_context(self._own.turn(self._gate, self.limits))
        finally:
            self.waiting -= 1
            self.waited_seconds += self._clock.now() - came
        self.count += 1
