"""The page on bias in a real browser: for everybody, on a phone, in the dark, by keyboard."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.bot.bakeoffs.builders import packed_all, runs_of
from tests.bot.render.bias.builders import a_report
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browser.test_everybody import SCHEMES, Scheme, faults_of
from tests.bot.web.test_reports_bias import site_with

pytestmark = pytest.mark.asyncio(loop_scope="session")

OPEN_ALL = "document.querySelectorAll('details').forEach((d) => (d.open = true))"
BOXES = (
    "[...document.querySelectorAll('.chart')].map((chart) => "
    "[...chart.querySelectorAll('text')].map((text) => {"
    " const box = text.getBoundingClientRect();"
    " return [text.textContent, box.left, box.top, box.right, box.bottom] }))"
)


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def address(browser: Browser) -> AsyncIterator[str]:
    """Return the address of a site whose judges have every bias there is, or none."""
    site = site_with(a_report(majority="qwen"))
    await site.context.app.bakeoff_stores.records.save(packed_all([*runs_of("sql", 2)]))
    async with serve_in_process(site) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, address: str) -> AsyncIterator[Page]:
    """Return a tab that shows the page."""
    async with await browser.new_context(base_url=address) as context:
        page = await context.new_page()
        await page.goto("/bias")
        yield page


@SCHEMES
async def test_the_bias_report_is_accessible(page: Page, scheme: Scheme) -> None:
    await page.emulate_media(color_scheme=scheme)
    await page.evaluate(OPEN_ALL)

    assert await faults_of(page) == []


async def test_nothing_is_wider_than_a_small_phone(page: Page) -> None:
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.evaluate(OPEN_ALL)

    width = await page.evaluate("document.documentElement.scrollWidth")
    sizes = await page.evaluate(
        "[...document.querySelectorAll('.chart text')]"
        ".map((text) => text.getBoundingClientRect().height)"
    )

    assert width == 360
    assert min(sizes) > 9


async def test_no_texts_of_a_chart_overlap(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 800})

    charts = await page.evaluate(BOXES)

    over = [
        (one[0], other[0])
        for boxes in charts
        for at, one in enumerate(boxes)
        for other in boxes[at + 1 :]
        if one[1] < other[3] and other[1] < one[3] and one[2] < other[4] and other[2] < one[4]
    ]
    assert len(charts) == 3
    assert over == []


async def test_a_charts_table_opens_by_keyboard(page: Page) -> None:
    summary = page.locator("summary", has_text="The same as a table").first
    await summary.focus()

    await page.keyboard.press("Enter")

    await expect(
        page.get_by_role("region", name="Who gave what to whom, as a table")
    ).to_be_visible()


async def test_every_line_of_the_figures_has_an_ink_in_the_dark_and_in_the_light(
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
