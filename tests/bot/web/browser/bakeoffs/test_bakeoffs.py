"""Bake-offs in a real browser: started, followed without reloading, accessible."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from bot.bakeoffs.parts import bakeoff_stores
from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.fakes import a_graded_suite, a_suite
from tests.bot.web.browser.accessibility import VIEWS, View, faults_of, set_view
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browsing import make_site
from tests.builders import ASKED_AT
from tests.fakes.gateway import BlockedGateway

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.fixture(scope="module")
def gateway() -> BlockedGateway:
    """Return models that reply once they are released."""
    return BlockedGateway()


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def address(browser: Browser, gateway: BlockedGateway) -> AsyncIterator[str]:
    """Yield the address of a site with two suites."""
    site = make_site(an_app(gateway))
    for suite in (a_suite(3), a_graded_suite("42", "43")):
        await bakeoff_stores(site.context.app).suites.save(suite, "U1", ASKED_AT)
    async with serve_in_process(site) as address:
        yield address
        gateway.goes_on.set()


async def propose(page: Page, suite: str = "sql") -> None:
    await page.goto("/bakeoffs")
    await page.get_by_label("Suite").select_option(suite)
    await page.get_by_label("Cost limit in dollars").fill("1.50")
    await page.get_by_role("button", name="Estimate cost").click()


async def start(page: Page, suite: str = "sql") -> None:
    await propose(page, suite)
    await page.get_by_role("button", name="Start").click()
    await expect(page.get_by_role("button", name="Cancel")).to_be_visible()


async def test_the_page_of_a_bakeoff_becomes_its_result(
    page: Page, gateway: BlockedGateway
) -> None:
    gateway.goes_on.clear()
    await start(page)
    await expect(page.get_by_text("0 of 3 questions").first).to_be_visible()

    gateway.goes_on.set()

    await expect(page.get_by_text("3 of 3 questions").first).to_be_visible()
    await expect(page.get_by_role("link", name="Question 2?")).to_be_visible()
    await page.get_by_role("link", name="Question 2?").click()
    await expect(page.get_by_role("link", name="a bake-off")).to_be_visible()


@VIEWS
async def test_bakeoff_pages_are_accessible(
    page: Page, gateway: BlockedGateway, view: View
) -> None:
    await set_view(page, view)
    gateway.goes_on.clear()
    faults = {}

    await page.goto("/bakeoffs")
    faults["list"] = await faults_of(page)
    await propose(page, "graded")
    faults["proposal"] = await faults_of(page)
    await page.get_by_role("button", name="Start").click()
    await expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    faults["running"] = await faults_of(page)
    gateway.goes_on.set()
    await expect(page.get_by_text("2 of 2 questions").first).to_be_visible()
    faults["result"] = await faults_of(page)

    assert {name: found for name, found in faults.items() if found} == {}
