"""Rate limits and health of providers and models; an address is a host without secrets."""

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address


@dataclass(frozen=True, slots=True)
class Limits:
    """How many calls may run at once, and how many may start in any minute."""

    concurrency: int = 20
    requests_per_minute: int | None = None


class BreakerState(StrEnum):
    """State of a model's circuit breaker: calls pass, none passes, or one probe passes."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@dataclass(frozen=True, slots=True)
class ProviderLoad:
    """Running and waiting calls of all processes at one address."""

    under_way: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ProviderHealth:
    """Load of a provider's address ("" is the default), here and `everywhere`."""

    provider: str
    address: str
    limits: Limits
    under_way: int = 0
    waiting: int = 0
    turns: int = 0
    waited_seconds: float = 0.0
    everywhere: ProviderLoad | None = None


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """State of a model at one address; retries and pauses are totals since the process started."""

    model: str
    address: str
    breaker: BreakerState = BreakerState.CLOSED
    retries: int = 0
    pauses: int = 0


@dataclass(frozen=True, slots=True)
class Health:
    """The current health of a gateway's providers and models."""

    providers: tuple[ProviderHealth, ...] = ()
    models: tuple[ModelHealth, ...] = ()


class HintKind(StrEnum):
    """What happened to a model: it asked for a pause, its breaker opened, or it recovered."""

    PAUSE = "pause"
    SHUT = "shut"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class ProviderHint:
    """A hint from one process to the others about a model; `seconds` is how long it is valid."""

    gate: str
    model: str
    lesson: HintKind
    seconds: float = 0.0


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches the address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
