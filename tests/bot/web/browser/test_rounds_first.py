"""The first visit: who answers, a question, its progress, the answer and what is behind it."""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from bot.render.round_report.thread import DISCLAIMER
from bot.web.auth import REVOKED_LINK
from tests.bot.app_fakes import BUTTONS
from tests.bot.web.browser.accessibility import faults_of
from tests.bot.web.browser.actions import ANSWER, PANELS, RECORDER, ask, wait_until_closed
from tests.wire.models import ModelServer, answer, by_role, judge

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_running_round_shows_every_step_and_the_answer_as_it_is_written(
    page: Page, closed_round: str
) -> None:
    assert closed_round  # a first round has loaded what the program loads once
    await page.add_init_script(RECORDER)

    await ask(page, "How does it look while it runs?", panel="slow")
    assert (await page.title()).startswith("… How does it look")
    await page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
    await wait_until_closed(page)
    assert (await page.title()).startswith("✓ How does it look")

    seen = await page.evaluate("seen")
    counts = [f"{n} of 4 models answered" for n in range(5)]
    votes = [f"{n} of 4 judges voted" for n in range(5)]
    assert seen["summaries"] == [*counts, *votes, "Writing the answer"]
    assert len(seen["drafts"]) > 3
    assert "word-1" in seen["drafts"][-1]
    assert all(seen["drafts"][-1].startswith(draft) for draft in seen["drafts"])
    assert not seen["lost"]


async def test_the_answer_comes_first_then_its_caution_then_the_buttons(
    page: Page, closed_round: str
) -> None:
    await page.goto(closed_round)

    article = page.locator(ANSWER)
    await expect(article.locator("em")).to_have_text("one")
    await expect(article).to_contain_text(DISCLAIMER)
    parts = "h1", ANSWER, ".verdict", ".acts", ".facts"
    tops = [
        await page.locator(part).first.evaluate("(e) => e.getBoundingClientRect().top")
        for part in parts
    ]
    assert tops == sorted(tops)
    under = page.locator(".acts").first
    shown = [text async for text in visible_texts(under.locator("a, summary, button"))]
    added = [label for _, label in BUTTONS.round_buttons]  # by plug-ins
    named = ["Copy", "Answers", "Rankings", *added, "Share"]
    assert shown == [*named, "⋯\nMore"]


async def test_the_answer_and_its_code_can_be_copied(
    page: Page, models: ModelServer, closed_round: str
) -> None:
    written = "Take **this**:\n\n```python\nprint(1)\n```\n"
    writes = by_role(answer(written), judge(), answer(written))
    models.script |= dict.fromkeys(PANELS["hostile"], writes)
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await ask(page, "What can be copied?", panel="hostile")
    await wait_until_closed(page)

    await page.get_by_role("button", name="Copy", exact=True).click()
    whole = await page.evaluate("navigator.clipboard.readText()")
    await page.locator("main").get_by_role("button", name="Copy this code").click()

    assert whole.strip() == written.strip()
    assert await page.evaluate("navigator.clipboard.readText()") == "print(1)\n"


async def visible_texts(elements: Locator) -> AsyncIterator[str]:
    for element in await elements.all():
        if await element.is_visible():
            yield await element.inner_text()


async def test_a_person_reads_blind_answers_marks_the_best_and_shares_the_page(
    page: Page, browser: Browser
) -> None:
    await page.add_init_script(RECORDER)
    await ask(page, "What is there to read while it runs?", panel="slow")
    await expect(page.locator(".blind .prose").first).to_be_visible()
    assert await page.locator("#answers").count() == 0
    await expect(page.locator(".blind .tag", has_text=re.compile("[K-Z]"))).to_have_count(4)
    await page.evaluate("seen.shifts = 0")
    await expect(page.locator("#draft")).to_contain_text("word-20")
    assert await page.evaluate("seen.shifts") == 0
    await wait_until_closed(page)

    await page.get_by_role("button", name="Mark as best").nth(2).click()
    await expect(page.get_by_role("button", name="Your best answer")).to_have_count(1)
    await page.get_by_role("link", name="Share").click()
    await page.get_by_role("button", name="Create link").click()
    link = await page.get_by_label("Your link").input_value()
    async with await browser.new_context() as context:
        reader = await context.new_page()
        await reader.goto(link)
        await expect(reader.locator(ANSWER)).to_contain_text("word-30")
        assert await faults_of(reader) == []
        assert await reader.locator("form, nav").count() == 0

        await page.get_by_role("button", name="Revoke").click()
        await expect(page.get_by_role("button", name="Revoke")).to_have_count(0)
        await reader.reload()
        await expect(reader.get_by_role("main")).to_contain_text(REVOKED_LINK)
