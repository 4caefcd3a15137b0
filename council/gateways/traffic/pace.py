"""So many requests a minute, and no more, whatever minute is looked at."""

import asyncio
from collections import deque

from council.gateways.traffic.clock import Clock

_MINUTE = 60.0


class Pace:
    """Lets requests begin in the order they came; without a limit, at once."""

    def __init__(self, requests_per_minute: int | None, clock: Clock) -> None:
        self._limit = requests_per_minute
        self._clock = clock
        self._begun: deque[float] = deque(maxlen=requests_per_minute)
        self._next = asyncio.Lock()

    async def begin(self) -> None:
        """Wait until another request may begin, and count it; one that leaves is not counted."""
        if self._limit is None:
            return
        async with self._next:
            while self._left() > 0:
                await self._clock.sleep(self._left())
            self._begun.append(self._clock.now())

    def _left(self) -> float:
        if len(self._begun) != self._limit:
            return 0.0
        return self._begun[0] + _MINUTE - self._clock.now()
