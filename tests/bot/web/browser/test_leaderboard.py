"""The leaderboard in a real browser: for everybody, on a phone, in the dark, without scripts."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.bot.bakeoffs.builders import packed_all, runs_of
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browser.test_everybody import SCHEMES, Scheme, faults_of
from tests.bot.web.browsing import make_site

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATHS = ("/leaderboard", "/leaderboard?suite=sql", "/leaderboard?suite=sql&as=judge&sort=spoiled")


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def address(browser: Browser) -> AsyncIterator[str]:
    """Return the address of a site whose suite was held four times."""
    site = make_site()
    await site.context.app.bakeoff_stores.records.save(packed_all([*runs_of("sql", 4)]))
    async with serve_in_process(site) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="session")
async def board(browser: Browser, address: str) -> AsyncIterator[Page]:
    """Return a tab."""
    async with await browser.new_context(base_url=address) as context:
        yield await context.new_page()


@SCHEMES
async def test_the_leaderboard_is_accessible(board: Page, scheme: Scheme) -> None:
    await board.emulate_media(color_scheme=scheme)
    faults = {}

    for path in PATHS:
        await board.goto(path)
        faults[path] = await faults_of(board)

    assert {path: found for path, found in faults.items() if found} == {}


async def test_nothing_is_wider_than_a_small_phone(board: Page) -> None:
    await board.set_viewport_size({"width": 360, "height": 740})
    widths = {}

    for path in PATHS:
        await board.goto(path)
        widths[path] = await board.evaluate("document.documentElement.scrollWidth")
    await board.goto(PATHS[1])
    sizes = await board.evaluate(
        "[...document.querySelectorAll('.chart text')]"
        ".map((text) => text.getBoundingClientRect().height)"
    )

    assert widths == dict.fromkeys(widths, 360)
    assert min(sizes) > 9


async def test_no_texts_of_the_chart_overlap(board: Page) -> None:
    await board.set_viewport_size({"width": 390, "height": 800})
    await board.goto(PATHS[1])

    boxes = await board.evaluate(
        "[...document.querySelectorAll('.chart text')].map((text) => {"
        " const box = text.getBoundingClientRect();"
        " return [text.textContent, box.left, box.top, box.right, box.bottom] })"
    )

    over = [
        (one[0], other[0])
        for at, one in enumerate(boxes)
        for other in boxes[at + 1 :]
        if one[1] < other[3] and other[1] < one[3] and one[2] < other[4] and other[2] < one[4]
    ]
    assert over == []


async def test_sorting_works_without_scripts(browser: Browser, address: str) -> None:
    async with await browser.new_context(base_url=address, java_script_enabled=False) as context:
        page = await context.new_page()
        await page.goto(PATHS[1])

        await page.locator(".sortable").get_by_role("link", name="Price").click()

        head = page.locator(".sortable").get_by_role("columnheader", name="Price")
        await expect(head).to_have_attribute("aria-sort", "ascending")
        await expect(page.locator(".sortable tbody tr").first).to_contain_text("mistral/large")


async def test_the_figure_has_its_colours_in_the_dark_and_in_the_light(board: Page) -> None:
    fills = {}

    schemes: tuple[Scheme, ...] = ("light", "dark")
    for scheme in schemes:
        await board.emulate_media(color_scheme=scheme)
        await board.goto(PATHS[1])
        fills[scheme] = await board.evaluate(
            "getComputedStyle(document.querySelector('.chart .f-text')).fill"
        )

    assert fills == {"light": "rgb(29, 28, 26)", "dark": "rgb(236, 233, 226)"}
