"""The page behind a load balancer: each request may reach another process."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from bot.web.app import create_app
from bot.web.auth import PageSigner, load_shared_signing_key
from tests.bot.cluster_fakes import processes
from tests.bot.web.browsing import Browser, Site, make_site, redirected_round_id
from tests.builders import a_panel
from tests.fakes.gateway import FakeGateway


class Balancer(httpx.AsyncBaseTransport):
    """A load balancer: each request goes to the next process."""

    def __init__(self, *sites: Site) -> None:
        self._transports = [httpx.ASGITransport(site.app) for site in sites]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._transports.append(self._transports.pop(0))
        return await self._transports[-1].handle_async_request(request)


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Yield a browser in front of three processes that serve one page."""
    _, apps = processes(3, FakeGateway())
    sites, signer = [], PageSigner(b"")
    for app_context in apps:
        app_context.panels = {**app_context.panels, "cheap": replace(a_panel(2), name="cheap")}
        site = make_site(app_context)
        signer = PageSigner(await load_shared_signing_key(app_context.key_values))
        context = replace(site.context, signer=signer)
        sites.append(Site(context, create_app(context), site.clock))
    address = "http://localhost:8000"
    client = httpx.AsyncClient(
        transport=Balancer(*sites), base_url=address, headers={"accept": "text/html"}
    )
    async with client:
        yield Browser(client, signer)
    await sites[0].close()


async def test_a_question_is_asked_seen_and_stopped_whichever_process_is_met(
    browser: Browser,
) -> None:
    asked = await browser.ask("Which queue?")
    round_id = redirected_round_id(asked)

    seen = [await browser.get(f"/rounds/{round_id}") for _ in range(3)]
    stopped = await browser.act(round_id, "stop")

    assert {found.status_code for found in seen} == {200}
    assert all("Which queue?" in found.text for found in seen)
    assert stopped.status_code == 303


async def test_a_panel_that_is_picked_is_in_use_on_every_page(browser: Browser) -> None:
    await browser.ask("panel cheap")

    for _ in range(3):
        found = redirected_round_id(await browser.ask("Why?"))
        assert "cheap" in (await browser.get(f"/rounds/{found}/round.json")).text


async def test_one_idempotency_key_is_one_round_whichever_process_is_met(browser: Browser) -> None:
    body = {"model": "council/cheap", "messages": [{"role": "user", "content": "Which queue?"}]}
    retry = {"Idempotency-Key": "k1"}

    answers = await asyncio.gather(
        *(browser.client.post("/v1/chat/completions", json=body, headers=retry) for _ in range(3))
    )
    later = await browser.client.post("/v1/chat/completions", json=body, headers=retry)

    assert {answer.status_code for answer in (*answers, later)} == {200}
    assert len({answer.json()["id"] for answer in (*answers, later)}) == 1


async def test_a_key_of_one_process_works_at_every_other_until_it_is_revoked(
    browser: Browser,
) -> None:
    form = await browser.form("/models", "/keys")
    page = await browser.post("/keys", **form, name="ci", cap="")
    key = re.search(r'value="(council_[^"]+)"', page.text)
    assert key
    bearer = {"authorization": f"Bearer {key[1]}"}

    before = [await browser.client.get("/v1/models", headers=bearer) for _ in range(3)]
    await browser.post("/keys/ci/revoke", **form)
    after = [await browser.client.get("/v1/models", headers=bearer) for _ in range(3)]

    assert {answer.status_code for answer in before} == {200}
    assert {answer.status_code for answer in after} == {401}
