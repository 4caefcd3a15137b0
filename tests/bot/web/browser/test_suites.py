"""Suites in a real browser: previewed, stored, accessible."""

import pytest
from playwright.async_api import Page, expect

from tests.bot.web.browser.accessibility import (
    VIEWS,
    View,
    faults_by_path,
    faults_of,
    set_view,
)
from tests.bot.web.browser.actions import ask, wait_until_closed

pytestmark = pytest.mark.asyncio(loop_scope="package")

LINES = "\n".join(["What is 6 x 7?", "Which queue is right for us? " * 20, f"Why {'w' * 300}?"])


async def _add_suite(page: Page, name: str) -> None:
    await page.goto("/suites")
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Or questions, one a line").fill(LINES)
    await page.get_by_role("button", name="Look at it").click()
    await expect(page.get_by_role("heading", name=f"Keep suite {name}?")).to_be_visible()
    await page.get_by_role("button", name="Keep it").click()
    await expect(page.get_by_text(f"Suite {name} is kept")).to_be_visible()


@VIEWS
async def test_suite_pages_are_accessible(page: Page, view: View) -> None:
    name = f"sql-{view}"
    await set_view(page, view)
    await _add_suite(page, name)

    assert await faults_by_path(page, "/suites", f"/suites/{name}") == {}


@pytest.mark.nightly
async def test_a_question_is_added_from_its_round_by_keyboard(page: Page) -> None:
    await ask(page, "Which queue shall we add?")
    await wait_until_closed(page)
    summary = page.get_by_text("Add to suite")
    await summary.focus()
    await page.keyboard.press("Enter")
    await page.get_by_label("Suite: one there is").fill("grown")
    await page.get_by_label("The right answer").fill("42")
    assert not await faults_of(page)

    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", name="Suite grown")).to_be_visible()
    await expect(page.get_by_role("cell", name="Which queue shall we add?")).to_be_visible()
