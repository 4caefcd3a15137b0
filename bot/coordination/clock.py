"""Clock of a cluster: this machine's clock, corrected by the database's."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import structlog

from council.errors import StoreError

SYNC_SECONDS = 30.0
MIN_LOGGED_CHANGE_SECONDS = 2.0


def now() -> datetime:
    """Return the current time in UTC, by this machine's clock."""
    return datetime.now(UTC)


class SharedClock:
    """This machine's clock, plus the offset of a shared reference clock at the last sync."""

    def __init__(
        self, ask: Callable[[], Awaitable[datetime]], own: Callable[[], datetime] = now
    ) -> None:
        self._ask = ask
        self._own = own
        self._behind = timedelta()

    def now(self) -> datetime:
        """Return the current time by the reference clock."""
        return self._own() + self._behind

    @property
    def behind_seconds(self) -> float:
        """How far this machine's clock is behind the reference; negative if it is ahead."""
        return self._behind.total_seconds()

    async def sync(self) -> None:
        """Measure the offset; raise StoreError if the reference does not answer."""
        asked_at = time.monotonic()
        reference = await self._ask()
        halfway = timedelta(seconds=(time.monotonic() - asked_at) / 2)
        before, self._behind = self._behind, reference + halfway - self._own()
        if abs(self._behind - before) > timedelta(seconds=MIN_LOGGED_CHANGE_SECONDS):
            seconds = round(self.behind_seconds, 1)
            structlog.get_logger().warning("clock_differs", behind_seconds=seconds)

    async def keep_in_sync(
        self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        """Measure the offset every 30 seconds until cancelled."""
        while True:
            await sleep(SYNC_SECONDS)
            try:
                await self.sync()
            except StoreError:  # the next sync may succeed
                continue
