import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Mapping

import httpx
import pytest

from tests.wire.models import (
    Behaviour,
    Fail,
    ModelServer,
    Request,
    answer,
    by_role,
    cut,
    drop,
    fail,
    hang,
    in_turn,
    judge,
    overflow,
    reasoning_only,
    rejects_temperature,
    truncate_stream,
)

FENCES = (
    '<response label="B" nonce="4f9c">\nIndex it.\n</response nonce="4f9c">\n'
    '<response label="A" nonce="4f9c">\nCache it all.\n</response nonce="4f9c">\n'
)
BALLOT = f"Why is it slow?\n{FENCES}Nonce: 4f9c\nRank B, A."


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def post(
    server: ModelServer, text: str, body: Mapping[str, object] | None = None, key: str = "sk-any"
) -> httpx.Response:
    asked = {"model": "m", "messages": [{"role": "user", "content": text}], **(body or {})}
    async with httpx.AsyncClient() as client:
        return await client.post(
            f"{server.api_base}/chat/completions",
            json=asked,
            headers={"authorization": f"Bearer {key}"},
        )


async def said(server: ModelServer, text: str) -> str:
    content = (await post(server, text)).json()["choices"][0]["message"]["content"]
    return str(content)


async def events(server: ModelServer, options: Mapping[str, object] | None = None) -> list[str]:
    lines = (await post(server, "Why?", {"stream": True, "stream_options": options})).text.split(
        "\n\n"
    )
    return [line.removeprefix("data: ") for line in lines if line]


async def test_a_model_without_a_script_plays_every_role(server: ModelServer) -> None:
    ballot = json.loads(await said(server, BALLOT))
    *_, trailer = (await said(server, FENCES)).splitlines()

    assert await said(server, "Why is it slow?") == await said(server, "Why is it slow?")
    assert ballot["ranking"] == [["B"], ["A"]]
    assert ballot["nonce"] == "4f9c"
    assert json.loads(trailer) == {"drawn_on": ["B"], "departs": False, "why": ""}


async def test_a_judge_ranks_by_what_it_reads(server: ModelServer) -> None:
    def longest_first(candidates: object) -> list[list[str]]:
        assert candidates == [("B", "Index it."), ("A", "Cache it all.")]
        return [["A"], ["B"]]

    server.script["m"] = by_role(judge=judge(longest_first))

    assert json.loads(await said(server, BALLOT))["ranking"] == [["A"], ["B"]]


async def test_a_reply_counts_words_as_tokens(server: ModelServer) -> None:
    server.script["m"] = answer("Because of the load.")

    reply = (await post(server, "Why is it slow?")).json()

    assert reply["usage"] == {"prompt_tokens": 4, "completion_tokens": 4, "total_tokens": 8}
    assert reply["choices"][0]["finish_reason"] == "stop"


async def test_a_stream_ends_with_reason_usage_and_mark(server: ModelServer) -> None:
    server.script["m"] = answer("One two.")

    *told, last, usage, mark = await events(server, {"include_usage": True})

    pieces = [json.loads(event)["choices"][0]["delta"]["content"] for event in told]
    assert pieces == ["", "One", " two."]
    assert json.loads(last)["choices"][0]["finish_reason"] == "stop"
    assert json.loads(usage)["usage"]["completion_tokens"] == 2
    assert mark == "[DONE]"


async def test_a_truncated_stream_has_no_end(server: ModelServer) -> None:
    server.script["m"] = truncate_stream("One two")

    told = [json.loads(event)["choices"][0] for event in await events(server)]

    assert [choice["delta"]["content"] for choice in told] == ["", "One", " two"]
    assert {choice["finish_reason"] for choice in told} == {None}


@pytest.mark.parametrize("stream", [False, True])
async def test_a_dropped_reply_breaks_off(server: ModelServer, stream: bool) -> None:
    server.script["m"] = drop()

    with pytest.raises(httpx.RemoteProtocolError):
        await post(server, "Why?", {"stream": stream})


@pytest.mark.parametrize(
    ("behaviour", "finish", "text"),
    [
        pytest.param(cut("Because"), "length", "Because", id="cut"),
        pytest.param(reasoning_only(), "length", "", id="reasoning-only"),
    ],
)
async def test_a_reply_may_end_at_its_limit(
    server: ModelServer, behaviour: Behaviour, finish: str, text: str
) -> None:
    server.script["m"] = behaviour

    choice = (await post(server, "Why?")).json()["choices"][0]

    assert (choice["finish_reason"], choice["message"]["content"]) == (finish, text)


async def test_a_failure_may_pass(server: ModelServer) -> None:
    server.script["m"] = fail(429, retry_after=3, times=2)

    replies = [await post(server, "Why?") for _ in range(3)]

    assert [reply.status_code for reply in replies] == [429, 429, 200]
    assert replies[0].headers["retry-after"] == "3"


async def test_behaviours_follow_each_other_and_the_last_stays(server: ModelServer) -> None:
    server.script["m"] = in_turn(answer("One"), answer("Two"))

    assert [await said(server, "Why?") for _ in range(3)] == ["One", "Two", "Two"]


async def test_a_temperature_is_refused_unless_it_is_one(server: ModelServer) -> None:
    server.script["m"] = rejects_temperature(answer("Yes."))

    statuses = [(await post(server, "Why?", {"temperature": t})).status_code for t in (0.0, 1, 1.0)]

    assert statuses == [400, 200, 200]


async def test_an_overflow_reads_as_either_server_words_it(server: ModelServer) -> None:
    server.script["m"] = in_turn(overflow(), overflow("openai"))

    llama, openai = [(await post(server, "Why?")).json()["error"] for _ in range(2)]

    assert llama["type"] == "exceed_context_size_error"
    assert openai["code"] == "context_length_exceeded"


async def test_requests_are_remembered(server: ModelServer) -> None:
    before = asyncio.get_running_loop().time()
    await post(server, "Why?", {"temperature": 0.3})
    await post(server, "How?", {"model": "other"})

    (request,) = server.asked("m")
    assert (request.user, request.body["temperature"]) == ("Why?", 0.3)
    assert request.at >= before
    assert [request.model for request in server.requests] == ["m", "other"]


async def test_a_wrong_key_is_refused() -> None:
    async with ModelServer(key="sk-right") as server:
        wrong, right = [await post(server, "Why?", key=key) for key in ("sk-wrong", "sk-right")]

    assert (wrong.status_code, right.status_code) == (401, 200)
    assert len(server.requests) == 1


async def test_scripted_models_are_listed(server: ModelServer) -> None:
    server.script["m"] = answer("Yes.")

    async with httpx.AsyncClient() as client:
        models = (await client.get(f"{server.api_base}/models")).json()
        lost = await client.get(f"{server.api_base}/nowhere")

    assert [model["id"] for model in models["data"]] == ["m"]
    assert lost.status_code == 404


async def test_a_client_that_leaves_ends_the_work(server: ModelServer) -> None:
    server.script["m"] = hang()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await post(server, "Why?")
    await server.all_left()

    assert server.hang_ups == 1


async def test_a_behaviour_that_raises_is_raised_at_the_end() -> None:
    def broken(request: Request) -> Fail:
        raise LookupError(request.model)

    server = await ModelServer().__aenter__()
    server.script["m"] = broken
    with pytest.raises(httpx.RemoteProtocolError):
        await post(server, "Why?")

    with pytest.raises(ExceptionGroup, match="a scripted behaviour raised"):
        await server.__aexit__(None, None, None)


async def test_a_request_costs_under_two_milliseconds(server: ModelServer) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Why?"}]})
    request = f"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n{body}"
    reader, writer = await asyncio.open_connection(*server.api_base[7:-3].split(":"))
    seconds = []

    for _ in range(50):
        started = time.perf_counter()
        writer.write(request.encode())
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.findall(rb"content-length: (\d+)", head)[0]))
        seconds.append(time.perf_counter() - started)
    writer.close()

    assert sorted(seconds)[25] < 0.002


async def test_it_runs_as_a_process_until_stdin_closes() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.wire.models", "--latency", "0.05"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    address = json.loads(await process.stdout.readline())["api_base"]
    body = {"model": "m", "messages": [{"role": "user", "content": "Why?"}]}

    async with httpx.AsyncClient() as client:
        reply = await client.post(f"{address}/chat/completions", json=body)
    process.stdin.close()

    assert reply.status_code == 200
    assert reply.elapsed.total_seconds() >= 0.05
    assert await process.wait() == 0
