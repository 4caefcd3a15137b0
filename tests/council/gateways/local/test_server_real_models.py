"""The real server with the real models, downloaded once for each machine."""

import json
from math import exp
from pathlib import Path

import httpx
import psutil
import pytest

from council.answers import Call, Prompt, Role
from council.gateways.litellm.client import SeatSettings
from council.gateways.litellm.gateway import LitellmGateway
from council.gateways.local.download import LocalFiles
from council.gateways.local.gateway import tighten_schema
from council.gateways.local.server import LocalServer
from council.panel import Member, ModelId
from council.prompts.shared import object_schema
from tests.council.gateways.local.test_gateway_schema import a_ballot_schema

pytestmark = [pytest.mark.local_models, pytest.mark.nightly]

MODELS = ("smollm2-135m", "qwen2.5-coder-0.5b")


def endless_request(server: LocalServer) -> httpx.Request:
    headers = {"Authorization": f"Bearer {server.api_key}"}
    asked = {"role": "user", "content": "Count."}
    body = {"model": MODELS[1], "messages": [asked], "stream": True, "ignore_eos": True}
    return httpx.Request("POST", f"{server.api_base}/chat/completions", headers=headers, json=body)


async def chat(server: LocalServer, model: str, **more: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {more.pop('key', server.api_key)}", "Connection": "close"}
    asked = {"role": "user", "content": "Which is a fruit? A: a stone. B: an apple. C: a car."}
    body = {"model": model, "messages": [asked], "max_tokens": 200, "temperature": 0, **more}
    async with httpx.AsyncClient(timeout=120, trust_env=False) as client:
        return await client.post(f"{server.api_base}/chat/completions", headers=headers, json=body)


def text_of(response: httpx.Response) -> str:
    response.raise_for_status()
    return str(response.json()["choices"][0]["message"]["content"])


def llama_processes(parent: int) -> list[psutil.Process]:
    started = psutil.Process(parent).children(recursive=True)
    return [process for process in started if process.name().startswith("llama")]


async def test_both_models_answer(server: LocalServer) -> None:
    answers = [text_of(await chat(server, model, max_tokens=16)) for model in MODELS]

    assert all(answers)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("letters", ["AB", "ABC", "ABCDE"])
async def test_the_schema_forces_a_ranking(server: LocalServer, model: str, letters: str) -> None:
    schema = {"name": "ballot", "schema": tighten_schema(a_ballot_schema(letters)), "strict": True}
    format_ = {"type": "json_schema", "json_schema": schema}

    ballot = json.loads(text_of(await chat(server, model, response_format=format_)))

    assert list(ballot) == ["nonce", "reason", "ranking"]
    assert ballot["nonce"] == "4f9c"
    assert sorted(ballot["ranking"]) == [[letter] for letter in letters]


async def test_stopping_ends_all_processes(local_files: LocalFiles, tmp_path: Path) -> None:
    async with LocalServer(local_files, tmp_path) as server:
        await server.warm("Be brief.")
        processes = llama_processes(psutil.Process().pid)

    assert len(processes) == 3
    assert psutil.wait_procs(processes, timeout=5)[1] == []


async def test_a_busy_server_can_be_stopped(local_files: LocalFiles, tmp_path: Path) -> None:
    async with httpx.AsyncClient(timeout=120, trust_env=False) as client:
        async with LocalServer(local_files, tmp_path) as server:
            response = await client.send(endless_request(server), stream=True)
            await anext(response.aiter_raw())
            processes = llama_processes(psutil.Process().pid)
        await response.aclose()

    assert len(processes) == 2
    assert psutil.wait_procs(processes, timeout=5)[1] == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", MODELS)
async def test_a_grade_has_the_probabilities_from_before_the_grammar(
    server: LocalServer, model: str, stream: bool
) -> None:
    schema = object_schema({"reason": {"type": "string"}, "grade": {"enum": [1, 2, 3, 4, 5]}})
    seat = SeatSettings(
        f"openai/{model}",
        api_base=server.api_base,
        api_key=server.api_key,
        max_tokens=200,
        stream=stream,
        tighten=tighten_schema,
        headers={"Connection": "close"},
    )
    member = Member("seat", ModelId(seat.model), "Seat", "test")
    system = 'Grade the answer from 1 to 5. Reply with JSON: {"reason": "…", "grade": …}'
    prompt = Prompt(system, "Is an apple a fruit? Answer: Yes, it is.")

    reply = await LitellmGateway({"seat": seat}).complete(
        Call(member, prompt, 0.0, Role.BALLOT, schema, top_logprobs=8)
    )

    offset, alternatives = reply.logprobs[-1]
    numbers = [number for number, _ in alternatives]
    assert json.loads(reply.text)["grade"] == int(reply.text[offset])
    assert reply.text[offset] in numbers
    assert {*numbers} - {*"12345"}
    assert sum(exp(logprob) for _, logprob in alternatives) < 1 + 1e-6
