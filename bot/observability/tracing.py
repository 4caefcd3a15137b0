"""Traces of rounds, for whoever has set an address to send them to; without one, nothing at all."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from secrets import token_hex
from threading import Thread
from typing import Protocol

import structlog
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Span, Status, StatusCode, Tracer, set_span_in_context

from council.answers import Call, Reply
from council.budget import GatewayWrapper
from council.ports import Gateway
from council.rounds import Round, Stage

# --- Traces of rounds, for whoever has set an address to send them to; without one, nothing at al


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

    async with sending(collector) as tracing:
        yield tracing


# --- A round as spans: itself, its stages, and the calls of each.

_STAGES = {Stage.OPEN: "answers", Stage.ANSWERED: "ballots", Stage.RANKED: "synthesis"}
_OUTCOME = "council.outcome"


@contextmanager
def traced(tracer: Tracer, round_: Round) -> Iterator[Trace]:
    """Trace a round as long as the block lasts."""
    trace = RoundTrace(tracer, round_)
    with _ended(trace.span):
        try:
            trace.show(round_)
            yield trace
        finally:
            trace.end()


class RoundTrace:
    """The spans of one round; calls belong to the stage that they were made in."""

    def __init__(self, tracer: Tracer, round_: Round) -> None:
        self._tracer = tracer
        self._round = round_
        self._stage: Span | None = None
        self._name = ""
        self.span = tracer.start_span("round", Context(), attributes=_facts(round_))

    def through(self, gateway: Gateway) -> Gateway:
        """Give a gateway whose calls are traced."""
        return _TracedGateway(gateway, self)

    def show(self, round_: Round) -> None:
        """End the span of a stage that is over, and begin the next one's."""
        self._round, name = round_, _STAGES.get(round_.stage, "")
        if name == self._name:
            return
        if self._stage:
            self._stage.end()
        self._name, self._stage = name, None
        if name:
            context = set_span_in_context(self.span, Context())
            self._stage = self._tracer.start_span(name, context)

    def call(self, call: Call) -> Span:
        """Begin the span of a call."""
        within = set_span_in_context(self._stage or self.span, Context())
        facts = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": str(call.member.model_id),
            "council.seat": call.member.key,
        }
        return self._tracer.start_span(f"chat {call.member.model_id}", within, attributes=facts)

    def end(self) -> None:
        """End the stage under way, and note what came of the round."""
        if self._stage:
            self._stage.end()
        round_ = self._round
        self.span.set_attribute("council.answers", len(round_.answers))
        self.span.set_attribute("council.absences", len(round_.absences))
        self.span.set_attribute("council.ballots", sum(b.counts for b in round_.ballots))
        known = [reply.cost_usd for reply in round_.replies if reply.cost_usd is not None]
        if known:
            self.span.set_attribute("council.cost_usd", sum(known))
        if round_.closing:
            self.span.set_attribute(_OUTCOME, "failed" if round_.closing.failure else "closed")


class _TracedGateway(GatewayWrapper):
    def __init__(self, gateway: Gateway, trace: RoundTrace) -> None:
        self.gateway = gateway
        self._trace = trace

    async def complete(self, call: Call) -> Reply:
        """Give the reply, and have a span of it without its words."""
        span = self._trace.call(call)
        with _ended(span):
            reply = await self.gateway.complete(call)
            _note(span, reply)
            return reply


def _facts(round_: Round) -> dict[str, str | int]:
    return {
        "council.round_id": round_.id,
        "council.panel": round_.panel.name,
        "council.method": round_.panel.terms.method,
        "council.members": len(round_.panel.members),
        "council.chat": round_.question.place.chat,
        "council.bakeoff": round_.bakeoff,
    }


def _note(span: Span, reply: Reply) -> None:
    facts = {
        "gen_ai.usage.input_tokens": reply.tokens_in,
        "gen_ai.usage.output_tokens": reply.tokens_out,
        "council.seconds": reply.seconds,
        "council.attempts": reply.attempts,
        "council.cost_usd": reply.cost_usd,
        _OUTCOME: "cut" if reply.cut else "replied",
    }
    for name, fact in facts.items():
        if fact is not None:  # what is unknown is left out
            span.set_attribute(name, fact)


@contextmanager
def _ended(span: Span) -> Iterator[None]:
    """End a span with its block; of an error its kind is told, and never its words."""
    try:
        yield
    except asyncio.CancelledError:
        span.set_attribute(_OUTCOME, "cancelled")
        raise
    except BaseException as error:
        span.set_attribute(_OUTCOME, "failed")
        span.set_attribute("error.type", type(error).__name__)
        span.set_status(Status(StatusCode.ERROR))
        raise
    finally:
        span.end()


# --- Spans on their way to a collector, by OTLP over HTTP, from a thread of their own.

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
    exporter = _ExportWarnings(
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
        await _run_in_thread(provider.shutdown)


async def _run_in_thread(end: Callable[[], None]) -> None:
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


class _ExportWarnings(SpanExporter):
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
