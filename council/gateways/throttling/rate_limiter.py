"""Rate limiters of one process: turns at an address, requests per minute, retry pauses."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass

from council.errors import RateLimitError
from council.ports import SharedRateLimiter
from council.providers import Limits, ProviderLoad

MAX_WAIT_SECONDS = 600.0  # longer than any stage of a round
_MINUTE_SECONDS = 60.0
_MAX_PAUSE_SECONDS = 3600.0  # a wrong header must not block a model for good
_REASON = "asked us to slow down (429)"


@dataclass(frozen=True, slots=True)
class Clock:
    """Monotonic seconds, a way to sleep, and a random number in 0…1 that spreads waits."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


class RateLimiter:
    """The rate limiter at a provider's address; it also counts calls for the health page.

    With a rate limiter that is `shared` with other processes, a call waits for that first. The
    process applies the same limits itself too, in case the shared one cannot count.
    """

    def __init__(
        self, limits: Limits, clock: Clock, shared: SharedRateLimiter | None = None, gate: str = ""
    ) -> None:
        self.limits = limits
        self.under_way = 0
        self.waiting = 0
        self.count = 0
        self.waited_seconds = 0.0
        self._clock = clock
        self._shared = shared
        self._gate = gate
        self._semaphore = asyncio.Semaphore(limits.concurrency)
        self._rate = RequestRate(limits.requests_per_minute, clock)

    @property
    def shared_load(self) -> ProviderLoad | None:
        """The last known load of all processes at this address; None if each counts alone."""
        return self._shared.provider_load(self._gate) if self._shared else None

    @asynccontextmanager
    async def turn(self, place: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it; a cancelled wait adds a note to the CancelledError."""
        async with AsyncExitStack() as turns:
            began = self._clock.now()
            self.waiting += 1
            try:
                with note_on_cancel(f"waited for its turn at {place}"):
                    if self._shared:
                        slot = self._shared.slot(self._gate, self.limits)
                        await turns.enter_async_context(slot)
                    await turns.enter_async_context(self._semaphore)
                    await self._rate.begin()
            finally:
                self.waiting -= 1
                self.waited_seconds += self._clock.now() - began
            self.count += 1
            self.under_way += 1
            try:
                yield
            finally:
                self.under_way -= 1


class RequestRate:
    """Requests per minute in a sliding window: first come, first served; None is no limit."""

    def __init__(self, requests_per_minute: int | None, clock: Clock) -> None:
        self._limit = requests_per_minute
        self._clock = clock
        self._begun: deque[float] = deque(maxlen=requests_per_minute)
        self._next = asyncio.Lock()

    async def begin(self) -> None:
        """Wait until another request may begin, and count it; a cancelled wait is not counted."""
        if self._limit is None:
            return
        async with self._next:
            while self._wait_seconds() > 0:
                await self._clock.sleep(self._wait_seconds())
            self._begun.append(self._clock.now())

    def _wait_seconds(self) -> float:
        if len(self._begun) != self._limit:
            return 0.0
        return self._begun[0] + _MINUTE_SECONDS - self._clock.now()


class RetryPause:
    """The pause a provider asked for, shared by all calls of a model; it is never shortened."""

    def __init__(self, clock: Clock) -> None:
        self.count = 0
        self._clock = clock
        self._until = clock.now()

    @property
    def is_over(self) -> bool:
        """Whether calls may go out."""
        return self._remaining_seconds <= 0

    def start(self, seconds: float) -> None:
        """Count a pause, and block calls for so long from now at least."""
        self.count += 1
        self.extend(seconds)

    def extend(self, seconds: float) -> None:
        """Block calls for so long from now at least, without counting: another process has."""
        self._until = max(self._until, self._clock.now() + min(seconds, _MAX_PAUSE_SECONDS))

    async def wait(self, spread_seconds: float = 0.0) -> None:
        """Wait for the end of the pause and `spread_seconds`; raise RateLimitError if too long."""
        while (seconds := self._remaining_seconds) > 0:
            if seconds > MAX_WAIT_SECONDS:
                raise RateLimitError(
                    f"was not asked: it {_REASON} for another {seconds:.0f} s", seconds
                )
            with note_on_cancel(_REASON):
                await self._clock.sleep(seconds + spread_seconds)

    @property
    def _remaining_seconds(self) -> float:
        return self._until - self._clock.now()


@contextmanager
def note_on_cancel(why: str) -> Iterator[None]:
    """Add the reason of the wait to a CancelledError, as a note for the caller."""
    try:
        yield
    except asyncio.CancelledError as error:
        error.add_note(f"{why} until the time was up")
        raise
