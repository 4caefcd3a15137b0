"""Server-sent events of a running round: every state, and how it ended."""

import asyncio
import json
import re
from typing import Any

import httpx
import pytest
from starlette.types import Message

from bot.ports import RoundSnapshot
from bot.web import events
from council.errors import StoreError
from council.rounds import Artefact
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import SOMEBODY, NewSite, Site, a_round_of, redirected_round_id
from tests.bot.web.test_rounds_forgotten import request
from tests.builders import a_round
from tests.fakes.memory_store import MemoryStore


def parse_events(stream: httpx.Response) -> list[tuple[str, Any]]:
    found = re.findall(r"^event: (\w+)\ndata: (.*)$", stream.text, re.MULTILINE)
    return [(name, json.loads(data)) for name, data in found]


async def test_every_state_and_the_end_are_sent(site: Site) -> None:
    browser = site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))

    stream = await browser.get(f"/rounds/{round_id}/events")

    sent = parse_events(stream)
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.headers["cache-control"] == "no-store"
    assert stream.text.startswith("retry: 1000\n\n")
    assert {name for name, _ in sent[:-1]} == {"state"}
    assert [state["closed"] for name, state in sent if name == "state"].index(True) >= 9


async def test_every_tab_receives_states_in_order_and_the_end(site: Site) -> None:
    browser = site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))

    streams = await asyncio.gather(
        *(site.browser().get(f"/rounds/{round_id}/events") for _ in range(5))
    )

    for stream in streams:
        *states, end = parse_events(stream)
        assert (end, states[-1][1]["closed"]) == (("end", {}), True)
        seconds = [state["seconds"] for _, state in states]
        assert seconds == sorted(seconds)


async def test_a_closed_round_is_sent_once(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))

    sent = parse_events(await site.browser().get(f"/rounds/{round_.id}/events"))

    assert [name for name, _ in sent] == ["state", "end"]
    assert sent[0][1]["closed"] is True


async def test_a_round_that_is_not_running_is_sent_once(site: Site) -> None:
    await site.store.open(a_round_of(SOMEBODY))

    sent = parse_events(await site.browser().get("/rounds/abcdef0123/events"))
    state = (await site.browser().get("/rounds/abcdef0123/state")).json()

    assert [name for name, _ in sent] == ["state", "end"]
    assert (state["closed"], state["stopped"]) == (False, True)


async def test_a_page_without_a_stream_polls_the_state(hanging_site: Site) -> None:
    browser = hanging_site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))

    state = (await browser.get(f"/rounds/{round_id}/state")).json()
    await browser.act(round_id, "stop")
    after = (await browser.get(f"/rounds/{round_id}/state")).json()

    assert (state["closed"], state["stopped"], after["stopped"]) == (False, False, True)
    assert "answered" in state["summary"] or state["progress"]


async def test_a_stop_is_sent_as_an_event(hanging_site: Site) -> None:
    browser = hanging_site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))
    streaming = asyncio.create_task(hanging_site.browser().get(f"/rounds/{round_id}/events"))
    async with hanging_site.context.app.runner.subscribe(round_id) as snapshots:
        async for snapshot in snapshots:
            if len(snapshot.round_.answers) == 2:
                break

    await browser.act(round_id, "stop")

    name, why = parse_events(await streaming)[-1]
    assert (name, why) == ("stopped", {"why": f"Round {round_id} was stopped before it finished."})


class FullStore(MemoryStore):
    """A store that opens rounds and fails to save."""

    async def save(self, round_id: str, *artefacts: Artefact) -> None:
        raise StoreError("The disk is full.")


async def test_an_error_is_sent_as_its_sentence(new_site: NewSite) -> None:
    site = new_site(an_app(store=FullStore()))
    browser = site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))

    sent = parse_events(await browser.get(f"/rounds/{round_id}/events"))

    assert sent[-1] == ("stopped", {"why": "The disk is full."})


async def test_a_heartbeat_is_sent_while_there_is_no_news(
    hanging_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.001)
    browser = hanging_site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))
    response = await events.round_events(hanging_site.context, request(id=round_id))
    heartbeat = asyncio.Event()

    async def send(message: Message) -> None:
        if message.get("body") == b": still here\n\n":
            heartbeat.set()

    async def receive() -> Message:
        return await asyncio.Future()

    streaming = asyncio.create_task(response({"type": "http", "method": "GET"}, receive, send))
    async with asyncio.timeout(10):
        await heartbeat.wait()
    streaming.cancel()
    await asyncio.wait([streaming])

    assert hanging_site.context.app.runner.latest(round_id)


async def test_a_browser_that_disconnects_does_not_stop_the_round(hanging_site: Site) -> None:
    browser = hanging_site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))
    streaming = asyncio.create_task(hanging_site.browser().get(f"/rounds/{round_id}/events"))
    async with hanging_site.context.app.runner.subscribe(round_id) as snapshots:
        await anext(snapshots)

    streaming.cancel()
    await asyncio.wait([streaming])

    assert hanging_site.context.app.runner.latest(round_id)


def test_a_draft_is_sent_as_safe_html(site: Site) -> None:
    payload = events.round_payload(
        site.context.site, RoundSnapshot(a_round(), draft="**So** <script>", seconds=1.23)
    )

    assert (
        payload["draft"] == '<div class="prose"><p><strong>So</strong> &lt;script&gt;</p>\n</div>'
    )
    assert payload["seconds"] == pytest.approx(1.2)
