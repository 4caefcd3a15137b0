"""What a page hears of a round under way: its states as they come, and how it ended."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from bot.ports import RoundSnapshot
from bot.runners.local import LocalRunner
from bot.web import events
from council.errors import StoreError
from council.rounds import Artefact
from storage.memory import MemoryStore
from tests.bot.desks import an_app
from tests.bot.web.visiting import SOMEBODY, Town, a_round_of, a_town, round_of
from tests.builders import GPT, a_round
from tests.fakes.gateway import FakeGateway, Hangs


def heard(stream: httpx.Response) -> list[tuple[str, Any]]:
    found = re.findall(r"^event: (\w+)\ndata: (.*)$", stream.text, re.MULTILINE)
    return [(name, json.loads(data)) for name, data in found]


async def test_a_page_hears_every_state_and_the_end(town: Town) -> None:
    browser = town.browser()
    round_id = round_of(await browser.ask("Why?"))

    stream = await browser.get(f"/rounds/{round_id}/events")

    told = heard(stream)
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.headers["cache-control"] == "no-store"
    assert stream.text.startswith("retry: 1000\n\n")
    assert {name for name, _ in told[:-1]} == {"state"}
    assert [state["closed"] for name, state in told if name == "state"].index(True) >= 10


async def test_a_closed_round_is_told_once(town: Town) -> None:
    round_ = await town.hold(a_round_of(SOMEBODY))

    told = heard(await town.browser().get(f"/rounds/{round_.id}/events"))

    assert [name for name, _ in told] == ["state", "end"]
    assert told[0][1]["closed"] is True


async def test_a_round_that_nobody_carries_ends_at_once_as_it_stands(town: Town) -> None:
    await town.store.open(a_round_of(SOMEBODY))

    told = heard(await town.browser().get("/rounds/abcdef0123/events"))
    state = (await town.browser().get("/rounds/abcdef0123/state")).json()

    assert [name for name, _ in told] == ["state", "end"]
    assert (state["closed"], state["stopped"]) == (False, True)


async def test_a_page_that_cannot_hold_a_stream_open_asks_how_it_stands() -> None:
    town = a_town(an_app(FakeGateway(answers={GPT: Hangs()})))
    browser = town.browser()
    round_id = round_of(await browser.ask("Why?"))

    state = (await browser.get(f"/rounds/{round_id}/state")).json()
    await browser.act(round_id, "stop")
    after = (await browser.get(f"/rounds/{round_id}/state")).json()

    assert (state["closed"], state["stopped"], after["stopped"]) == (False, False, True)
    assert "answered" in state["summary"] or state["progress"]
    await town.close()


async def test_a_stop_is_told_to_whoever_listens() -> None:
    town = a_town(an_app(FakeGateway(answers={GPT: Hangs()})))
    browser = town.browser()
    round_id = round_of(await browser.ask("Why?"))
    listening = asyncio.create_task(town.browser().get(f"/rounds/{round_id}/events"))
    async with town.site.app.runner.subscribe(round_id) as sights:
        async for sight in sights:
            if len(sight.round_.answers) == 2:
                break

    await browser.act(round_id, "stop")

    name, why = heard(await listening)[-1]
    assert (name, why) == ("stopped", {"why": f"Round {round_id} was stopped before its end."})
    await town.close()


class FullStore(MemoryStore):
    """A store that opens rounds and saves nothing."""

    async def save(self, round_id: str, artefact: Artefact) -> None:
        raise StoreError("The disk is full.")


async def test_an_error_is_told_in_its_sentence() -> None:
    town = a_town(an_app(store=FullStore()))
    browser = town.browser()
    round_id = round_of(await browser.ask("Why?"))

    told = heard(await browser.get(f"/rounds/{round_id}/events"))

    assert told[-1] == ("stopped", {"why": "The disk is full."})
    await town.close()


async def test_silence_is_broken_now_and_then_so_that_nobody_hangs_up() -> None:
    news: asyncio.Queue[RoundSnapshot | None] = asyncio.Queue()

    async def sights() -> AsyncIterator[RoundSnapshot]:
        while sight := await news.get():
            yield sight

    heard_: list[RoundSnapshot | None] = []
    sight = RoundSnapshot(a_round())
    async for found in events.or_silence(sights(), seconds=0.001):
        heard_.append(found)
        if len(heard_) == 2:
            news.put_nowait(sight)
        if found:
            news.put_nowait(None)

    assert heard_[:2] == [None, None]
    assert [found for found in heard_ if found] == [sight]


async def test_who_hangs_up_is_forgotten() -> None:
    town = a_town(an_app(FakeGateway(answers={GPT: Hangs()})))
    browser = town.browser()
    round_id = round_of(await browser.ask("Why?"))
    listening = asyncio.create_task(town.browser().get(f"/rounds/{round_id}/events"))
    await asyncio.sleep(0)

    listening.cancel()
    await asyncio.wait([listening])

    assert town.site.app.runner.latest(round_id)
    await town.close()


def test_a_draft_is_told_as_markup_that_can_do_no_harm() -> None:
    told = events.told(RoundSnapshot(a_round(), draft="**So** <script>", seconds=1.23))

    assert told["draft"] == '<div class="prose"><p><strong>So</strong> &lt;script&gt;</p>\n</div>'
    assert told["seconds"] == pytest.approx(1.2)


def test_the_runner_of_these_tests_is_the_real_one(town: Town) -> None:
    assert isinstance(town.site.app.runner, LocalRunner)
