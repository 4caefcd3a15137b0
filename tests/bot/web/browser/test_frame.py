"""The frame of every page: navigation first, one row to ask in, nothing that moves."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, ViewportSize, expect

from tests.bot.web.browser.actions import box_of
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browsing import SOMEBODY, a_round_of, make_site

pytestmark = pytest.mark.asyncio(loop_scope="package")

DESKTOP: ViewportSize = {"width": 1280, "height": 860}
PHONE: ViewportSize = {"width": 360, "height": 780}
LAST = "/rounds/abc29"
PATHS = (
    *("/", "/rounds", LAST, f"{LAST}/share", "/models", "/help", "/nowhere"),
    *("/bakeoffs", "/suites", "/schedules", "/leaderboard", "/leaderboard?as=judge", "/bias"),
)
SHIFTS = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) shifts += shift.value;
}).observe({ type: "layout-shift", buffered: true });
"""

TRANSFERRED = "performance.getEntries().reduce((sum, one) => sum + (one.transferSize ?? 0), 0)"


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def address(browser: Browser) -> AsyncIterator[str]:
    """Yield the address of a site with thirty rounds."""
    site = make_site()
    first = a_round_of(SOMEBODY)
    asked = replace(first.question, text="Which queue should a small team use? " * 4)
    for i in range(30):
        asked_at = first.asked_at + timedelta(minutes=i)
        await site.run_round(
            replace(first, id=f"abc{i}", seed=f"s{i}", asked_at=asked_at, question=asked)
        )
    async with serve_in_process(site) as address:
        yield address


async def test_navigation_comes_first_and_a_page_is_few_presses_away(page: Page) -> None:
    await page.set_viewport_size(DESKTOP)
    await page.goto("/")

    rows = page.locator(".rows a")
    names = await rows.all_inner_texts()
    last = await box_of(page, ".rows a:last-child")
    presses = 0
    while await page.evaluate("document.activeElement.textContent") != "Bake-offs":
        await page.keyboard.press("Tab")
        presses += 1
        assert presses < 9

    assert names == ["New question", "Rounds", "Bake-offs", "Leaderboard", "Models", "Help"]
    assert last["y"] + last["height"] < 400
    for line in await page.locator(".recent a").all():
        assert await line.evaluate(
            "(e) => e.clientHeight < 1.9 * parseFloat(getComputedStyle(e).lineHeight)"
        )
    assert await page.evaluate("document.querySelector('.recent').scrollHeight > innerHeight")
    assert await page.evaluate("document.documentElement.scrollHeight <= innerHeight")


async def test_the_answer_has_a_wide_column_and_the_question_one_row(page: Page) -> None:
    await page.set_viewport_size(DESKTOP)
    await page.goto(LAST)

    assert (await box_of(page, "main article"))["width"] >= 620
    assert (await box_of(page, "form.ask"))["height"] <= 72
    await page.get_by_label("Question").fill("One line.\n" * 4)
    assert (await box_of(page, "form.ask"))["height"] > 100
    assert await page.locator("[name=method]").count() == 0
    for path in PATHS:
        if path not in {"/", LAST}:
            await page.goto(path)
            assert await page.locator("form.ask").count() == 0


async def test_on_a_phone_content_starts_at_the_top_and_one_button_opens_the_menu(
    page: Page,
) -> None:
    await page.set_viewport_size(PHONE)
    for path in PATHS:
        await page.goto(path)
        assert (await box_of(page, "main > :first-child"))["y"] <= 64, path
        if await page.locator(".tabs").count():
            row = [
                await box_of(page, one)
                for one in (".home", ".tabs a:first-child", ".tabs a:last-child", ".opens")
            ]
            for left, right in pairwise(row):
                assert left["x"] + left["width"] <= right["x"], path

    link = page.get_by_role("link", name="Models")
    await expect(link).to_be_hidden()
    await page.get_by_role("button", name="Menu").click()
    await link.click()

    await page.wait_for_url("**/models")


async def test_a_round_is_one_line_of_the_list_and_so_are_the_filters(page: Page) -> None:
    await page.set_viewport_size(DESKTOP)
    await page.goto("/rounds")

    heights = await page.evaluate(
        "[...document.querySelectorAll('.found tr')].map((r) => r.offsetHeight)"
    )
    assert max(heights) <= 44
    assert (await box_of(page, ".filters"))["height"] <= 44
    assert await page.locator(".found td:nth-child(4)").first.inner_text() == "someone else"
    cut = "cells => cells.filter((one) => one.scrollWidth > one.clientWidth).length"
    assert await page.locator(".found td:nth-child(4)").evaluate_all(cut) == 0
    assert await page.locator(".filters input").evaluate_all(cut) == 0
    await page.get_by_role("textbox", name="From").fill("11/21/2026")
    await page.get_by_role("button", name="Filter", exact=True).click()
    assert page.url.endswith("/rounds")
    await page.get_by_role("textbox", name="From").fill("2026-11-21")
    await page.get_by_role("button", name="Filter", exact=True).click()
    await page.wait_for_url("**since=2026-11-21**")
    await expect(page.get_by_role("textbox", name="From")).to_have_value("2026-11-21")
    await page.set_viewport_size(PHONE)
    text = page.get_by_role("searchbox")
    await expect(text).to_be_hidden()
    await page.get_by_role("button", name="Filters").click()
    await text.fill("nothing like it")
    await page.get_by_role("button", name="Filter", exact=True).click()
    await expect(page.get_by_role("main")).to_contain_text("No round matches")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_nothing_moves(page: Page, size: ViewportSize) -> None:
    await page.add_init_script(SHIFTS)
    await page.set_viewport_size(size)

    moved = {}
    for path in PATHS:
        await page.goto(path)
        # Two frames later, what the script changed is painted.
        await page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        moved[path] = await page.evaluate("shifts")

    assert {path: shift for path, shift in moved.items() if shift} == {}


async def test_colours_change_at_once_and_stay(page: Page) -> None:
    await page.emulate_media(color_scheme="light")
    await page.goto("/")
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    light = await page.evaluate(paper)

    async with page.expect_response("**/theme"):
        await page.get_by_role("button", name="Dark").click()
    dark = await page.evaluate(paper)
    await page.goto("/help")

    assert light != dark
    assert await page.evaluate(paper) == dark
    async with page.expect_response("**/theme"):
        await page.get_by_role("button", name="As the system").click()
    assert await page.evaluate(paper) == light


async def test_pages_stay_small(page: Page) -> None:
    sizes = []
    for path in ("/", LAST):
        await page.goto(path, wait_until="load")
        sizes.append(await page.evaluate(TRANSFERRED))

    assert sizes[0] <= 120_000
    assert sizes[1] <= 20_000
