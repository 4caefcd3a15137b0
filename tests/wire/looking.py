"""How a test waits: it looks again and again."""

import asyncio
from collections.abc import Callable, Iterable


async def until(
    holds: Callable[[], object],
    seconds: float,
    seen: Callable[[], Iterable[str]],
    pause_seconds: float = 0.005,
) -> None:
    """Wait until this holds; fail with what was seen last when it never does."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not holds():
        if loop.time() > end:
            raise AssertionError(f"still not so after {seconds} s; last calls: {[*seen()]}")
        await asyncio.sleep(pause_seconds)
