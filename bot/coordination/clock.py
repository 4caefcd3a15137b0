"""The time that all processes of a cluster agree on, told by this process without asking."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import structlog

from council.errors import StoreError

SET_EVERY_SECONDS = 30.0
WORTH_TELLING_SECONDS = 2.0


def now() -> datetime:
    """Give this moment, by the clock of this machine."""
    return datetime.now(UTC)


class SharedClock:
    """This machine's clock, set by another that all share: what it is off by is measured.

    Until it was set it goes by itself; where the other cannot be asked it goes on as it was set.
    """

    def __init__(
        self, ask: Callable[[], Awaitable[datetime]], own: Callable[[], datetime] = now
    ) -> None:
        self._ask = ask
        self._own = own
        self._behind = timedelta()

    def now(self) -> datetime:
        """Give this moment, by the clock that all share."""
        return self._own() + self._behind

    @property
    def behind_seconds(self) -> float:
        """How far this machine's clock is behind the one that all share; negative if ahead."""
        return self._behind.total_seconds()

    async def set(self) -> None:
        """Ask what time it is; raises StoreError where nobody says."""
        asked = time.monotonic()
        theirs = await self._ask()
        halfway = timedelta(seconds=(time.monotonic() - asked) / 2)
        before, self._behind = self._behind, theirs + halfway - self._own()
        if abs(self._behind - before) > timedelta(seconds=WORTH_TELLING_SECONDS):
            seconds = round(self.behind_seconds, 1)
            structlog.get_logger().warning("clock_differs", behind_seconds=seconds)

    async def keep(self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        """Ask again and again, until cancelled."""
        while True:
            await sleep(SET_EVERY_SECONDS)
            try:
                await self.set()
            except StoreError:  # the next time may find it well again
                continue
