"""All lines of a gateway: who shares turns, who shares a pause and a breaker."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from platform import node
from urllib.parse import urlsplit

from council.gateways.traffic.clock import Clock
from council.gateways.traffic.line import Line
from council.gateways.traffic.turns import Turns
from council.ports import Turnstile
from council.providers import Health, Hint, Lesson, Limits, ModelHealth, ProviderHealth


@dataclass(frozen=True, slots=True)
class Address:
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
        return f"{self.provider} at {self.host}{f' of {_machine()}' if _is_here(name) else ''}"


def _unheard(_: Hint) -> None:
    """Tell nobody: no other process is there."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The other processes: a turnstile that is shared with them, and a way to tell them things."""

    turnstile: Turnstile | None = None
    tell: Callable[[Hint], None] = _unheard


NOBODY = Neighbours()


class Traffic:
    """Gives each model its line; models at one address share turns, and nothing else.

    `limits` are named by provider, or by host and port, which go before.
    """

    def __init__(
        self, limits: Mapping[str, Limits], clock: Clock, neighbours: Neighbours = NOBODY
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._neighbours = neighbours
        self._turns: dict[Address, Turns] = {}
        self._lines: dict[tuple[Address, str], Line] = {}

    def line(self, address: Address, model: str) -> Line:
        """Give the line to a model, always the same one."""
        if (address, model) not in self._lines:
            if address not in self._turns:
                shared = (self._neighbours.turnstile, address.gate)
                self._turns[address] = Turns(self._limited(address), self._clock, *shared)
            tell = self._telling(address.gate, model)
            turns = self._turns[address]
            self._lines[address, model] = Line(turns, address.place, self._clock, tell)
        return self._lines[address, model]

    def heed(self, hint: Hint) -> None:
        """Take note of what another process has learnt of a model."""
        for (address, model), line in self._lines.items():
            if (address.gate, model) == (hint.gate, hint.model):
                line.heed(hint.lesson, hint.seconds)

    def _telling(self, gate: str, model: str) -> Callable[[Lesson, float], None]:
        return lambda lesson, seconds: self._neighbours.tell(Hint(gate, model, lesson, seconds))

    def _limited(self, address: Address) -> Limits:
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


def _health(at: Address, turns: Turns) -> ProviderHealth:
    now = (turns.under_way, turns.waiting, turns.count, turns.waited_seconds)
    return ProviderHealth(at.provider, at.host, turns.limits, *now, turns.everywhere)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@cache
def _machine() -> str:
    """Give the machine's name."""
    return node()
