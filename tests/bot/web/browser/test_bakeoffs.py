"""Bake-offs in a real browser: started, followed without reloading, accessible."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.fakes import a_graded_suite, a_suite
from tests.bot.slack.inside import BlockedGateway
from tests.bot.web.browser.accessibility import VIEWS, View, faults_of, set_view
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browsing import make_site
from tests.builders import ASKED_AT

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass(frozen=True, slots=True)
class BlockedSite:
    """A site whose models reply once the gateway is released."""

    address: str
    gateway: BlockedGateway


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def site(browser: Browser) -> AsyncIterator[BlockedSite]:
    """Yield a site with two suites."""
    gateway = BlockedGateway()
    served = make_site(an_app(gateway))
    suites = served.context.app.bakeoff_stores.suites
    for suite in (a_suite(3), a_graded_suite("42", "43")):
        await suites.save(suite, "U1", ASKED_AT)
    async with serve_in_process(served) as address:
        yield BlockedSite(address, gateway)
        gateway.goes_on.set()


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, site: BlockedSite) -> AsyncIterator[Page]:
    async with await browser.new_context(base_url=site.address) as context:
        yield await context.new_page()


async def propose(tab: Page, suite: str = "sql") -> None:
    await tab.goto("/bakeoffs")
    await tab.get_by_label("Suite").select_option(suite)
    await tab.get_by_label("Most it may cost, in dollars").fill("1.50")
    await tab.get_by_role("button", name="See what it comes to").click()


async def start(tab: Page, suite: str = "sql") -> None:
    await propose(tab, suite)
    await tab.get_by_role("button", name="Start").click()
    await expect(tab.get_by_role("button", name="Cancel")).to_be_visible()


async def test_the_page_of_a_bakeoff_becomes_its_result(tab: Page, site: BlockedSite) -> None:
    site.gateway.goes_on.clear()
    await start(tab)
    await expect(tab.get_by_text("0 of 3 questions").first).to_be_visible()

    site.gateway.goes_on.set()

    await expect(tab.get_by_text("3 of 3 questions").first).to_be_visible()
    await expect(tab.get_by_role("link", name="Question 2?")).to_be_visible()
    await tab.get_by_role("link", name="Question 2?").click()
    await expect(tab.get_by_role("link", name="a bake-off")).to_be_visible()


@pytest.mark.nightly
async def test_a_bakeoff_is_cancelled_and_resumed(tab: Page, site: BlockedSite) -> None:
    site.gateway.goes_on.clear()
    await start(tab)

    await tab.get_by_role("button", name="Cancel").click()
    await expect(tab.get_by_text("It was cancelled.")).to_be_visible()
    site.gateway.goes_on.set()
    await tab.get_by_role("button", name="Go on").click()

    await expect(tab.get_by_text("3 of 3 questions").first).to_be_visible()


@VIEWS
async def test_bakeoff_pages_are_accessible(tab: Page, site: BlockedSite, view: View) -> None:
    await set_view(tab, view)
    site.gateway.goes_on.clear()
    faults = {}

    await tab.goto("/bakeoffs")
    faults["list"] = await faults_of(tab)
    await propose(tab, "graded")
    faults["proposal"] = await faults_of(tab)
    await tab.get_by_role("button", name="Start").click()
    await expect(tab.get_by_role("button", name="Cancel")).to_be_visible()
    faults["running"] = await faults_of(tab)
    site.gateway.goes_on.set()
    await expect(tab.get_by_text("2 of 2 questions").first).to_be_visible()
    faults["result"] = await faults_of(tab)

    assert {page: found for page, found in faults.items() if found} == {}
