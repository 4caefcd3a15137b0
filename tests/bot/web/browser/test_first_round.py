"""The first visit: who answers, a question, its progress, the answer and what is behind it."""

import pytest
from playwright.async_api import Page, expect

from bot.render.round_report import DISCLAIMER
from tests.bot.web.browser.actions import ANSWER, RECORDER, ask, wait_until_closed

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_running_round_shows_every_step_and_the_answer_as_it_is_written(page: Page) -> None:
    await page.add_init_script(RECORDER)

    await ask(page, "How does it look while it runs?", panel="slow")
    await wait_until_closed(page)

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
    parts = "h1", ANSWER, ".acts", ".figure", ".checks"
    tops = [
        await page.locator(part).first.evaluate("(e) => e.getBoundingClientRect().top")
        for part in parts
    ]
    assert tops == sorted(tops)
    under = page.locator(".acts").first
    buttons = under.get_by_role("link").or_(under.locator("button"))
    assert await buttons.all_inner_texts() == [
        "Answers",
        "Rankings",
        "Run again",
        "Markdown",
        "JSON",
    ]
