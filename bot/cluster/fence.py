"""A fence round what a process does: who stood still for too long lets go before it goes on.

It looks at the clock in the loop's own timers, which run before any task that wakes with them.
"""

import asyncio
from collections.abc import Callable

from bot.cluster.pace import clock

LOOK_SECONDS = 1.0


class Fence:
    """Looks each second whether the loop stood still; `thawed` hears for how many seconds."""

    def __init__(
        self,
        thawed: Callable[[float], None],
        gap_seconds: float,
        clock: Callable[[], float] = clock,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._thawed = thawed
        self._look_seconds = look_seconds
        self._gap_seconds = gap_seconds
        self._clock = clock
        self._looked = clock()
        self._handle: asyncio.TimerHandle | None = None

    @property
    def holds(self) -> bool:
        """Say whether it was looked lately: not where the loop goes on after standing still."""
        return self._clock() - self._looked <= self._gap_seconds

    def start(self) -> None:
        """Look from now on."""
        self._looked = self._clock()
        self._again()

    def stop(self) -> None:
        """Look no more."""
        if self._handle:
            self._handle.cancel()

    def look(self) -> None:
        """Compare the clock with the last look."""
        gap = self._clock() - self._looked
        self._looked = self._clock()
        if gap > self._gap_seconds:
            self._thawed(gap)

    def _again(self) -> None:
        self._handle = asyncio.get_running_loop().call_later(self._look_seconds, self._tick)

    def _tick(self) -> None:
        self._again()
        self.look()
