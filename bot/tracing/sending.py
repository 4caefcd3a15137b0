"""Spans on their way to a collector, by OTLP over HTTP, from a thread of their own."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.metadata import version
from secrets import token_hex
from threading import Thread

import structlog
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from bot.tracing import Collector, Tracing
from bot.tracing.spans import traced

EVERY_MILLISECONDS = 2000
TIMEOUT_SECONDS = 2
LAST_SECONDS = 3.0  # what the last spans are given at the end of the program
_NAME = "council-bot"


@asynccontextmanager
async def sending(collector: Collector) -> AsyncIterator[Tracing]:
    """Give a way to trace rounds; what is not sent yet is sent at the end, for a moment."""
    # It would tell of each batch that a collector did not take.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
    exporter = _Telling(
        OTLPSpanExporter(
            endpoint=f"{collector.endpoint.rstrip('/')}/v1/traces",
            headers=dict(collector.headers),
            timeout=TIMEOUT_SECONDS,
        )
    )
    batches = BatchSpanProcessor(exporter, schedule_delay_millis=EVERY_MILLISECONDS)
    provider.add_span_processor(batches)
    try:
        yield partial(traced, provider.get_tracer(_NAME, version(_NAME)))
    finally:
        await _ended(provider.shutdown)


async def _ended(end: Callable[[], None]) -> None:
    """Wait for an end in a thread that nobody waits for any longer than this."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        end()
        with suppress(RuntimeError):  # the loop may have ended meanwhile
            loop.call_soon_threadsafe(done.set)

    Thread(target=run, daemon=True).start()
    with suppress(TimeoutError):
        async with asyncio.timeout(LAST_SECONDS):
            await done.wait()


class _Telling(SpanExporter):
    """Says once in the log that spans are lost, and once that they arrive again."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._arrive = True

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans."""
        outcome = self._exporter.export(spans)
        arrive = outcome is SpanExportResult.SUCCESS
        if arrive is not self._arrive:
            self._arrive = arrive
            log = structlog.get_logger()
            log.warning("traces_arrive_again" if arrive else "traces_do_not_arrive")
        return outcome

    def shutdown(self) -> None:
        """Send nothing more."""
        self._exporter.shutdown()


def _resource() -> Resource:
    facts = {
        "service.name": "council",
        "service.version": version(_NAME),
        "service.instance.id": token_hex(4),
    }
    return Resource.create(facts)
