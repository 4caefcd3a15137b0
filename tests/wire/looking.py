"""Polling: wait until a condition holds."""

import asyncio
from collections.abc import Callable, Iterable


async def until(
    holds: Callable[[], object],
    seconds: float,
    seen: Callable[[], Iterable[str]],
    pause_seconds: float = 0.005,
) -> None:
    """Wait until a condition holds; on timeout, fail with the last calls."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not holds():
        if loop.time() > end:
            raise AssertionError(f"still not so after {seconds} s; last calls: {[*seen()]}")
        await asyncio.sleep(pause_seconds)
