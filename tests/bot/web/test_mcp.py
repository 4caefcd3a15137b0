"""`/mcp`: the official client over HTTP, under the page's token, hosts and limits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from bot.api_keys import own_budget
from bot.web.server import run_server
from council.budget import Budget
from council.budget_caps import Caps
from council.money import Price
from tests.bot.app_fakes import an_app
from tests.bot.web.api_clients import ApiClient
from tests.bot.web.browsing import TOKEN, NewSite, Site
from tests.bot.web.test_api_auth import a_key
from tests.builders import CLAUDE, GEMINI, GPT, a_panel
from tests.fakes.gateway import FakeGateway, Hangs
from tests.fakes.memory_ledger import MemoryLedger

HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}
PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


@asynccontextmanager
async def served(site: Site) -> AsyncIterator[str]:
    async def nothing() -> None:
        """Nothing is to be done before serving."""

    async with run_server(site.app, "127.0.0.1", 0, nothing) as server:
        yield f"{server.address}/mcp"
        await site.context.tasks.close()


@asynccontextmanager
async def client_at(address: str, mode: str = "auto", token: str = "") -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_question_is_asked_over_http_and_its_link_opens(
    new_site: NewSite, mode: str
) -> None:
    site = new_site(token=TOKEN)
    async with served(site) as address, client_at(address, mode, TOKEN) as client:
        result = await client.call_tool("ask_council", {"question": "Is it?"})
        listed = await client.call_tool("list_rounds")
        assert result.structured_content
        url = result.structured_content["url"]
        async with httpx2.AsyncClient(trust_env=False) as browser:
            page = await browser.get(url, headers={"authorization": f"Bearer {TOKEN}"})

    assert url.startswith(address.removesuffix("/mcp"))
    assert (page.status_code, "The council says yes." in page.text) == (200, True)
    assert listed.structured_content
    assert [line["url"] for line in listed.structured_content["rounds"]] == [url]


@pytest.mark.parametrize("token", ["", "a wrong token, of some length"])
async def test_without_the_token_there_is_nothing(new_site: NewSite, token: str) -> None:
    async with served(new_site(token=TOKEN)) as address:
        with pytest.raises((MCPError, ExceptionGroup, httpx2.HTTPStatusError)):
            async with client_at(address, "legacy", token):
                pass


async def test_no_client_is_sent_into_an_oauth_that_is_not_there(locked_site: Site) -> None:
    client = ApiClient(locked_site)

    refused = [await client.post(PING.encode(), path=path) for path in ("/mcp", "/mcp/")]
    metadata = [
        await client.get(f"/.well-known/{name}{path}")
        for name in ("oauth-protected-resource", "oauth-authorization-server")
        for path in ("", "/mcp")
    ]

    assert [(one.status_code, one.headers["www-authenticate"]) for one in refused] == [
        (401, "Bearer")
    ] * 2
    assert {response.status_code for response in metadata} == {404}


async def test_a_named_key_asks_its_panels_and_reads_its_rounds(new_site: NewSite) -> None:
    panels = [replace(a_panel(), name=name) for name in ("house", "cheap", "dear")]
    site = new_site(an_app(panels=panels), token=TOKEN)
    key = (await a_key(site, "team", "cheap", "dear")).bearer
    ask, arguments = "ask_council", {"question": "Is it?"}
    async with served(site) as address:
        async with client_at(address, token=TOKEN) as client:
            other = await client.call_tool(ask, arguments)
        async with client_at(address, token=key) as client:
            own = await client.call_tool(ask, arguments)
            named = await client.call_tool(ask, arguments | {"panel": "dear"})
            refused = await client.call_tool(ask, arguments | {"panel": "house"})
            listed = await client.call_tool("list_rounds")
            assert other.structured_content
            hidden = await client.call_tool(
                "get_round", {"round_id": other.structured_content["id"]}
            )
            resources = (await client.list_resources()).resources

    ids = [(one.structured_content or {})["id"] for one in (named, own)]
    asked = [await site.store.load_summary(id_) for id_ in ids]
    assert [(line.panel, line.asked_by) for line in asked] == [
        ("dear", "api:team"),
        ("cheap", "api:team"),
    ]
    assert "Known panels: cheap, dear." in str(refused.structured_content)
    assert [line["id"] for line in (listed.structured_content or {})["rounds"]] == ids
    assert [one.name for one in resources] == ids
    assert hidden.is_error
    assert "`list_rounds` lists them" in str(hidden.structured_content)


async def test_a_keys_cap_holds(new_site: NewSite) -> None:
    app = an_app(FakeGateway(prices=dict.fromkeys((CLAUDE, GPT, GEMINI), Price(1e-3, 1e-3))))
    app.budget = Budget(
        MemoryLedger(), Caps(), app.now, own_budget=partial(own_budget, app.key_values)
    )
    site = new_site(app, token=TOKEN)
    key = (await a_key(site, cap_usd=0.000001)).bearer

    async with served(site) as address, client_at(address, token=key) as client:
        asked = await client.call_tool("ask_council", {"question": "Is it?"})

    assert (asked.is_error, "budget" in str(asked.structured_content)) == (True, True)


async def test_a_cancelled_call_stops_the_round(new_site: NewSite) -> None:
    site = new_site(an_app(FakeGateway(answers={GPT: Hangs()})))
    runs = asyncio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        if message == "2 of 3 models answered":
            runs.set()

    async with served(site) as address, client_at(address) as client:
        arguments = {"question": "Is it?"}
        calling = asyncio.create_task(
            client.call_tool("ask_council", arguments, progress_callback=on_progress)
        )
        await runs.wait()
        [line] = await site.store.list_summaries()
        async with site.context.app.runner.subscribe(line.id) as snapshots:
            calling.cancel()
            with pytest.raises(Exception, match="was stopped"):
                async for _ in snapshots:
                    pass

    assert (await site.store.load_summary(line.id)).paused


async def test_a_call_whose_client_hangs_up_stops_the_round(new_site: NewSite) -> None:
    site = new_site(an_app(FakeGateway(answers={GPT: Hangs()})))
    params = {"name": "ask_council", "arguments": {"question": "Is it?"}}
    params["_meta"] = {"progressToken": 1}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    async with served(site) as address, httpx2.AsyncClient(trust_env=False, timeout=30) as http:
        async with http.stream("POST", address, json=call, headers=HEADERS) as reply:
            async for event in reply.aiter_lines():
                if "2 of 3 models answered" in event:
                    break
            [summary] = await site.store.list_summaries()
        async with site.context.app.runner.subscribe(summary.id) as snapshots:
            with pytest.raises(Exception, match="was stopped"):
                async for _ in snapshots:
                    pass

    assert (await site.store.load_summary(summary.id)).paused


async def test_a_client_leaves_no_session_behind(new_site: NewSite) -> None:
    site = new_site()
    client = {"name": "idle", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}

    async with served(site) as address, httpx2.AsyncClient(trust_env=False, timeout=30) as http:
        started = await http.post(address, json=start, headers=HEADERS)
        stream = await http.get(address, headers=HEADERS)

    assert (started.status_code, "mcp-session-id" in started.headers) == (200, False)
    assert stream.status_code == 405


async def test_pages_of_other_sites_are_refused(site: Site) -> None:
    browser = site.browser()

    refused = await browser.client.post(
        "/mcp", content=PING, headers={**HEADERS, "origin": "https://evil.example"}
    )

    assert (refused.status_code, "other sites" in refused.text) == (403, True)


async def test_a_form_of_another_site_cannot_call_it(site: Site) -> None:
    browser = site.browser()

    refused = await browser.client.post(
        "/mcp", content=PING, headers={"content-type": "text/plain"}
    )

    assert refused.status_code == 400
    await site.context.tasks.close()


async def test_too_much_is_refused_before_it_is_parsed(site: Site) -> None:
    browser = site.browser()

    refused = await browser.client.post("/mcp", content="x" * 1_000_001, headers=HEADERS)

    assert refused.status_code == 413
