"""The line to one model at one address, and one call on it from its first attempt to its last."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from platform import node
from urllib.parse import urlsplit

from council.gateways.throttling.breaker import CircuitBreaker
from council.gateways.throttling.limits import Clock, RateLimiter, RetryPause, note_on_cancel
from council.ports import SharedRateLimiter
from council.providers import (
    BreakerState,
    Health,
    HintKind,
    Limits,
    ModelHealth,
    ProviderHealth,
    ProviderHint,
)

# --- The line to one model at one address, and one call on it from its first attempt to its last.


def _ignore(_: HintKind, __: float) -> None:
    """Tell nobody: no other process is there."""


class ProviderQueue:
    """What all calls of a model share: its pause and its breaker; its provider's turns.

    Other processes are told what is learnt of it, and for how many seconds that holds.
    """

    def __init__(
        self,
        turns: RateLimiter,
        place: str,
        clock: Clock,
        tell: Callable[[HintKind, float], None] = _ignore,
    ) -> None:
        self.turns = turns
        self.place = place
        self.clock = clock
        self.pause = RetryPause(clock)
        self.breaker = CircuitBreaker(clock)
        self.retries = 0
        self._tell = tell

    def hold_off(self, seconds: float) -> None:
        """Let nobody call this model for so long, in any process."""
        self.pause.extend_pause(seconds)
        self._tell(HintKind.PAUSE, seconds)

    def settle(self, call: object, *, failed: bool) -> None:
        """Tell the breaker what came of a call, and others what the breaker makes of it."""
        before = self.breaker.state
        if failed:
            self.breaker.failed(call)
        else:
            self.breaker.answered()
        after = self.breaker.state
        if after is not before and after is not BreakerState.HALF_OPEN:
            lesson = HintKind.SHUT if after is BreakerState.OPEN else HintKind.BACK
            self._tell(lesson, self.breaker.remaining_seconds)

    def heed(self, lesson: HintKind, seconds: float) -> None:
        """Take what another process has learnt as if it had been learnt here."""
        if lesson is HintKind.PAUSE:
            self.pause.heed(seconds)
        elif lesson is HintKind.SHUT:
            self.breaker.shut(seconds)
        else:
            self.breaker.answered()

    @contextmanager
    def asking(self) -> Iterator["ProviderCall"]:
        """Give a call's way through; a probe that ends without an outcome leaves to the next."""
        asking = ProviderCall(self)
        try:
            yield asking
        finally:
            self.breaker.left(asking)


class ProviderCall:
    """One call: it takes a turn for each attempt, and tells the breaker what came of it."""

    def __init__(self, line: ProviderQueue) -> None:
        self._line = line
        self._began = 0.0
        self._waited = 0.0
        self.attempts = 0

    @property
    def seconds(self) -> float:
        """How long it has lasted since its first attempt began."""
        return self._line.clock.now() - self._began

    @property
    def is_blocked(self) -> bool:
        """Whether the breaker has opened since, by failures of other calls."""
        return self._line.breaker.refuses(self)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold a turn for one attempt, once breaker and pause let it.

        Cancelled in it, the model failed, unless the call had spent longer in waiting for a turn.
        Raise GatewayError where it is not to be asked now.
        """
        now = self._line.clock.now
        came = now()
        async with self._let_out():
            sent = now()
            self._waited += sent - came
            if self.attempts == 0:
                self._began = sent
            self.attempts += 1
            try:
                yield
            except asyncio.CancelledError:
                if now() - sent >= self._waited:
                    self.settle(failed=True)
                raise

    @asynccontextmanager
    async def _let_out(self) -> AsyncIterator[None]:
        line = self._line
        while True:
            line.breaker.admit(self)
            await line.pause.over(line.clock.jitter())
            async with line.turns.turn(line.place):
                # Much may have happened to the model while this call waited for its turn.
                line.breaker.admit(self)
                if line.pause.is_over:
                    yield
                    return

    async def rest(self, seconds: float, why: str) -> None:
        """Wait before another attempt; cancelled meanwhile, note why."""
        self._line.retries += 1
        with note_on_cancel(why):
            await self._line.clock.sleep(seconds)

    def hold_off(self, seconds: float) -> None:
        """Let nobody call this model for so long."""
        self._line.hold_off(seconds)

    def settle(self, *, failed: bool) -> None:
        """Say what came of it: the model could not be had, or its provider was there."""
        self._line.settle(self, failed=failed)


# --- All lines of a gateway: who shares turns, who shares a pause and a breaker.


@dataclass(frozen=True, slots=True)
class ProviderAddress:
    """Where a provider answers; without `api_base`, at its own address."""

    provider: str
    api_base: str | None = None

    @property
    def host(self) -> str:
        """The host with its port, without secrets; "" for the provider's own."""
        return urlsplit(self.api_base or "").netloc.rpartition("@")[2]

    @property
    def place(self) -> str:
        """The provider in words that give no address away."""
        return "its server" if self.api_base else self.provider or "its provider"

    @property
    def gate(self) -> str:
        """What processes that share its turns call it, without path or secrets.

        Loopback is another server on each machine, so there it names the machine as well.
        """
        if not self.host:
            return self.provider
        name = urlsplit(self.api_base or "").hostname or ""
        machine = f" of {_machine_name()}" if _is_loopback(name) else ""
        return f"{self.provider} at {self.host}{machine}"


def _ignore_hint(_: ProviderHint) -> None:
    """Tell nobody: no other process is there."""


@dataclass(frozen=True, slots=True)
class SharedLimits:
    """The other processes: a turnstile that is shared with them, and a way to tell them things."""

    turnstile: SharedRateLimiter | None = None
    publish: Callable[[ProviderHint], None] = _ignore_hint


NOT_SHARED = SharedLimits()


class Throttling:
    """Gives each model its line; models at one address share turns, and nothing else.

    `limits` are named by provider, or by host and port, which go before.
    """

    def __init__(
        self, limits: Mapping[str, Limits], clock: Clock, neighbours: SharedLimits = NOT_SHARED
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._neighbours = neighbours
        self._turns: dict[ProviderAddress, RateLimiter] = {}
        self._lines: dict[tuple[ProviderAddress, str], ProviderQueue] = {}

    def line(self, address: ProviderAddress, model: str) -> ProviderQueue:
        """Give the line to a model, always the same one."""
        if (address, model) not in self._lines:
            if address not in self._turns:
                shared = (self._neighbours.turnstile, address.gate)
                self._turns[address] = RateLimiter(self._limited(address), self._clock, *shared)
            tell = self._telling(address.gate, model)
            turns = self._turns[address]
            self._lines[address, model] = ProviderQueue(turns, address.place, self._clock, tell)
        return self._lines[address, model]

    def heed(self, hint: ProviderHint) -> None:
        """Take note of what another process has learnt of a model."""
        for (address, model), line in self._lines.items():
            if (address.gate, model) == (hint.gate, hint.model):
                line.heed(hint.lesson, hint.seconds)

    def _telling(self, gate: str, model: str) -> Callable[[HintKind, float], None]:
        return lambda lesson, seconds: self._neighbours.publish(
            ProviderHint(gate, model, lesson, seconds)
        )

    def _limited(self, address: ProviderAddress) -> Limits:
        names = (address.host, address.provider)
        return next((self._limits[name] for name in names if name in self._limits), Limits())

    def health(self) -> Health:
        """Give what every provider and model is like now."""
        providers = (_health(at, turns) for at, turns in self._turns.items())
        models = (
            ModelHealth(model, at.host, line.breaker.state, line.retries, line.pause.count)
            for (at, model), line in self._lines.items()
        )
        return Health(tuple(providers), tuple(models))


def _health(at: ProviderAddress, turns: RateLimiter) -> ProviderHealth:
    now = (turns.under_way, turns.waiting, turns.count, turns.waited_seconds)
    return ProviderHealth(at.provider, at.host, turns.limits, *now, turns.everywhere)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@cache
def _machine_name() -> str:
    """Give the machine's name."""
    return node()
