"""Votes, weighted leaderboards and the prior of a round in a real browser."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.bot.web.browser.accessibility import VIEWS, View, faults_by_path, set_view
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browsing import SOMEBODY, a_round_of, make_site

pytestmark = pytest.mark.asyncio(loop_scope="session")

LAST = "/rounds/abc11"
PATHS = (
    "/leaderboard?weights=peerrank",
    "/leaderboard?weights=human",
    f"{LAST}/beside",
    LAST,
)


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def address(browser: Browser) -> AsyncIterator[str]:
    """Yield the address of a site with twelve closed rounds."""
    site = make_site()
    first = a_round_of(SOMEBODY)
    for i in range(12):
        asked_at = first.asked_at + timedelta(minutes=i)
        await site.run_round(replace(first, id=f"abc{i}", seed=f"s{i}", asked_at=asked_at))
    async with serve_in_process(site) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, address: str) -> AsyncIterator[Page]:
    """Yield a tab."""
    async with await browser.new_context(base_url=address) as context:
        yield await context.new_page()


@VIEWS
async def test_weighted_pages_are_accessible(tab: Page, view: View) -> None:
    await set_view(tab, view)

    assert await faults_by_path(tab, *PATHS) == {}


async def test_a_visitor_votes_for_the_best_answer(tab: Page) -> None:
    await tab.goto(LAST)
    await tab.locator("#answers summary").first.click()

    await tab.get_by_role("button", name="The best answer to me").first.click()

    await expect(tab.get_by_text("so this vote is not blind")).to_be_visible()
    pressed = tab.locator('#answers button[aria-pressed="true"]')
    await expect(pressed).to_have_count(1)
