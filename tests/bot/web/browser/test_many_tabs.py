"""Many tabs on many rounds, in one browser or in many: none misses the end."""

import asyncio

import httpx
import pytest
from playwright.async_api import BrowserContext, expect

from tests.bot.web.browser.actions import TIMEOUT_MS, ask
from tests.bot.web.browser.product import Product
from tests.bot.web.browser.streams import open_stream, read_events

pytestmark = [pytest.mark.asyncio(loop_scope="package"), pytest.mark.nightly]

ROUNDS, STREAMS, TABS = 6, 30, 9


async def test_every_stream_receives_every_state(product: Product) -> None:
    async with httpx.AsyncClient(
        base_url=product.address, trust_env=False, timeout=60, limits=httpx.Limits()
    ) as client:
        paths = [await open_stream(client, f"Round {n}?", "slow") for n in range(ROUNDS)]
        received = await asyncio.gather(
            *(read_events(client, paths[n % ROUNDS]) for n in range(STREAMS))
        )

    assert all(one.closed and one.in_order for one in received)
    assert min(one.states for one in received) > 9


async def test_more_tabs_than_a_browser_has_connections_all_show_the_answer(
    visitor: BrowserContext,
) -> None:
    tabs = [await visitor.new_page() for _ in range(TABS)]
    path = await ask(tabs[0], "Is there room for all?", panel="slow")

    await asyncio.gather(*(tab.goto(path) for tab in tabs[1:]))

    for tab in tabs:
        await expect(tab.locator("#answers")).to_be_attached(timeout=2 * TIMEOUT_MS)
