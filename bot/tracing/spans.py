"""A round as spans: itself, its stages, and the calls of each.

Names of the calls' fields are those of OpenTelemetry's conventions for models.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.context import Context
from opentelemetry.trace import Span, Status, StatusCode, Tracer, set_span_in_context

from bot.tracing import Trace
from council.answers import Call, Reply
from council.budget import Behind
from council.ports import Gateway
from council.rounds import Round, Stage

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


class _TracedGateway(Behind):
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
