"""The product as a process, asked by real clients of OpenAI's API with another base URL.

The clients are imported where they are used: they are slow, and every worker collects every file.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from pydantic import BaseModel

from tests.bot.homes import TIMEOUT_SECONDS, Home, Result, scripted_config, served_config
from tests.bot.web.browser.product import Product, serve_product
from tests.clients.__main__ import KEY, serve_obedient, try_client
from tests.clients.clients import CLIENTS, WORD
from tests.wire.models import ModelServer, hang, overflow

if TYPE_CHECKING:
    from openai import AsyncOpenAI

QUESTION = "Is Postgres enough for a job queue?"
TOKEN = "a long random text"
ASKED: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]


@pytest.fixture
async def product(home: Home) -> AsyncIterator[Product]:
    """Yield a product that requires its token."""
    home = home.with_config(scripted_config(3)).with_settings(COUNCIL_WEB_TOKEN=TOKEN)
    async with serve_product(home) as product:
        yield product


def client_of(product: Product, key: str = TOKEN) -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    http = httpx.AsyncClient(trust_env=False, timeout=60)
    return AsyncOpenAI(base_url=f"{product.address}/v1", api_key=key, http_client=http)


async def council(product: Product, *arguments: str) -> Result:
    return await product.home.invoke_in_thread(*arguments)


async def test_openais_sdk_asks_streams_and_retries(product: Product) -> None:
    key = (await council(product, "key", "add", "ci", "--panel", "house")).out.strip()
    async with client_of(product, key) as client:
        models = [model.id async for model in client.models.list()]
        whole = await client.chat.completions.create(
            model="council/house",
            messages=ASKED,
            seed=7,
            temperature=0.2,
            extra_headers={"Idempotency-Key": "k1"},
        )
        stream = await client.chat.completions.create(
            model="council/house",
            messages=ASKED,
            seed=7,
            stream=True,
            stream_options={"include_usage": True},
            extra_headers={"Idempotency-Key": "k1"},
        )
        chunks = [chunk async for chunk in stream]

    answer: Any = (whole.model_extra or {})["council"]
    shown = (await council(product, "show", answer["round_id"], "--json")).json
    verified = await council(product, "verify", answer["round_id"])
    pieces = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices]
    assert models == ["council", "council/house"]
    assert (whole.id, shown["asked_by"]) == (f"chatcmpl-{answer['round_id']}", "api:ci")
    assert whole.choices[0].message.content == shown["synthesis"]["text"] == "".join(pieces)
    assert {chunk.id for chunk in chunks} == {whole.id}
    assert (chunks[-1].model_extra or {})["council"] == answer
    assert chunks[-1].usage == whole.usage
    assert answer["standings"] == shown["standings"]
    assert verified.code == 0


async def test_openais_sdk_raises_its_own_errors(product: Product) -> None:
    import openai

    key = (await council(product, "key", "add", "ci")).out.strip()
    async with client_of(product, key) as client:
        with pytest.raises(openai.NotFoundError) as missing:
            await client.chat.completions.create(model="council/house/x", messages=ASKED)
        with pytest.raises(openai.BadRequestError) as refused:
            await client.chat.completions.create(model="council", messages=ASKED, n=2)
        await client.chat.completions.create(
            model="council", messages=ASKED, extra_headers={"Idempotency-Key": "k1"}
        )
        with pytest.raises(openai.ConflictError):
            await client.chat.completions.create(
                model="council",
                messages=[{"role": "user", "content": "Why?"}],
                extra_headers={"Idempotency-Key": "k1"},
            )
        await council(product, "key", "revoke", "ci")
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()

    assert (missing.value.code, refused.value.param) == ("model_not_found", "n")
    assert len(product.home.sql("SELECT id FROM round")) == 1


async def test_litellm_asks_and_streams(product: Product) -> None:
    import litellm

    base: Any = {
        "model": "openai/council/house",
        "messages": ASKED,
        "api_base": f"{product.address}/v1",
        "api_key": TOKEN,
        "num_retries": 0,
    }

    whole = await litellm.acompletion(**base)
    stream = await litellm.acompletion(**base, stream=True)
    pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]

    rounds = (await council(product, "rounds", "--json")).json
    shown = [(await council(product, "show", line["id"], "--json")).json for line in rounds]
    texts = {one["synthesis"]["text"] for one in shown}
    assert len(rounds) == 2
    assert {whole.choices[0].message.content, "".join(pieces)} <= texts


class Queue(BaseModel):
    name: str
    years: int


DEMANDED: Any = [{"role": "system", "content": f'Mention "{WORD}".'}, ASKED[1]]


async def test_openais_sdk_parses_both_apis(tmp_path: Path) -> None:
    async with serve_obedient(tmp_path) as product, client_of(product, KEY) as client:
        completion = await client.chat.completions.parse(
            model="council", messages=DEMANDED, response_format=Queue
        )
        response = await client.responses.parse(model="council", input=DEMANDED, text_format=Queue)

    for parsed in (completion.choices[0].message.parsed, response.output_parsed):
        assert isinstance(parsed, Queue)
        assert WORD in parsed.name


async def test_litellm_gets_what_its_response_format_asks_for(tmp_path: Path) -> None:
    import litellm

    async with serve_obedient(tmp_path) as product:
        reply = await litellm.acompletion(
            model="openai/council",
            messages=DEMANDED,
            api_base=f"{product.address}/v1",
            api_key=KEY,
            response_format=Queue,
        )

    assert WORD in Queue.model_validate_json(reply.choices[0].message.content).name


@pytest.mark.parametrize("name", ["pydantic-ai", "ai-sdk"])
async def test_a_client_that_is_installed_here_gets_every_mode(tmp_path: Path, name: str) -> None:
    [client] = [client for client in CLIENTS if client.name == name]
    if not client.is_installed:
        pytest.skip(f"{name} is not installed; `make clients ONLY={name}` does it")

    async with serve_obedient(tmp_path) as product:
        trial = await try_client(client, product)

    assert {one.mode: one.fault for one in trial.outcomes if one.fault} == {}


async def test_who_cannot_take_200_000_characters_is_named(home: Home) -> None:
    question = "Why? ".ljust(200_000, "x")
    body = {"model": "council", "messages": [{"role": "user", "content": question}]}
    async with ModelServer() as models:
        models.script["small"] = overflow()
        seats = ("one", "two", "three", "small")
        home = home.with_config(served_config(models.api_base, seats))
        async with serve_product(home) as product:
            client = httpx.AsyncClient(base_url=product.address, trust_env=False, timeout=60)
            async with client:
                answered = (await client.post("/v1/chat/completions", json=body)).json()

    absences = answered["council"]["absences"]
    [reason] = [absent["reason"] for absent in absences if absent["role"] == "answer"]
    assert {absent["member"] for absent in absences} == {"openai/small"}
    assert "context" in reason


async def test_a_retry_after_a_crash_is_the_same_round(home: Home) -> None:
    body = {"model": "council", "messages": ASKED}
    retry = {"Idempotency-Key": "k1"}
    async with ModelServer() as models:
        models.script["slow"] = hang()
        home = home.with_config(served_config(models.api_base, ("one", "two", "slow")))
        async with serve_product(home, fresh=True) as product:
            url = f"{product.address}/v1/chat/completions"
            async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
                async with client.stream(
                    "POST", url, json=body | {"stream": True}, headers=retry
                ) as stream:
                    lines = stream.aiter_lines()
                    first = json.loads((await anext(lines)).removeprefix("data: "))
                    await until_asked(models, "slow")
                    product.kill()
                del models.script["slow"]
                await product.start()
                again = (await client.post(url, json=body, headers=retry)).json()

    assert again["id"] == first["id"]
    assert len(home.sql("SELECT id FROM round")) == 1


async def until_asked(models: ModelServer, name: str) -> None:
    """Wait until a model is asked: nothing else shows how far the process is."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not models.asked(name):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
