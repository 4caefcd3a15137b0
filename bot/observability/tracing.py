"""Tracing of rounds: the interface, without OpenTelemetry, which only a collector needs."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from council.ports import Gateway
from council.rounds import Round


class Trace(Protocol):
    """The trace of one round."""

    def wrap(self, gateway: Gateway) -> Gateway:
        """Return a gateway whose calls are traced."""
        ...

    def update(self, round_: Round) -> None:
        """Record the stage that the round has reached."""
        ...


Tracing = Callable[[Round], AbstractContextManager[Trace]]


class _NoTrace:
    def wrap(self, gateway: Gateway) -> Gateway:
        """Return the gateway as it is."""
        return gateway

    def update(self, round_: Round) -> None:
        """Record nothing."""


_NO_TRACE = _NoTrace()


@contextmanager
def no_tracing(_: Round) -> Iterator[Trace]:
    """Trace nothing."""
    yield _NO_TRACE


@dataclass(frozen=True, slots=True)
class CollectorConfig:
    """Where traces are sent by OTLP over HTTP; nowhere if the endpoint is empty."""

    endpoint: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@asynccontextmanager
async def open_tracing(collector: CollectorConfig) -> AsyncIterator[Tracing]:
    """Yield a function that traces a round, for as long as the block lasts."""
    if not collector.endpoint:
        yield no_tracing
        return
    # A start without a collector does not wait for OpenTelemetry.
    from bot.observability.spans import open_exporter

    async with open_exporter(collector) as tracing:
        yield tracing
