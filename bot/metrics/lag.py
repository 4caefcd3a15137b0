"""How late the event loop runs what is due."""

import asyncio

from prometheus_client import Histogram

_LAG = Histogram(
    "council_loop_lag_seconds",
    "How late the event loop runs what is due",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1),
)
_EVERY_SECONDS = 0.05


async def watch_lag() -> None:
    """Measure how late the event loop runs what is due, until it is cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + _EVERY_SECONDS
        await asyncio.sleep(_EVERY_SECONDS)
        _LAG.observe(max(0.0, loop.time() - due))
