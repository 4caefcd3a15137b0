"""`council mcp`: the official client starts it, and its stdout carries nothing but the protocol."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import TextContent

from bot.cli.mcp import AppOnDemand
from bot.context import AppContext
from council.errors import StoreError
from tests.bot.app_fakes import an_app
from tests.bot.homes import PROGRAM, TIMEOUT_SECONDS, Home
from tests.fakes.gateway import FakeGateway


async def test_a_client_starts_it_and_calls_every_tool(home: Home) -> None:
    command, *arguments = PROGRAM
    server = StdioServerParameters(
        command=command,
        args=[*arguments, "mcp"],
        env=dict(home.environment),
        cwd=home.folder,
    )
    answers = {"a": "Alpha.", "b": "Beta.", "c": "Gamma."}
    async with Client(server) as client:
        asked = await client.call_tool("ask_council", {"question": "Is it?"})
        document = asked.structured_content
        assert document
        results = [
            await client.call_tool("rank_answers", {"question": "Best?", "answers": answers}),
            await client.call_tool("get_round", {"round_id": document["id"]}),
            await client.call_tool("list_rounds"),
        ]
        tools = [tool.name for tool in (await client.list_tools()).tools]
        results += [await client.call_tool(name) for name in tools[4:]]  # those of plug-ins
        wrong = await client.call_tool("ask_council", {"question": ["Is it?"]})

    [content] = asked.content
    assert isinstance(content, TextContent)
    assert content.text.startswith(document["synthesis"]["text"])
    assert f"/rounds/{document['id']}" in content.text
    assert [result.is_error for result in results] == [False] * (len(tools) - 1)
    assert wrong.is_error
    shown = await home.invoke_in_thread("show", document["id"], "--json")
    assert shown.json["stage"] == "closed"


async def test_the_first_call_opens_the_application_which_is_closed_once() -> None:
    events = list[str]()
    app = an_app(FakeGateway())

    @asynccontextmanager
    async def open_app() -> AsyncIterator[AppContext]:
        events.append("opening")
        if len(events) == 1:
            raise StoreError("The database is locked.")
        yield app
        events.append("closed")

    on_demand = AppOnDemand(open_app)

    with pytest.raises(StoreError, match="locked"):
        await on_demand.load()
    loaded = await asyncio.gather(on_demand.load(), on_demand.load())
    before = [*events]
    await on_demand.close()

    assert [one is app for one in loaded] == [True, True]
    assert (before, events) == (["opening"] * 2, ["opening", "opening", "closed"])


async def test_an_application_that_nobody_needs_is_not_opened() -> None:
    @asynccontextmanager
    async def open_app() -> AsyncIterator[AppContext]:
        opened.append(1)
        yield an_app()

    opened = list[int]()

    await AppOnDemand(open_app).close()

    assert not opened


async def test_a_call_says_why_nothing_can_be_opened(home: Home) -> None:
    home.sql("UPDATE alembic_version SET version_num = '9999'")
    home.sql("UPDATE compatible SET oldest = '9999'")
    command, *arguments = PROGRAM
    server = StdioServerParameters(
        command=command, args=[*arguments, "mcp"], env=dict(home.environment), cwd=home.folder
    )
    async with Client(server) as client:
        asked = await client.call_tool("list_rounds")
        tools = (await client.list_tools()).tools

    assert asked.is_error
    [content] = asked.content
    assert isinstance(content, TextContent)
    assert "newer version" in content.text
    assert tools


def test_stdout_carries_the_protocol_alone_and_the_end_of_input_ends_it(home: Home) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]

    ended = subprocess.run(
        [sys.executable, "-m", "bot", "mcp"],
        cwd=home.folder,
        env=home.environment,
        input="not JSON\n" + "".join(f"{json.dumps(message)}\n" for message in messages),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )

    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ended.returncode == 0
    assert all(line["jsonrpc"] == "2.0" for line in lines)
    assert "Traceback" not in ended.stderr
    [greeting] = [line["result"] for line in lines if line.get("id") == 1]
    assert greeting["serverInfo"]["name"] == "council"


def test_a_configuration_that_cannot_be_read_is_one_sentence(home: Home) -> None:
    ran = home.with_config("[panels.house\n").council("mcp", fresh=True)

    assert (ran.code, ran.out, len(ran.lines)) == (2, "", 1)
