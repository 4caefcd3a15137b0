"""Tracing of rounds: the interface, without OpenTelemetry, which only a collector needs."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from council.rounds import Round

if TYPE_CHECKING:
    from bot.observability.spans import RoundTrace


Tracing = Callable[[Round], AbstractContextManager["RoundTrace"]]


@dataclass(frozen=True, slots=True)
class CollectorConfig:
    """Where traces are sent by OTLP over HTTP; nowhere if the endpoint is empty."""

    endpoint: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@asynccontextmanager
async def open_tracing(collector: CollectorConfig) -> AsyncIterator[Tracing | None]:
    """Yield a function that traces a round while the block lasts; None without an endpoint."""
    if not collector.endpoint:
        yield None
        return
    # A start without a collector does not wait for OpenTelemetry.
    from bot.observability.spans import open_exporter

    async with open_exporter(collector) as tracing:
        yield tracing
