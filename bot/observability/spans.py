"""OpenTelemetry spans of rounds, exported by OTLP over HTTP from a background thread."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from functools import partial
from importlib.metadata import version
from secrets import token_hex
from threading import Thread

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

EXPORT_INTERVAL_MILLISECONDS = 2000
EXPORT_TIMEOUT_SECONDS = 2
SHUTDOWN_TIMEOUT_SECONDS = 3.0
_NAME = "council-bot"
_STAGES = {Stage.OPEN: "answers", Stage.ANSWERED: "ballots", Stage.RANKED: "synthesis"}
_OUTCOME = "council.outcome"


@asynccontextmanager
async def open_exporter(
    endpoint: str, headers: Mapping[str, str]
) -> AsyncIterator[Callable[[Round], AbstractContextManager["RoundTrace"]]]:
    """Yield a function that traces a round; at the end, send the last spans within seconds."""
    # It would log every batch that the collector refuses.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    attributes = {
        "service.name": "council",
        "service.version": version(_NAME),
        "service.instance.id": token_hex(4),
    }
    provider = TracerProvider(resource=Resource.create(attributes), shutdown_on_exit=False)
    exporter = _LoggingExporter(
        OTLPSpanExporter(
            endpoint=f"{endpoint.rstrip('/')}/v1/traces",
            headers=dict(headers),
            timeout=EXPORT_TIMEOUT_SECONDS,
        )
    )
    batches = BatchSpanProcessor(exporter, schedule_delay_millis=EXPORT_INTERVAL_MILLISECONDS)
    provider.add_span_processor(batches)
    try:
        yield partial(trace_round, provider.get_tracer(_NAME, version(_NAME)))
    finally:
        await _run_in_thread(provider.shutdown, SHUTDOWN_TIMEOUT_SECONDS)


async def _run_in_thread(function: Callable[[], None], timeout_seconds: float) -> None:
    """Run a function in a daemon thread, and stop waiting for it after the timeout."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        function()
        with suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(done.set)

    Thread(target=run, daemon=True).start()
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_seconds):
            await done.wait()


class _LoggingExporter(SpanExporter):
    """An exporter that logs once that spans are lost, and once that they arrive again."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._is_working = True

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        is_working = result is SpanExportResult.SUCCESS
        if is_working is not self._is_working:
            self._is_working = is_working
            log = structlog.get_logger()
            log.warning("traces_arrive_again" if is_working else "traces_do_not_arrive")
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


@contextmanager
def trace_round(tracer: Tracer, round_: Round) -> Iterator["RoundTrace"]:
    """Trace a round while the block lasts."""
    trace = RoundTrace(tracer, round_)
    with _end_of(trace.span):
        try:
            trace.update(round_)
            yield trace
        finally:
            trace.end()


class RoundTrace:
    """The spans of one round: itself, its stages, and the calls of each stage."""

    def __init__(self, tracer: Tracer, round_: Round) -> None:
        self._tracer = tracer
        self._round = round_
        self._stage: Span | None = None
        self._name = ""
        attributes: dict[str, str | int] = {
            "council.round_id": round_.id,
            "council.panel": round_.panel.name,
            "council.method": round_.panel.terms.method,
            "council.members": len(round_.panel.members),
            "council.chat": round_.question.place.chat,
            "council.bakeoff": round_.bakeoff,
        }
        self.span = tracer.start_span("round", Context(), attributes=attributes)

    def wrap(self, gateway: Gateway) -> Gateway:
        """Return a gateway whose calls are traced."""
        return _TracedGateway(gateway, self)

    def update(self, round_: Round) -> None:
        """End the span of the last stage and start the next one, if the stage has changed."""
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
        """Start the span of a call."""
        context = set_span_in_context(self._stage or self.span, Context())
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": str(call.member.model_id),
            "council.seat": call.member.key,
        }
        return self._tracer.start_span(
            f"chat {call.member.model_id}", context, attributes=attributes
        )

    def end(self) -> None:
        """End the span of the stage, and record the result of the round."""
        if self._stage:
            self._stage.end()
        round_ = self._round
        self.span.set_attribute("council.answers", len(round_.answers))
        self.span.set_attribute("council.absences", len(round_.absences))
        self.span.set_attribute("council.ballots", sum(b.counts for b in round_.ballots))
        if round_.cost_usd is not None:
            self.span.set_attribute("council.cost_usd", round_.cost_usd)
        if round_.closing:
            self.span.set_attribute(_OUTCOME, "failed" if round_.closing.failure else "closed")


class _TracedGateway(GatewayWrapper):
    def __init__(self, gateway: Gateway, trace: RoundTrace) -> None:
        self.gateway = gateway
        self._trace = trace

    async def complete(self, call: Call) -> Reply:
        """Return the reply, and record a span without its text."""
        span = self._trace.call(call)
        with _end_of(span):
            reply = await self.gateway.complete(call)
            _record_reply(span, reply)
            return reply


def _record_reply(span: Span, reply: Reply) -> None:
    attributes = {
        "gen_ai.usage.input_tokens": reply.tokens_in,
        "gen_ai.usage.output_tokens": reply.tokens_out,
        "council.seconds": reply.seconds,
        "council.attempts": reply.attempts,
        "council.cost_usd": reply.cost_usd,
        _OUTCOME: "cut" if reply.cut else "replied",
    }
    for name, value in attributes.items():
        if value is not None:
            span.set_attribute(name, value)


@contextmanager
def _end_of(span: Span) -> Iterator[None]:
    """End a span with the block; record the type of an error, never its message."""
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
