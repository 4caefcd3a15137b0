"""Suites, schedules, reports and votes in a real browser: accessible, on a phone, in the dark."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from bot.bakeoffs.parts import bakeoff_stores
from tests.bot.bakeoffs.builders import packed_all, runs_of
from tests.bot.bakeoffs.fakes import a_graded_suite
from tests.bot.bakeoffs.render.bias.builders import a_report
from tests.bot.bakeoffs.web.test_reports_bias import site_with
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
from tests.bot.web.browsing import SOMEBODY, a_round_of
from tests.builders import ASKED_AT

pytestmark = pytest.mark.asyncio(loop_scope="package")

LAST, SUITE_BOARD = "/rounds/abc11", "/leaderboard?suite=sql"
PATHS = (
    "/suites",
    "/suites/graded",
    "/suites/graded/edit",
    "/schedules",
    "/bias",
    "/bias/charts",
    LAST,
    f"{LAST}/beside",
    "/leaderboard",
    SUITE_BOARD,
    f"{SUITE_BOARD}&as=judge&sort=spoiled",
    "/leaderboard?weights=peerrank",
    "/leaderboard?weights=human",
)
CHARTS = {SUITE_BOARD: 1, "/bias/charts": 3}


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def address(browser: Browser) -> AsyncIterator[str]:
    """Yield the address of a site with rounds, runs of a suite, a suite, and every bias."""
    site = site_with(a_report(majority="qwen"))
    stores = bakeoff_stores(site.context.app)
    await stores.suites.save(a_graded_suite("42", "43"), "U1", ASKED_AT)
    await stores.records.save(packed_all([*runs_of("sql", 4)]))
    first = a_round_of(SOMEBODY)
    for i in range(12):
        asked_at = first.asked_at + timedelta(minutes=i)
        await site.run_round(replace(first, id=f"abc{i}", seed=f"s{i}", asked_at=asked_at))
    async with serve_in_process(site) as address:
        yield address


@VIEWS
async def test_pages_are_accessible(page: Page, view: View) -> None:
    await set_view(page, view)
    await page.goto("/schedules")
    field = page.get_by_label("Name")
    await field.fill(f"weekly-{view}")
    await page.get_by_label("Time zone").fill("Europe/Budapest")
    await expect(page.locator("#runs")).to_contain_text("(Europe/Budapest)")
    await field.press("Enter")
    # The times are in the schedule's zone, whatever zone the reader is in.
    await expect(page.get_by_text("09:00 (Europe/Budapest). Last run").first).to_be_visible()

    assert await faults_by_path(page, *PATHS) == {}


async def test_a_suite_is_dropped_edited_and_saved(page: Page, address: str) -> None:
    await page.goto("/suites")
    await page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["Why?\\nHow?\\n"], "my questions.txt"));
          document.querySelector("form[data-drop] textarea")
            .dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
        }"""
    )
    await page.get_by_role("button", name="Preview").click()
    await page.get_by_role("button", name="Remove question 1").click()
    await page.get_by_role("button", name="Add a question").click()
    await page.keyboard.type("When?")
    await page.get_by_role("button", name="Save").click()

    await expect(page.locator("h1")).to_have_text("Suite my-questions")
    assert await page.locator("tbody td:nth-child(2)").all_text_contents() == ["How?", "When?"]


@pytest.mark.parametrize("path", CHARTS)
async def test_the_charts_texts_are_legible_on_a_phone(page: Page, path: str) -> None:
    await set_view(page, PHONE)
    await page.goto(path)
    await page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")

    assert await page.locator(".chart").count() == CHARTS[path]
    assert await overlapping_texts(page) == []
    assert await smallest_text(page) > 9


async def test_charts_have_their_colours_in_light_and_dark(page: Page) -> None:
    schemes: tuple[Scheme, ...] = ("light", "dark")
    fills, bare = [], []

    for scheme in schemes:
        await page.emulate_media(color_scheme=scheme)
        await page.goto(SUITE_BOARD)
        fills.append(
            await page.evaluate("getComputedStyle(document.querySelector('.chart .f-text')).fill")
        )
        await page.goto("/bias/charts")
        bare.append(
            await page.evaluate(
                "[...document.querySelectorAll('.chart line, .chart polyline')]"
                ".filter((mark) => getComputedStyle(mark).stroke === 'none').length"
            )
        )

    assert fills == ["rgb(29, 28, 26)", "rgb(236, 233, 226)"]
    assert bare == [0, 0]
