"""Schedules in a real browser: accessible, by keyboard, without scripts."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from council.bakeoffs.models import Suite, SuiteQuestion
from tests.bot.web.browser.accessibility import VIEWS, View, faults_of, set_view
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browsing import make_site

pytestmark = pytest.mark.asyncio(loop_scope="package")

SQL = Suite("sql", (SuiteQuestion("Why WAL?"),))
NAME = "a-name-as-long-as-names-may-be-of-sixty-letters-and-no-spaces"[:60]


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def address(browser: Browser) -> AsyncIterator[str]:
    """Yield the address of a site with a suite and no schedule."""
    site = make_site()
    await site.context.app.bakeoff_stores.suites.save(SQL, "", datetime.now(UTC))
    async with serve_in_process(site) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="package")
async def page_without_scripts(browser: Browser, address: str) -> AsyncIterator[Page]:
    """Yield a page without scripts: nothing here needs them."""
    async with await browser.new_context(base_url=address, java_script_enabled=False) as context:
        yield await context.new_page()


@pytest.mark.nightly
async def test_a_schedule_is_added_in_words_and_paused_by_the_keyboard(
    page_without_scripts: Page,
) -> None:
    await page_without_scripts.goto("/")
    await page_without_scripts.get_by_role("link", name="Schedules").click()
    field = page_without_scripts.get_by_label("A name, a suite, and when, in words")
    await field.fill(f"{NAME} suite:sql every monday")
    await field.press("Enter")
    await expect(page_without_scripts.get_by_role("alert")).to_contain_text("At what time?")
    await field.fill(f"{NAME} suite:sql every monday 09:00 Europe/Budapest")
    await field.press("Enter")

    await expect(page_without_scripts.get_by_role("status")).to_contain_text(
        "Every Monday at 09:00"
    )
    await expect(
        page_without_scripts.get_by_text("09:00 (Europe/Budapest). Last run: none yet.")
    ).to_be_visible()
    await page_without_scripts.get_by_role("button", name=f"Pause: {NAME}").focus()
    await page_without_scripts.keyboard.press("Enter")

    await expect(page_without_scripts.get_by_role("heading", name=NAME)).to_contain_text("paused")
    await expect(page_without_scripts.get_by_role("button", name=f"Resume: {NAME}")).to_be_visible()


@VIEWS
async def test_the_schedules_page_is_accessible(page: Page, view: View) -> None:
    await set_view(page, view)
    await page.goto("/schedules")
    field = page.get_by_label("A name, a suite, and when, in words")
    await field.fill(f"weekly-{view} suite:sql every monday 09:00 Europe/Budapest")
    await field.press("Enter")

    await page.goto("/schedules")

    # The times are in the schedule's zone, whatever zone the reader is in.
    await expect(page.get_by_text("09:00 (Europe/Budapest). Last run").first).to_be_visible()
    assert await faults_of(page) == []
