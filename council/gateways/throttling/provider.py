"""Throttling of calls: a queue for each model, with rate limiter, retry pause and breaker."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from math import inf
from platform import node
from urllib.parse import urlsplit

from council.gateways.throttling.circuit_breaker import CircuitBreaker
from council.gateways.throttling.rate_limiter import Clock, RateLimiter, RetryPause, note_on_cancel
from council.ports import SharedRateLimiter
from council.providers import (
    BreakerState,
    Health,
    HintKind,
    Limits,
    ModelHealth,
    ProviderHealth,
    ProviderHint,
    is_loopback,
)


@dataclass(frozen=True, slots=True)
class ProviderAddress:
    """A provider and its address; without `api_base`, the provider's own."""

    provider: str
    api_base: str | None = None

    @property
    def host(self) -> str:
        """The host and port, without credentials; "" for the provider's own."""
        return urlsplit(self.api_base or "").netloc.rpartition("@")[2]

    @property
    def place(self) -> str:
        """The provider in words that do not reveal an address."""
        return "its server" if self.api_base else self.provider or "its provider"

    @property
    def gate(self) -> str:
        """The address in the shared rate limiter, without secrets; loopback is per machine."""
        if not self.host:
            return self.provider
        name = urlsplit(self.api_base or "").hostname or ""
        machine = f" of {node()}" if is_loopback(name) else ""
        return f"{self.provider} at {self.host}{machine}"


Publish = Callable[[ProviderHint], None]  # sends a hint to the other processes


class Throttling:
    """The queues of all models; `limits` are by provider, or by host and port, which go first."""

    def __init__(
        self,
        limits: Mapping[str, Limits],
        clock: Clock,
        shared: SharedRateLimiter | None = None,
        publish: Publish = lambda _hint: None,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._shared = shared
        self._publish = publish
        self._limiters: dict[ProviderAddress, RateLimiter] = {}
        self._queues: dict[tuple[ProviderAddress, str], ProviderQueue] = {}

    def queue(self, address: ProviderAddress, model: str) -> "ProviderQueue":
        """Return the queue of a model, always the same one."""
        if address not in self._limiters:
            names = (address.host, address.provider)
            limits = next((self._limits[name] for name in names if name in self._limits), Limits())
            self._limiters[address] = RateLimiter(limits, self._clock, self._shared, address.gate)
        if (address, model) not in self._queues:

            def publish(kind: HintKind, seconds: float) -> None:
                self._publish(ProviderHint(address.gate, model, kind, seconds))

            self._queues[address, model] = ProviderQueue(
                self._limiters[address], address.place, self._clock, publish
            )
        return self._queues[address, model]

    def apply_hint(self, hint: ProviderHint) -> None:
        """Apply a pause or an outage that another process has observed."""
        for (address, model), queue in self._queues.items():
            if (address.gate, model) == (hint.gate, hint.model):
                if hint.lesson is HintKind.PAUSE:
                    queue.pause.extend(hint.seconds)
                elif hint.lesson is HintKind.SHUT:
                    queue.breaker.keep_open(hint.seconds)
                else:
                    queue.breaker.record_success()

    def health(self) -> Health:
        """Return the current state of every provider and model."""
        providers = (
            ProviderHealth(
                provider=at.provider,
                address=at.host,
                limits=turns.limits,
                under_way=turns.under_way,
                waiting=turns.waiting,
                turns=turns.count,
                waited_seconds=turns.waited_seconds,
                everywhere=turns.shared_load,
            )
            for at, turns in self._limiters.items()
        )
        models = (
            ModelHealth(model, at.host, queue.breaker.state, queue.retries, queue.pause.count)
            for (at, model), queue in self._queues.items()
        )
        return Health(tuple(providers), tuple(models))


class ProviderQueue:
    """What all calls of a model share; `publish` sends pauses and outages to others."""

    def __init__(
        self,
        turns: RateLimiter,
        place: str,
        clock: Clock,
        publish: Callable[[HintKind, float], None],
    ) -> None:
        self.turns = turns
        self.place = place
        self.clock = clock
        self.pause = RetryPause(clock)
        self.breaker = CircuitBreaker(clock)
        self.retries = 0
        self.publish = publish

    @contextmanager
    def call(self, deadline: float | None = None) -> Iterator["ProviderCall"]:
        """Yield a call; a probe that ends without an outcome leaves probing to another call."""
        call = ProviderCall(self, deadline)
        try:
            yield call
        finally:
            self.breaker.release_probe(call)


class ProviderCall:
    """One call with all its attempts: each takes a turn, and the outcome goes to the breaker."""

    def __init__(self, queue: ProviderQueue, deadline: float | None = None) -> None:
        self._queue = queue
        self._deadline = inf if deadline is None else deadline
        self._began = 0.0
        self._waited = 0.0
        self.attempts = 0

    @property
    def seconds(self) -> float:
        """The seconds since its first attempt began."""
        return self._queue.clock.now() - self._began

    @property
    def is_blocked(self) -> bool:
        """Whether the breaker has opened in the meantime because other calls failed."""
        return self._queue.breaker.refuses(self)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold a turn for one attempt, after the breaker and the pause allow it.

        A cancel at the deadline counts as a failure of the model, unless the call has waited longer
        for its turns than the attempt has run. A cancel before it does not: a person stopped the
        round. Raise GatewayError if the model must not be called now.
        """
        now = self._queue.clock.now
        arrived = now()
        async with self._admit():
            sent = now()
            self._waited += sent - arrived
            if self.attempts == 0:
                self._began = sent
            self.attempts += 1
            try:
                yield
            except asyncio.CancelledError:
                is_late = asyncio.get_running_loop().time() >= self._deadline
                if is_late and now() - sent >= self._waited:
                    self.settle(failed=True)
                raise

    @asynccontextmanager
    async def _admit(self) -> AsyncIterator[None]:
        queue = self._queue
        while True:
            queue.breaker.admit(self)
            await queue.pause.wait(queue.clock.jitter())
            async with queue.turns.turn(queue.place):
                # The breaker or the pause may have changed while this call waited for its turn.
                queue.breaker.admit(self)
                if queue.pause.is_over:
                    yield
                    return

    async def wait(self, seconds: float, why: str) -> None:
        """Wait before another attempt; a cancel in the meantime gets a note with the reason."""
        self._queue.retries += 1
        with note_on_cancel(why):
            await self._queue.clock.sleep(seconds)

    def hold_off(self, seconds: float) -> None:
        """Pause the calls to this model in all processes."""
        self._queue.pause.start(seconds)
        self._queue.publish(HintKind.PAUSE, seconds)

    def settle(self, *, failed: bool) -> None:
        """Record the outcome, `failed` if the model could not be reached; publish a change."""
        breaker = self._queue.breaker
        before = breaker.state
        if failed:
            breaker.record_failure(self)
        else:
            breaker.record_success()
        after = breaker.state
        if after is not before and after is not BreakerState.HALF_OPEN:
            kind = HintKind.SHUT if after is BreakerState.OPEN else HintKind.BACK
            self._queue.publish(kind, breaker.remaining_seconds)
