"""Rounds continue whatever happens to the page, the connection or the product."""

import asyncio

import httpx
import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.bot.homes import Home
from tests.bot.web.browser.actions import ANSWER, TIMEOUT_MS, ask, wait_until_closed
from tests.bot.web.browser.product import serve_product
from tests.bot.web.browser.streams import open_stream

pytestmark = pytest.mark.asyncio(loop_scope="package")

LOST = "The connection was lost; trying again …"


async def test_a_tab_opened_during_a_round_shows_it_to_the_end(
    page: Page, visitor: BrowserContext
) -> None:
    path = await ask(page, "May I leave?", panel="slow")
    await expect(page.locator("#progress .done").first).to_be_visible()
    await page.close()

    later = await visitor.new_page()
    await later.goto(path)
    await wait_until_closed(later)

    await expect(later.locator(ANSWER)).to_contain_text("word-30")


@pytest.mark.nightly
async def test_more_tabs_than_a_browser_has_connections_all_show_the_answer(
    visitor: BrowserContext,
) -> None:
    tabs = [await visitor.new_page() for _ in range(9)]
    path = await ask(tabs[0], "Is there room for all?", panel="slow")

    await asyncio.gather(*(tab.goto(path) for tab in tabs[1:]))

    for tab in tabs:
        await expect(tab.locator("#answers")).to_be_attached(timeout=2 * TIMEOUT_MS)


@pytest.mark.nightly
async def test_after_a_kill_the_page_reconnects_and_every_round_continues(
    browser: Browser, served_home: Home, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = Home(tmp_path_factory.mktemp("killed"), served_home.settings)
    home.with_config((served_home.folder / "council.toml").read_text(encoding="utf-8"))
    async with (
        serve_product(home.with_tables(), fresh=True) as product,
        httpx.AsyncClient(base_url=product.address, trust_env=False, timeout=60) as client,
    ):
        page = await browser.new_page(base_url=product.address)
        await ask(page, "May the power fail?", panel="slow")
        await expect(page.locator("#progress .done").nth(1)).to_be_visible(timeout=TIMEOUT_MS)
        paths = [await open_stream(client, f"Which continues {n}?", "slow") for n in range(4)]

        product.kill()
        await expect(page.locator("#connection")).to_have_text(LOST)
        starting = asyncio.create_task(product.start())
        states = [await first_answer(client, f"{path}/state") for path in paths]
        await starting
        await wait_until_closed(page)

        await expect(page.locator(ANSWER)).to_contain_text("word-30")
        await page.context.close()
    assert [state["stopped"] for state in states] == [False] * 4


async def first_answer(client: httpx.AsyncClient, path: str) -> dict[str, object]:
    """Return the first response of the product that starts."""
    while True:
        try:
            return dict((await client.get(path)).json())
        except httpx.TransportError:
            await asyncio.sleep(0.002)
