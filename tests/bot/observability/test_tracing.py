"""A round arrives at a collector as spans that tell how it went, and nothing that was said."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from bot.observability.tracing import open_tracing
from bot.ports import RoundStoppedError
from bot.runners.local import LocalRunner
from council.answers import Reply
from council.errors import GatewayError
from council.rounds import Question, Round
from tests.bot.app_fakes import ready
from tests.bot.observability.trace_collector import CollectedTraces, attributes, running_collector
from tests.builders import CLAUDE, GEMINI, GPT, a_round
from tests.fakes.gateway import FakeGateway, Hangs
from tests.fakes.memory_store import MemoryStore
from tests.wire.faults import until

SECRET = "Which secret did I tell nobody?"
ASKED = replace(a_round(question=Question(SECRET, "U1")), id="slack:T1:C1:1")


@pytest.fixture
def collected() -> Iterator[CollectedTraces]:
    with running_collector() as found:
        yield found


async def held(collected: CollectedTraces, gateway: FakeGateway, round_: Round = ASKED) -> None:
    """Run a round with tracing, whether it succeeds or fails."""
    async with open_tracing(collected.address, {"authorization": "Bearer k"}) as tracing:
        store = MemoryStore()
        runner = LocalRunner(store, gateway, ready, tracing=tracing)
        await store.open(round_)
        runner.start(round_)
        try:
            async with runner.subscribe(round_.id) as sights:
                async for _ in sights:
                    pass
        finally:
            await runner.close()


async def test_a_round_has_a_span_with_its_stages_and_their_calls(
    collected: CollectedTraces,
) -> None:
    answer = Reply("Yes.", tokens_in=11, tokens_out=2, cost_usd=0.5, seconds=1.5, attempts=2)

    await held(collected, FakeGateway(answers={CLAUDE: answer}))

    [round_] = collected.named("round")
    stages = {
        span.span_id: span for span in collected.spans if span.parent_span_id == round_.span_id
    }
    calls = collected.named("chat ")
    assert sorted(span.name for span in stages.values()) == ["answers", "ballots", "synthesis"]
    assert [stages[span.parent_span_id].name for span in calls].count("answers") == 3
    assert len(calls) == 7
    assert {span.trace_id for span in collected.spans} == {round_.trace_id}
    assert attributes(round_)["council.round_id"] == ASKED.id
    assert attributes(round_)["council.outcome"] == "closed"
    assert attributes(round_)["council.answers"] == 3
    assert "council.cost_usd" not in attributes(round_)  # of six replies it is unknown
    [told] = [attributes(span) for span in calls if "council.cost_usd" in attributes(span)]
    assert told == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": CLAUDE,
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 2,
        "council.seat": CLAUDE,
        "council.seconds": 1.5,
        "council.attempts": 2,
        "council.cost_usd": 0.5,
        "council.outcome": "replied",
    }


async def test_a_failed_call_is_recorded_and_no_text_and_no_key_is_sent(
    collected: CollectedTraces,
) -> None:
    gateway = FakeGateway(answers={GPT: "I tell it.", GEMINI: GatewayError("said my-key-123")})

    await held(collected, gateway)

    sent = b"".join(collected.bodies)
    assert not [text for text in (SECRET, "I tell it", "my-key-123", "U1") if text.encode() in sent]
    assert collected.headers[0]["authorization"] == "Bearer k"
    [failed] = [attributes(span) for span in collected.spans if "error.type" in attributes(span)]
    assert (failed["council.outcome"], failed["error.type"]) == ("failed", "GatewayError")
    assert failed["council.seat"] == GEMINI


async def test_a_stopped_round_is_recorded_as_cancelled(collected: CollectedTraces) -> None:
    async with open_tracing(collected.address, {}) as tracing:
        store, gateway = MemoryStore(), FakeGateway(answers={CLAUDE: Hangs()})
        runner = LocalRunner(store, gateway, ready, tracing=tracing)
        await store.open(ASKED)
        runner.start(ASKED)
        async with runner.subscribe(ASKED.id) as sights:
            await until(
                lambda: len(gateway.asked) == 3,
                5,
                lambda: [call.member.key for call in gateway.asked],
            )
            await runner.stop(ASKED.id)
            with pytest.raises(RoundStoppedError):
                async for _ in sights:
                    pass

    [round_] = collected.named("round")
    assert attributes(round_)["council.outcome"] == "cancelled"
    assert "cancelled" in [attributes(span)["council.outcome"] for span in collected.named("chat ")]


async def test_an_unreachable_collector_delays_no_round() -> None:
    with running_collector() as gone:
        pass

    await held(gone, FakeGateway())


async def test_without_an_address_nothing_is_traced() -> None:
    async with open_tracing("", {}) as tracing:
        assert tracing is None


def test_without_an_address_nothing_of_opentelemetry_is_imported() -> None:
    code = (
        "import sys, bot.bootstrap, bot.runners.local\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
