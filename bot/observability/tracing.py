"""Tracing of rounds: the interface, without OpenTelemetry, which only a collector needs."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from council.rounds import Round

if TYPE_CHECKING:
    from bot.observability.spans import RoundTrace


Tracing = Callable[[Round], AbstractContextManager["RoundTrace"]]


@asynccontextmanager
async def open_tracing(endpoint: str, headers: Mapping[str, str]) -> AsyncIterator[Tracing | None]:
    """Yield a function that traces a round while the block lasts; None without an endpoint.

    Traces are sent by OTLP over HTTP.
    """
    if not endpoint:
        yield None
        return
    # A start without a collector does not wait for OpenTelemetry.
    from bot.observability.spans import open_exporter

    async with open_exporter(endpoint, headers) as tracing:
        yield tracing
