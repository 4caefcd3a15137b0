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

pytestmark = pytest.mark.asyncio(loop_scope="package")

LAST = "/rounds/abc11"
PATHS = (
    "/leaderboard?weights=peerrank",
    "/leaderboard?weights=human",
    f"{LAST}/beside",
    LAST,
)


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def address(browser: Browser) -> AsyncIterator[str]:
    """Yield the address of a site with twelve closed rounds."""
    site = make_site()
    first = a_round_of(SOMEBODY)
    for i in range(12):
        asked_at = first.asked_at + timedelta(minutes=i)
        await site.run_round(replace(first, id=f"abc{i}", seed=f"s{i}", asked_at=asked_at))
    async with serve_in_process(site) as address:
        yield address


@VIEWS
async def test_weighted_pages_are_accessible(page: Page, view: View) -> None:
    await set_view(page, view)

    assert await faults_by_path(page, *PATHS) == {}


async def test_a_visitor_votes_for_the_best_answer(page: Page) -> None:
    await page.goto(LAST)
    await page.locator("#answers summary").first.click()

    await page.get_by_role("button", name="The best answer to me").first.click()

    await expect(page.get_by_text("so this vote is not blind")).to_be_visible()
    pressed = page.locator('#answers button[aria-pressed="true"]')
    await expect(pressed).to_have_count(1)
