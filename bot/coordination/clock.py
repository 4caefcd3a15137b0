"""Clock of a cluster: this machine's clock, corrected by the database's."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import structlog

from council.errors import CouncilError, StoreError

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


# --- Moments that people write

_AGO = re.compile(r"(\d{1,5})\s*(h|d|w|m|y)[a-z]*", re.IGNORECASE)
_UNITS = {
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "m": timedelta(days=30),
    "y": timedelta(days=365),
}


class MomentError(CouncilError):
    """A text that names no moment."""


def parse_moment(text: str, now: datetime) -> datetime:
    """Parse "30d", "2w" or "12h" before now, or an ISO date or time, in UTC unless it has a zone.

    Raise MomentError for anything else.
    """
    try:
        if ago := _AGO.fullmatch(text.strip()):
            return now - int(ago[1]) * _UNITS[ago[2].lower()]
        found = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise MomentError(
            f"I can't read {text!r} as a time. Write 30d, 2w, 12h, 2026-11-21 or 2026-11-21T09:00."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
