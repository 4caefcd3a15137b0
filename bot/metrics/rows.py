"""What only the rows know, looked at now and then."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from prometheus_client import Gauge

from council.errors import StoreError

LOOK_SECONDS = 15.0

_UNMARKED = Gauge(
    "council_outbox_unmarked", "Messages claimed over a minute ago of which nobody knows more"
)


async def watch_outbox(
    unmarked: Callable[[], Awaitable[int]],
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Count messages whose claim has no mark for long, again and again, until cancelled."""
    while True:
        with suppress(StoreError):  # then the figure stays what it was
            _UNMARKED.set(await unmarked())
        await sleep(LOOK_SECONDS)
