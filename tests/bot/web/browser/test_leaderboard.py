"""The leaderboard in a real browser: accessible, on a phone, in the dark."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.bot.bakeoffs.builders import packed_all, runs_of
from tests.bot.web.browser.accessibility import (
    PHONE,
    VIEWS,
    Scheme,
    View,
    faults_by_path,
    overlapping_texts,
    set_view,
    smallest_text,
)
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browsing import make_site

pytestmark = pytest.mark.asyncio(loop_scope="package")

PATHS = ("/leaderboard", "/leaderboard?suite=sql", "/leaderboard?suite=sql&as=judge&sort=spoiled")


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def address(browser: Browser) -> AsyncIterator[str]:
    """Yield the address of a site with four runs of a suite."""
    site = make_site()
    await site.context.app.bakeoff_stores.records.save(packed_all([*runs_of("sql", 4)]))
    async with serve_in_process(site) as address:
        yield address


@VIEWS
async def test_the_leaderboard_is_accessible(page: Page, view: View) -> None:
    await set_view(page, view)

    assert await faults_by_path(page, *PATHS) == {}


async def test_the_charts_texts_are_legible_on_a_phone(page: Page) -> None:
    await set_view(page, PHONE)
    await page.goto(PATHS[1])

    assert await overlapping_texts(page) == []
    assert await smallest_text(page) > 9


async def test_the_figure_has_its_colours_in_the_dark_and_in_the_light(page: Page) -> None:
    fills = {}

    schemes: tuple[Scheme, ...] = ("light", "dark")
    for scheme in schemes:
        await page.emulate_media(color_scheme=scheme)
        await page.goto(PATHS[1])
        fills[scheme] = await page.evaluate(
            "getComputedStyle(document.querySelector('.chart .f-text')).fill"
        )

    assert fills == {"light": "rgb(29, 28, 26)", "dark": "rgb(236, 233, 226)"}
