"""Traces of rounds, for whoever has set an address to send them to; without one, nothing at all.

A span a round, one a stage, one a call. Never a text that somebody or some model wrote, never a
key.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from council.ports import Gateway
from council.rounds import Round


class Trace(Protocol):
    """The trace of one round."""

    def through(self, gateway: Gateway) -> Gateway:
        """Give a gateway whose calls are traced."""
        ...

    def show(self, round_: Round) -> None:
        """Take note of how far the round has come."""
        ...


Tracing = Callable[[Round], AbstractContextManager[Trace]]


class _NoTrace:
    def through(self, gateway: Gateway) -> Gateway:
        """Give the gateway as it is."""
        return gateway

    def show(self, round_: Round) -> None:
        """Take no note."""


_NO_TRACE = _NoTrace()


@contextmanager
def untraced(_: Round) -> Iterator[Trace]:
    """Trace nothing."""
    yield _NO_TRACE


@dataclass(frozen=True, slots=True)
class Collector:
    """Where traces are sent, by OTLP over HTTP; "" is nowhere."""

    endpoint: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@asynccontextmanager
async def tracing_to(collector: Collector) -> AsyncIterator[Tracing]:
    """Give a way to trace rounds as long as the block lasts."""
    if not collector.endpoint:
        yield untraced
        return
    # Whoever sends traces nowhere does not wait for OpenTelemetry.
    from bot.tracing.sending import sending

    async with sending(collector) as tracing:
        yield tracing
