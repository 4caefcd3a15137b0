"""Providers: how hard each may be called, and how it and its models fare.

Values that a gateway takes and gives; an address is a host, without path or secrets.
"""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """How many calls a provider takes at once, and how many may begin in any minute."""

    concurrency: int = 20
    requests_per_minute: int | None = None


class BreakerState(StrEnum):
    """Whether a model is asked: always, not for a while, or once to see whether it is back."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@dataclass(frozen=True, slots=True)
class ProviderLoad:
    """Calls of all processes at one address: those under way, and those that wait for a turn."""

    under_way: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ProviderHealth:
    """A provider at one address; "" is the provider's own.

    What is `everywhere` is what all processes had there when this one last looked; None where it
    counts alone. Turns, and the seconds they were waited for, are those since the start.
    """

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
    """A model at one address; retries and pauses are counted since the start."""

    model: str
    address: str
    breaker: BreakerState = BreakerState.CLOSED
    retries: int = 0
    pauses: int = 0


@dataclass(frozen=True, slots=True)
class Health:
    """What a gateway's providers and models are like at this moment."""

    providers: tuple[ProviderHealth, ...] = ()
    models: tuple[ModelHealth, ...] = ()


class HintKind(StrEnum):
    """What was learnt of a model: it asks to be left alone, failed again and again, or is back."""

    PAUSE = "pause"
    SHUT = "shut"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class ProviderHint:
    """What one process has learnt of a model at an address, and for how many seconds it holds."""

    gate: str
    model: str
    lesson: HintKind
    seconds: float = 0.0
