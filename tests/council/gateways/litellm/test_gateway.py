import asyncio
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from council.answers import Prompt
from council.errors import ContextOverflowError, GatewayError, RateLimitError
from council.gateways.litellm import client as library
from council.gateways.litellm import responses as replies
from council.gateways.litellm.client import SeatSettings
from council.gateways.litellm.gateway import LitellmGateway
from tests.council.gateways.litellm.harness import CALL, KEY, GatewayHarness, RecordedSleeps
from tests.wire.models import (
    Behaviour,
    Outcome,
    Request,
    Say,
    answer,
    content_filter,
    cut,
    drop,
    empty,
    fail,
    hang,
    in_turn,
    no_such_model,
    overflow,
    reasoning_only,
    rejects_schema,
    rejects_temperature,
    truncate_stream,
    wrong_key,
)
from tests.wire.models.http import Connection, Received

SCHEMA = {"type": "object", "properties": {"nonce": {"type": "string"}}}
QUOTA = {"error": {"message": "You exceeded your current quota.", "type": "insufficient_quota"}}


async def test_a_reply_carries_text_and_counts(harness: GatewayHarness) -> None:
    reply = await harness.says(answer("It lacks an index."))

    assert reply.text == "It lacks an index."
    assert (reply.tokens_in, reply.tokens_out) == (6, 4)  # words, as the server counts them
    assert (reply.attempts, reply.cut) == (1, False)
    assert reply.seconds > 0


async def test_characters_that_databases_refuse_are_removed(harness: GatewayHarness) -> None:
    harness.server.script["mine"] = answer("Half \ud83d of it,\0 whole.")

    reply = await harness.gateway.complete(CALL)

    assert reply.text == "Half ? of it, whole."


async def test_the_prompt_arrives_as_it_was_written(harness: GatewayHarness) -> None:
    await harness.says(answer("Yes."), replace(CALL, temperature=0.3))

    request = harness.server.requests[0]
    assert (request.system, request.user) == ("Be brief.", "Why is it slow?")
    assert request.body["temperature"] == 0.3
    assert request.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_transient_fault_is_retried(harness: GatewayHarness, status: int) -> None:
    reply = await harness.says(fail(status, times=1))

    assert reply.attempts == harness.requests == 2
    assert harness.waits == [0.5]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        pytest.param(fail(400), "could not be asked: its server refused the request (400)"),
        pytest.param(wrong_key(), "could not be asked: the key for its server was refused (401)"),
        pytest.param(fail(402), "could not be asked: the credit at its server is used up (402)"),
        pytest.param(
            fail(403), "could not be asked: the key for its server may not use this model (403)"
        ),
        pytest.param(
            no_such_model(), "could not be asked: there is no model 'mine' at its server (404)"
        ),
        pytest.param(
            fail(429, body=QUOTA), "could not be asked: the quota at its server is used up (429)"
        ),
        pytest.param(fail(422), "could not be asked: its server refused the request (422)"),
        pytest.param(content_filter(), "was stopped by the provider's content filter"),
        pytest.param(empty(), "gave an empty answer"),
        pytest.param(
            reasoning_only(), "spent its whole token limit on reasoning and wrote no answer"
        ),
    ],
)
async def test_a_permanent_fault_is_one_sentence_and_one_request(
    harness: GatewayHarness, behaviour: Behaviour, sentence: str, stream: bool
) -> None:
    harness.sit(stream=stream)

    assert str(await harness.fault(behaviour)) == sentence
    assert harness.requests == 1


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        pytest.param(fail(500), "could not answer: its server failed (500)"),
        pytest.param(fail(429), "asked us to slow down (429)"),
        pytest.param(drop(), "could not be reached"),
    ],
)
async def test_a_persistent_transient_fault_is_given_up_after_four_attempts(
    harness: GatewayHarness, behaviour: Behaviour, sentence: str
) -> None:
    assert str(await harness.fault(behaviour)) == sentence
    assert harness.requests == 4
    assert harness.waits == [0.5, 1.0, 2.0]


async def test_a_server_that_is_not_there_could_not_be_reached(harness: GatewayHarness) -> None:
    harness.sit(api_base="http://127.0.0.1:1/v1")

    assert str(await harness.fault(answer("Yes."))) == "could not be reached"
    assert len(harness.waits) == 3


@pytest.mark.parametrize("wording", ["llama-server", "openai"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_prompt_that_is_too_long_has_its_own_error(
    harness: GatewayHarness, wording: str, stream: bool
) -> None:
    harness.sit(stream=stream)

    error = await harness.fault(overflow(wording))

    assert isinstance(error, ContextOverflowError)
    assert str(error) == "could not be asked: the prompt is longer than its context"
    assert harness.requests == 1


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_honoured(harness: GatewayHarness, status: int) -> None:
    await harness.says(fail(status, retry_after=7, times=2))

    assert harness.waits == [7.0, 7.0]


async def test_a_malformed_retry_after_is_ignored(harness: GatewayHarness) -> None:
    await harness.says(fail(429, retry_after="in a while", times=1))

    assert harness.waits == [0.5]


async def test_retry_after_can_be_a_date(harness: GatewayHarness) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)

    await harness.says(fail(429, retry_after=soon, times=1))

    assert 25 < harness.waits[0] <= 30


async def test_a_wait_longer_than_any_stage_is_given_up_at_once(harness: GatewayHarness) -> None:
    error = await harness.fault(fail(429, retry_after=3600))

    assert isinstance(error, RateLimitError)
    assert error.retry_after_seconds == 3600
    assert (harness.requests, harness.waits) == (1, [])


async def test_a_deadline_during_a_wait_has_a_note_with_the_reason(harness: GatewayHarness) -> None:
    harness.gateway = LitellmGateway({"seat": harness.seat})

    with pytest.raises(TimeoutError) as stopped:
        async with asyncio.timeout(2):
            await harness.says(fail(429, retry_after=60))

    assert stopped.value.__cause__ is not None
    notes = stopped.value.__cause__.__notes__
    assert notes == ["asked us to slow down (429) until the time was up"]


@pytest.mark.parametrize(
    ("behaviour", "stream"),
    [
        pytest.param(hang(), False, id="before-the-reply"),
        pytest.param(hang(), True, id="before-the-stream"),
        pytest.param(lambda _: Say("a " * 500, drip_seconds=0.01), True, id="mid-stream"),
    ],
)
async def test_cancelling_frees_the_connection(
    harness: GatewayHarness, behaviour: Behaviour, stream: bool
) -> None:
    harness.sit(stream=stream)
    under_way = asyncio.Event()

    def behave(request: Request) -> Outcome:
        outcome = behaviour(request)
        if not isinstance(outcome, Say):
            under_way.set()
        return outcome

    call = asyncio.create_task(
        harness.says(behave, replace(CALL, on_text=lambda _: under_way.set()))
    )
    async with asyncio.timeout(30):
        await under_way.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    async with asyncio.timeout(10):
        await harness.server.all_left()

    assert harness.server.hang_ups == 1


async def test_a_stream_reports_the_text_so_far(harness: GatewayHarness) -> None:
    texts: list[str] = []

    reply = await harness.says(answer("It lacks an\nindex."), replace(CALL, on_text=texts.append))

    assert texts == ["It", "It lacks", "It lacks an", "It lacks an\nindex."]
    assert reply.text == "It lacks an\nindex."
    assert (reply.tokens_in, reply.tokens_out) == (6, 4)
    assert harness.server.requests[0].body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("broken", [truncate_stream(), drop()], ids=["truncated", "dropped"])
async def test_an_interrupted_stream_is_not_an_answer(
    harness: GatewayHarness, broken: Behaviour
) -> None:
    harness.sit(stream=True)

    reply = await harness.says(in_turn(broken, answer("All of it.")))
    error = await harness.fault(broken)

    assert (reply.text, reply.attempts) == ("All of it.", 2)
    assert str(error) == "broke off in the middle of its answer"
    assert harness.requests == 2 + 4


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_at_its_token_limit_is_cut(harness: GatewayHarness, stream: bool) -> None:
    harness.sit(stream=stream, max_tokens=3)

    reply = await harness.says(cut("It lacks an"))

    assert (reply.text, reply.cut) == ("It lacks an", True)
    assert harness.server.requests[0].body["max_tokens"] == 3


async def test_a_refused_temperature_is_left_out(harness: GatewayHarness) -> None:
    call = replace(CALL, temperature=0.0)

    reply = await harness.says(rejects_temperature(answer("Yes.")), call)

    assert (reply.text, reply.attempts) == ("Yes.", 2)
    assert "temperature" not in harness.server.requests[1].body
    assert harness.waits == []


async def test_a_schema_goes_to_a_seat_that_enforces_one(harness: GatewayHarness) -> None:
    harness.sit(tighten=lambda schema: dict(schema) | {"tight": True})

    await harness.says(answer("{}"), replace(CALL, schema=SCHEMA))

    asked = harness.server.requests[0].body["response_format"]
    wanted = {"name": "ballot", "strict": True, "schema": SCHEMA | {"tight": True}}
    assert asked == {"type": "json_schema", "json_schema": wanted}


async def test_a_schema_goes_to_a_model_litellm_says_takes_one(harness: GatewayHarness) -> None:
    harness.server.script["gpt-4o"] = answer("{}")

    await harness.says(answer("{}"), replace(CALL, schema=SCHEMA))
    harness.sit(model="openai/gpt-4o")
    await harness.says(answer("{}"), replace(CALL, schema=SCHEMA))

    unknown, known = (request.body for request in harness.server.requests)
    assert "response_format" not in unknown
    assert "response_format" in known


async def test_a_refused_schema_is_left_out(harness: GatewayHarness) -> None:
    harness.sit(tighten=dict)

    reply = await harness.says(rejects_schema(answer("{}")), replace(CALL, schema=SCHEMA))

    assert (reply.text, reply.attempts) == ("{}", 2)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("model", "prices", "cost"),
    [
        pytest.param("openai/mine", (None, None), None, id="unknown-model"),
        pytest.param("openai/gpt-4o", (None, None), None, id="known-name-on-our-own-server"),
        pytest.param("openai/mine", (0.0, 0.0), 0.0, id="free-by-the-seat"),
        pytest.param("openai/mine", (1.0, 2.0), 14e-6, id="6-in-at-1-and-4-out-at-2"),
    ],
)
async def test_an_unknown_cost_is_none(
    harness: GatewayHarness,
    model: str,
    prices: tuple[float | None, float | None],
    cost: float | None,
    stream: bool,
) -> None:
    into, out = prices
    harness.sit(model=model, stream=stream, input_usd_per_million=into, output_usd_per_million=out)
    harness.server.script["gpt-4o"] = answer("It lacks an index.")

    assert (await harness.says(answer("It lacks an index."))).cost_usd == pytest.approx(cost)


async def test_an_earlier_exchange_is_sent_as_turns_to_a_small_model(
    harness: GatewayHarness,
) -> None:
    litellm = library.load_warm()
    text = "Question: Why?\nAnswer: So.\nQuestion: And how?\nAnswer:"
    call = replace(CALL, prompt=Prompt("Be brief.", text))
    small = replace(harness.seat, splits_turns=True)

    turns = replies.request_arguments(litellm, small, call)["messages"]
    whole = replies.request_arguments(litellm, harness.seat, call)["messages"]

    assert [one["role"] for one in turns] == ["system", "user", "assistant", "user"]
    assert [one["content"] for one in turns[1:]] == ["Why?", "So.", "And how?"]
    assert [one["content"] for one in whole[1:]] == [text]


@pytest.mark.parametrize("stream", [False, True])
async def test_litellm_prices_a_model_it_knows(harness: GatewayHarness, stream: bool) -> None:
    harness.server.script["gpt-4o"] = answer("It lacks an index.")
    harness.sit(model="openai/gpt-4o", stream=stream)
    litellm = library.load_warm()

    sent = replies.request_arguments(litellm, harness.seat, CALL)
    spoken = await replies.send_request(litellm, sent, None)

    # 6 tokens in at 2.50 USD a million, 4 out at 10.00: what a public address would be charged.
    assert spoken.cost_usd == pytest.approx(55e-6)


@pytest.mark.parametrize(
    ("seat", "sentence"),
    [
        pytest.param(SeatSettings("nope"), "no provider is known for 'nope'", id="no-provider"),
        pytest.param(
            SeatSettings("anthropic/claude-sonnet-4-6"), "there is no key for anthropic", id="401"
        ),
        pytest.param(SeatSettings("gemini/gemini-3-pro"), "there is no key for gemini", id="500"),
    ],
)
async def test_what_cannot_be_sent_is_not_tried_again(seat: SeatSettings, sentence: str) -> None:
    waits = RecordedSleeps()
    gateway = LitellmGateway({"seat": seat}, clock=waits.clock)

    with pytest.raises(GatewayError) as failed:
        await gateway.complete(CALL)

    assert str(failed.value) == f"could not be asked: {sentence}"
    assert waits == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4-6", "gemini/gemini-3-pro-preview"])
@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        pytest.param(401, "could not be asked: the key for its server was refused (401)"),
        pytest.param(429, "asked us to slow down (429)"),
        pytest.param(529, "could not answer: its server failed (529)"),
    ],
)
async def test_errors_of_other_routes_are_classified_by_their_response(
    model: str, status: int, sentence: str, stream: bool
) -> None:
    # litellm would take a 500 from these words, and a broken stream from Gemini's refusal.
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

    async def refuse(_: Received, wire: Connection) -> None:
        wire.send(status, body, {"retry-after": "2"})

    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: Connection(refuse, set()), "127.0.0.1") as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        waits = RecordedSleeps()
        seat = SeatSettings(model, api_base=address, api_key=KEY, stream=stream)
        gateway = LitellmGateway({"seat": seat}, clock=waits.clock)
        with pytest.raises(GatewayError) as failed:
            await gateway.complete(CALL)
        await gateway.close()

    assert str(failed.value) == sentence
    assert waits == ([] if status == 401 else [2.0, 2.0, 2.0])


async def test_a_seat_without_settings_is_an_absence() -> None:
    with pytest.raises(GatewayError, match="could not be asked: its model is not set up"):
        await LitellmGateway({}).complete(CALL)


async def test_context_is_the_seats_own_or_what_litellm_knows(harness: GatewayHarness) -> None:
    seats = {
        "own": SeatSettings("openai/gpt-4o", context_tokens=4096),
        "known": SeatSettings("openai/gpt-4o"),
        "ours": SeatSettings("openai/gpt-4o", api_base="http://localhost:1/v1"),
        "unknown": SeatSettings("openai/mine"),
        "elsewhere": SeatSettings("groq/gpt-4o"),
    }
    gateway = LitellmGateway(seats)
    assert [gateway.context_tokens(key) for key in seats] == [4096, None, None, None, None]

    await gateway.warm()

    assert [gateway.context_tokens(key) for key in seats] == [4096, 128000, None, None, None]
    assert gateway.context_tokens("nobody") is None


@pytest.mark.parametrize(
    ("api_base", "ours"),
    [
        pytest.param("http://127.0.0.1:8080/v1", True, id="loopback"),
        pytest.param("http://[::1]:8080/v1", True, id="loopback-6"),
        pytest.param("http://localhost:1/v1", True, id="localhost"),
        pytest.param("http://ollama:11434", True, id="container"),
        pytest.param("http://192.168.1.5/v1", True, id="private"),
        pytest.param("https://api.example.com/v1", False, id="public"),
        pytest.param(None, False, id="the-providers-own"),
    ],
)
def test_a_private_server_is_recognized_by_its_address(api_base: str | None, ours: bool) -> None:
    assert SeatSettings("openai/mine", api_base=api_base).is_private is ours


def test_the_key_is_not_in_a_seats_repr() -> None:
    assert KEY not in repr(SeatSettings("openai/mine", api_key=KEY))


def test_importing_the_gateway_does_not_import_litellm() -> None:
    code = (
        "import sys\n"
        "from council.gateways.litellm.gateway import LitellmGateway\n"
        "assert LitellmGateway({}).versions['litellm'][0].isdigit()\n"
        "assert 'litellm' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_warm_up_uses_no_network() -> None:
    code = (
        "import asyncio, sys\n"
        "from council.gateways.litellm.gateway import LitellmGateway\n"
        "met = []\n"
        "def meet(event, seen):\n"
        "    if event == 'socket.connect': met.append(seen[1][0])\n"
        "    assert event != 'socket.getaddrinfo', seen\n"
        "sys.addaudithook(meet)\n"
        "asyncio.run(LitellmGateway({}).warm())\n"
        "assert met == ['127.0.0.1', '127.0.0.1'], met"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


async def test_a_server_without_a_key_works(harness: GatewayHarness) -> None:
    harness.sit(api_key=None)

    assert (await harness.says(answer("Yes."))).text == "Yes."
