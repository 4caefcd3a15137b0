"""The time that calls wait by, and what they say when they waited in vain."""

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

# --- The time that calls wait by, and what they say when they waited in vain.

MAX_WAIT_SECONDS = 600.0  # longer than any stage: nobody will be there to hear the answer


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds that only grow, a way to let them pass, and chance in 0…1 to spread waits by."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


@contextmanager
def note_on_cancel(why: str) -> Iterator[None]:
    """Note on a CancelledError what was waited for; the caller's deadline tells it on."""
    try:
        yield
    except asyncio.CancelledError as stopped:
        stopped.add_note(f"{why} until the time was up")
        raise


# --- So many requests a minute, and no more, whatever minute is looked at.

_MINUTE = 60.0


class RequestRate:
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


# --- The pause a provider asked for, kept by every call of that model at that address.

_CAP_SECONDS = 3600.0  # a wrong header must not silence a model for good
_WHY = "asked us to slow down (429)"


class RetryPause:
    """How long nobody is to call; it only grows, and passes by itself."""

    def __init__(self, clock: Clock) -> None:
        self.count = 0
        self._clock = clock
        self._until = clock.now()

    @property
    def is_over(self) -> bool:
        """Whether calls may go out."""
        return self._left <= 0

    def extend_pause(self, seconds: float) -> None:
        """Let nobody call for so long from now; a longer pause stays as it is."""
        self.count += 1
        self.heed(seconds)

    def heed(self, seconds: float) -> None:
        """Do so where another process was asked to, which has counted it."""
        self._until = max(self._until, self._clock.now() + min(seconds, _CAP_SECONDS))

    async def over(self, spread_seconds: float = 0.0) -> None:
        """Wait for the end, and by `spread_seconds` more, so that not all come back at once.

        Raise RateLimitError where that is too long to wait; cancelled, note what was waited for.
        """
        while (left := self._left) > 0:
            if left > MAX_WAIT_SECONDS:
                raise RateLimitError(f"was not asked: it {_WHY} for another {left:.0f} s", left)
            with note_on_cancel(_WHY):
                await self._clock.sleep(left + spread_seconds)

    @property
    def _left(self) -> float:
        return self._until - self._clock.now()


# --- Turns that one process counts by itself.


class OwnTurnstile:
    """Gives turns in the order they were asked for; every address has its own count."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._gates: dict[str, tuple[asyncio.Semaphore, RequestRate]] = {}

    @asynccontextmanager
    async def turn(self, gate: str, limits: Limits) -> AsyncIterator[None]:
        """Wait for a turn at an address, and hold it as long as the block lasts."""
        if gate not in self._gates:
            pace = RequestRate(limits.requests_per_minute, self._clock)
            self._gates[gate] = asyncio.Semaphore(limits.concurrency), pace
        free, pace = self._gates[gate]
        async with free:
            await pace.begin()
            yield

    def crowd(self, gate: str) -> ProviderLoad | None:
        """Give None: of other processes nothing is known."""
        return None


# --- Turns at one provider's address: how many calls are under way, and who comes next.


class RateLimiter:
    """Gives turns in the order they were asked for, within the provider's limits.

    Where a turnstile is shared with other processes, its turn comes first. The process keeps the
    same limits by itself as well: that costs nobody a wait, and holds when nobody else counts.
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
        self._own = OwnTurnstile(clock)

    @property
    def everywhere(self) -> ProviderLoad | None:
        """What all processes had at this address when last looked; None where each counts alone."""
        return self._shared.crowd(self._gate) if self._shared else None

    @asynccontextmanager
    async def turn(self, place: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it; cancelled meanwhile, note what was waited for."""
        async with AsyncExitStack() as held:
            await self._wait(held, place)
            self.under_way += 1
            try:
                yield
            finally:
                self.under_way -= 1

    async def _wait(self, held: AsyncExitStack, place: str) -> None:
        came = self._clock.now()
        self.waiting += 1
        try:
            with note_on_cancel(f"waited for its turn at {place}"):
                if self._shared:
                    await held.enter_async_context(self._shared.turn(self._gate, self.limits))
                await held.enter_async_context(self._own.turn(self._gate, self.limits))
        finally:
            self.waiting -= 1
            self.waited_seconds += self._clock.now() - came
        self.count += 1
