"""What stands beside boards and rounds, in a real browser: for everybody, and on a phone."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browser.test_everybody import SCHEMES, Scheme, faults_of
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
    """Return the address of a site on which twelve rounds were held."""
    site = make_site()
    first = a_round_of(SOMEBODY)
    for i in range(12):
        asked_at = first.asked_at + timedelta(minutes=i)
        await site.run_round(replace(first, id=f"abc{i}", seed=f"s{i}", asked_at=asked_at))
    async with serve_in_process(site) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, address: str) -> AsyncIterator[Page]:
    """Return a tab."""
    async with await browser.new_context(base_url=address) as context:
        yield await context.new_page()


@SCHEMES
async def test_weighted_pages_are_accessible(tab: Page, scheme: Scheme) -> None:
    await tab.emulate_media(color_scheme=scheme)
    faults = {}

    for path in PATHS:
        await tab.goto(path)
        faults[path] = await faults_of(tab)

    assert {path: found for path, found in faults.items() if found} == {}


async def test_nothing_is_wider_than_a_small_phone(tab: Page) -> None:
    await tab.set_viewport_size({"width": 360, "height": 740})
    widths = {}

    for path in PATHS:
        await tab.goto(path)
        widths[path] = await tab.evaluate("document.documentElement.scrollWidth")

    assert widths == dict.fromkeys(widths, 360)


async def test_a_reader_says_which_answer_is_the_best(tab: Page) -> None:
    await tab.goto(LAST)
    await tab.locator("#answers summary").first.click()

    await tab.get_by_role("button", name="The best answer to me").first.click()

    await expect(tab.get_by_text("so this vote is not blind")).to_be_visible()
    pressed = tab.locator('#answers button[aria-pressed="true"]')
    await expect(pressed).to_have_count(1)
