"""Bake-offs in a real browser: begun, followed without reloading, on a small phone as well."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.fakes import a_graded_suite, a_suite
from tests.bot.slack.inside import BlockedGateway
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browser.test_everybody import SCHEMES, Scheme, faults_of
from tests.bot.web.browsing import make_site
from tests.builders import ASKED_AT

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass(frozen=True, slots=True)
class House:
    """A site, and the models behind it, which reply once they are let go on."""

    address: str
    gateway: BlockedGateway


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def house(browser: Browser) -> AsyncIterator[House]:
    """Return a site with two suites."""
    gateway = BlockedGateway()
    site = make_site(an_app(gateway))
    bench = site.context.app.bakeoff_stores
    for suite in (a_suite(3), a_graded_suite("42", "43")):
        await bench.suites.save(suite, "U1", ASKED_AT)
    async with serve_in_process(site) as address:
        yield House(address, gateway)
        gateway.goes_on.set()


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, house: House) -> AsyncIterator[Page]:
    async with await browser.new_context(base_url=house.address) as context:
        yield await context.new_page()


async def proposed(tab: Page, suite: str = "sql") -> None:
    await tab.goto("/bakeoffs")
    await tab.get_by_label("Suite").select_option(suite)
    await tab.get_by_label("Most it may cost, in dollars").fill("1.50")
    await tab.get_by_role("button", name="See what it comes to").click()


async def begun(tab: Page, suite: str = "sql") -> None:
    await proposed(tab, suite)
    await tab.get_by_role("button", name="Start").click()
    await expect(tab.get_by_role("button", name="Cancel")).to_be_visible()


async def test_the_page_of_a_bakeoff_becomes_its_result(tab: Page, house: House) -> None:
    house.gateway.goes_on.clear()
    await begun(tab)
    await expect(tab.get_by_text("0 of 3 questions").first).to_be_visible()

    house.gateway.goes_on.set()

    await expect(tab.get_by_text("3 of 3 questions").first).to_be_visible()
    await expect(tab.get_by_role("link", name="Question 2?")).to_be_visible()
    await tab.get_by_role("link", name="Question 2?").click()
    await expect(tab.get_by_role("link", name="a bake-off")).to_be_visible()


async def test_a_bakeoff_is_cancelled_and_resumed(tab: Page, house: House) -> None:
    house.gateway.goes_on.clear()
    await begun(tab)

    await tab.get_by_role("button", name="Cancel").click()
    await expect(tab.get_by_text("It was cancelled.")).to_be_visible()
    house.gateway.goes_on.set()
    await tab.get_by_role("button", name="Go on").click()

    await expect(tab.get_by_text("3 of 3 questions").first).to_be_visible()


@SCHEMES
async def test_bakeoff_pages_are_accessible(tab: Page, house: House, scheme: Scheme) -> None:
    await tab.emulate_media(color_scheme=scheme)
    house.gateway.goes_on.clear()
    faults = {}

    await tab.goto("/bakeoffs")
    faults["list"] = await faults_of(tab)
    await proposed(tab, "graded")
    faults["proposal"] = await faults_of(tab)
    await tab.get_by_role("button", name="Start").click()
    await expect(tab.get_by_role("button", name="Cancel")).to_be_visible()
    faults["running"] = await faults_of(tab)
    house.gateway.goes_on.set()
    await expect(tab.get_by_text("2 of 2 questions").first).to_be_visible()
    faults["result"] = await faults_of(tab)

    assert {page: found for page, found in faults.items() if found} == {}


async def test_nothing_is_wider_than_a_small_phone(tab: Page, house: House) -> None:
    await tab.set_viewport_size({"width": 360, "height": 740})
    house.gateway.goes_on.set()
    widths = []

    await tab.goto("/bakeoffs")
    widths.append(await width_of(tab))
    await proposed(tab)
    widths.append(await width_of(tab))
    await tab.get_by_role("button", name="Start").click()
    await expect(tab.get_by_text("3 of 3 questions").first).to_be_visible()
    widths.append(await width_of(tab))

    assert widths == [360, 360, 360]


async def width_of(tab: Page) -> int:
    width: int = await tab.evaluate("document.documentElement.scrollWidth")
    return width
