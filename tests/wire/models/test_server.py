"""The scripted model server: what the tests of the product do not already show of it."""

import asyncio
import json
import sys

import httpx
import pytest

from tests.wire.models import Fail, ModelServer, Request, hang, rejects_temperature


async def post(server: ModelServer, **more: object) -> httpx.Response:
    asked = {"model": "m", "messages": [{"role": "user", "content": "Why?"}], **more}
    async with httpx.AsyncClient() as client:
        return await client.post(f"{server.api_base}/chat/completions", json=asked)


async def test_an_unknown_address_and_a_temperature_are_refused() -> None:
    async with ModelServer() as server, httpx.AsyncClient() as client:
        server.script["m"] = rejects_temperature()
        hot, mild = [await post(server, temperature=degrees) for degrees in (0.0, 1)]
        lost = await client.get(f"{server.api_base}/nowhere")

    assert [reply.status_code for reply in (hot, mild, lost)] == [400, 200, 404]
    assert len(server.asked("m")) == 2


async def test_a_client_that_leaves_ends_the_work() -> None:
    async with ModelServer() as server:
        server.script["m"] = hang()
        asking = asyncio.create_task(post(server))
        async with asyncio.timeout(10):
            while not server.requests:  # noqa: ASYNC110 - the server records it
                await asyncio.sleep(0.01)
            asking.cancel()
            await server.all_left()

    assert server.hang_ups == 1


async def test_a_behaviour_that_raises_is_raised_at_the_end() -> None:
    def broken(request: Request) -> Fail:
        raise LookupError(request.model)

    server = await ModelServer().__aenter__()
    server.script["m"] = broken
    with pytest.raises(httpx.RemoteProtocolError):
        await post(server)

    with pytest.raises(ExceptionGroup, match="a scripted behaviour raised"):
        await server.__aexit__(None, None, None)


async def test_it_runs_as_a_process_until_stdin_closes() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.wire.models",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    address = json.loads(await process.stdout.readline())["api_base"]
    async with httpx.AsyncClient() as client:
        reply = await client.get(f"{address}/nowhere")
    process.stdin.close()

    assert reply.status_code == 404
    assert await process.wait() == 0
