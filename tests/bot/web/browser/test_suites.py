"""Suites in a real browser: added, looked at, kept, for everybody, on a phone and in the dark."""

from typing import Literal

import pytest
from playwright.async_api import Page, expect

from tests.bot.web.browser.actions import ask, wait_until_closed
from tests.bot.web.browser.test_everybody import faults_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

LINES = "\n".join(["What is 6 x 7?", "Which queue is right for us? " * 20, f"Why {'w' * 300}?"])
WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
Scheme = Literal["light", "dark"]


async def _kept(page: Page, name: str) -> None:
    await page.goto("/suites")
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Or questions, one a line").fill(LINES)
    await page.get_by_role("button", name="Look at it").click()
    await expect(page.get_by_role("heading", name=f"Keep suite {name}?")).to_be_visible()
    await page.get_by_role("button", name="Keep it").click()
    await expect(page.get_by_text(f"Suite {name} is kept")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_suite_pages_are_accessible(page: Page, scheme: Scheme) -> None:
    name = f"seen-{scheme}"
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": 360, "height": 740})
    await _kept(page, name)
    faults, wider = {}, {}

    for path in ("/suites", f"/suites/{name}"):
        await page.goto(path)
        faults[path] = await faults_of(page)
        wider[path] = await page.evaluate(WIDER)

    assert not any(faults.values()), faults
    assert not any(wider.values()), wider


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
