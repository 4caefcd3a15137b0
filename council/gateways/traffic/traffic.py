"""All lines of a gateway: who shares turns, who shares a pause and a breaker."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from council.gateways.traffic.clock import Clock
from council.gateways.traffic.line import Line
from council.gateways.traffic.turns import Turns
from council.providers import Health, Limits, ModelHealth, ProviderHealth


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


class Traffic:
    """Gives each model its line; models at one address share turns, and nothing else.

    `limits` are named by provider, or by host and port, which go before.
    """

    def __init__(self, limits: Mapping[str, Limits], clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._turns: dict[Address, Turns] = {}
        self._lines: dict[tuple[Address, str], Line] = {}

    def line(self, address: Address, model: str) -> Line:
        """Give the line to a model, always the same one."""
        if (address, model) not in self._lines:
            turns = self._turns.setdefault(address, Turns(self._limited(address), self._clock))
            self._lines[address, model] = Line(turns, address.place, self._clock)
        return self._lines[address, model]

    def _limited(self, address: Address) -> Limits:
        names = (address.host, address.provider)
        return next((self._limits[name] for name in names if name in self._limits), Limits())

    def health(self) -> Health:
        """Give what every provider and model is like now."""
        providers = (
            ProviderHealth(at.provider, at.host, turns.limits, turns.under_way, turns.waiting)
            for at, turns in self._turns.items()
        )
        models = (
            ModelHealth(model, at.host, line.breaker.state, line.retries, line.pause.count)
            for (at, model), line in self._lines.items()
        )
        return Health(tuple(providers), tuple(models))
