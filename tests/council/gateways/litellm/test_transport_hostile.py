"""A hostile provider costs neither memory nor money, and gets no prompt meant for another."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator

import httpx
import pytest

from council.answers import Call, Reply
from council.errors import GatewayError
from council.gateways.litellm import client, responses
from council.gateways.litellm.client import SeatSettings
from council.gateways.litellm.gateway import LitellmGateway
from council.gateways.litellm.responses import MAX_ANSWER_CHARACTERS
from council.gateways.litellm.transport import (
    MAX_REPLY_BYTES,
    LimitedTransport,
    ReplyTooLargeError,
)
from tests.council.gateways.litellm.harness import CALL, MEMBER
from tests.wire.hostile_provider import MEBIBYTE, HostileProvider

KEY = "sk-secret-0123456789"
TOO_MUCH = "sent far more than an answer"


@pytest.fixture
async def provider() -> AsyncIterator[HostileProvider]:
    """Yield a running hostile provider."""
    provider = HostileProvider()
    async with provider.running():
        yield provider


async def ask(provider: HostileProvider, attack: str, *, stream: bool = False) -> Reply:
    """Return the reply of a model with prices behind this attack."""
    seat = SeatSettings(
        "openai/mine",
        api_base=provider.api_base(attack),
        api_key=KEY,
        max_tokens=1_000,
        input_usd_per_million=1.0,
        output_usd_per_million=3.0,
        stream=stream,
    )
    gateway = LitellmGateway({MEMBER.key: seat})
    try:
        return await gateway.complete(Call(MEMBER, CALL.prompt))
    finally:
        await gateway.close()


@pytest.mark.parametrize("attack", ["endless", "bomb"])
async def test_a_reply_without_end_is_cut_off_before_it_fills_the_memory(
    provider: HostileProvider, attack: str
) -> None:
    await asyncio.to_thread(client.load_warm)
    tracemalloc.start()
    try:
        with pytest.raises(GatewayError, match=TOO_MUCH):
            await ask(provider, attack)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 100 * MEBIBYTE
    assert len(provider.paths) == 1  # there is no second attempt


async def test_a_stream_without_end_is_cut_off(
    provider: HostileProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responses, "MAX_CHUNKS", 500)

    with pytest.raises(GatewayError, match=TOO_MUCH):
        await ask(provider, "endless-stream", stream=True)

    assert len(provider.paths) == 1


async def test_a_reply_that_never_pauses_leaves_time_for_others(
    provider: HostileProvider,
) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    working = asyncio.create_task(others())
    async with httpx.AsyncClient(transport=LimitedTransport(httpx.AsyncHTTPTransport())) as http:
        with pytest.raises(ReplyTooLargeError):
            await http.get(provider.api_base("text"))
    working.cancel()

    assert turns >= MAX_REPLY_BYTES / 1_100


async def test_an_encoding_that_cannot_be_limited_is_refused(provider: HostileProvider) -> None:
    with pytest.raises(GatewayError, match="could not be read|could not be reached"):
        await ask(provider, "brotli")


async def test_a_text_that_is_too_long_is_cut_and_says_so(provider: HostileProvider) -> None:
    reply = await ask(provider, "long")

    assert (len(reply.text), reply.cut) == (MAX_ANSWER_CHARACTERS, True)


async def test_no_redirect_is_followed(provider: HostileProvider) -> None:
    with pytest.raises(GatewayError, match="redirects to another address"):
        await ask(provider, "redirect")

    assert [path.split("/")[1] for path in provider.paths] == ["redirect"]


@pytest.mark.parametrize("attack", ["negative", "absurd", "absurd-in"])
async def test_counts_that_cannot_be_true_are_unknown(
    provider: HostileProvider, attack: str
) -> None:
    reply = await ask(provider, attack)

    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("Hi.", None, None)
    assert reply.cost_usd is None
