"""The bias report in a real browser: accessible, on a phone, in the dark, by keyboard."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.bot.bakeoffs.builders import packed_all, runs_of
from tests.bot.render.bias.builders import a_report
from tests.bot.web.browser.accessibility import (
    PHONE,
    VIEWS,
    Scheme,
    View,
    faults_of,
    overlapping_texts,
    set_view,
    smallest_text,
)
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.test_reports_bias import site_with

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def address(browser: Browser) -> AsyncIterator[str]:
    """Yield the address of a site whose judges have every bias, or none."""
    site = site_with(a_report(majority="qwen"))
    await site.context.app.bakeoff_stores.records.save(packed_all([*runs_of("sql", 2)]))
    async with serve_in_process(site) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="package")
async def page(page: Page) -> Page:
    """Return a page that shows the report."""
    await page.goto("/bias")
    return page


@VIEWS
async def test_the_bias_report_is_accessible(page: Page, view: View) -> None:
    await set_view(page, view)

    assert await faults_of(page) == []


async def test_the_charts_texts_are_legible_on_a_phone(page: Page) -> None:
    await set_view(page, PHONE)
    await page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")

    assert await page.locator(".chart").count() == 3
    assert await overlapping_texts(page) == []
    assert await smallest_text(page) > 9


@pytest.mark.nightly
async def test_a_charts_table_opens_by_keyboard(page: Page) -> None:
    summary = page.locator("summary", has_text="The same as a table").first
    await summary.focus()

    await page.keyboard.press("Enter")

    await expect(
        page.get_by_role("region", name="Who gave what to whom, as a table")
    ).to_be_visible()


async def test_every_line_of_the_charts_has_a_colour_in_light_and_dark(
    page: Page,
) -> None:
    schemes: tuple[Scheme, ...] = ("light", "dark")
    bare = {}

    for scheme in schemes:
        await page.emulate_media(color_scheme=scheme)
        bare[scheme] = await page.evaluate(
            "[...document.querySelectorAll('.chart line, .chart polyline')]"
            ".filter((mark) => getComputedStyle(mark).stroke === 'none').length"
        )

    assert bare == {"light": 0, "dark": 0}
