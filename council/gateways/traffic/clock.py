"""The time that calls wait by, and what they say when they waited in vain."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LONGEST_WAIT_SECONDS = 600.0  # longer than any stage: nobody will be there to hear the answer


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds that only grow, a way to let them pass, and chance in 0…1 to spread waits by."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


@contextmanager
def noting(why: str) -> Iterator[None]:
    """Note on a CancelledError what was waited for; the caller's deadline tells it on."""
    try:
        yield
    except asyncio.CancelledError as stopped:
        stopped.add_note(f"{why} until the time was up")
        raise
