"""The first visit: who answers, a question, its progress, the answer and what is behind it."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.bot.web.browser.actions import ANSWER, RECORDER, ask, wait_until_closed

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_the_first_page_says_who_answers_who_receives_and_how_to_add_a_key(
    page: Page,
) -> None:
    await page.goto("/")

    row = page.get_by_role("row").filter(has_text="slow")
    await expect(row).to_contain_text("Slow A, Slow B, Slow C, Slow D")
    await expect(row).to_contain_text("this machine")
    await expect(page.get_by_role("main")).to_contain_text("ANTHROPIC_API_KEY=…")
    await expect(page.get_by_role("main")).to_contain_text(".env")


async def test_a_running_round_shows_every_step_and_the_answer_as_it_is_written(
    page: Page,
) -> None:
    await page.add_init_script(RECORDER)

    await ask(page, "How does it look while it runs?", panel="slow")
    await wait_until_closed(page)

    seen = await page.evaluate("seen")
    counts = [f"{n} of 4 members answered" for n in range(5)]
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
    await expect(article).to_contain_text("written by AI, check what matters")
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
        "Ballots",
        "Run again",
        "Markdown",
        "JSON",
    ]


async def test_the_thread_has_the_borda_table_the_ballots_and_the_answers(
    page: Page, closed_round: str
) -> None:
    await page.goto(closed_round)

    thread = page.get_by_role("complementary", name="Thread")
    table = thread.get_by_role("table")
    assert await table.get_by_role("columnheader").all_inner_texts() == [
        "Place",
        *("Response", "Author", "Points", "First votes", "Time", "Cost"),
    ]
    await expect(table.locator("tbody tr")).to_have_count(4)
    await expect(table.locator("tbody tr").first).to_contain_text(re.compile(r"\d of 6"))
    lines = await thread.locator(".ballots .line").all_inner_texts()
    assert len(lines) == 4
    ballot = r"Slow.a saw ([K-Z]) ([K-Z]) ([K-Z]) and ranked \1 > \2 > \3"
    assert re.fullmatch(ballot, lines[0], re.IGNORECASE)
    await expect(thread.locator("blockquote").first).to_have_text("Because slow-a thinks so.")
    assert await thread.locator("details[open]").count() == 0
    await page.get_by_role("link", name="Answers", exact=True).click()
    await expect(thread.locator("details[open] strong")).to_have_count(4)


@pytest.mark.nightly
async def test_a_round_is_stopped_and_resumed(page: Page) -> None:
    await ask(page, "May it stop?", panel="slow")

    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_role("main")).to_contain_text("stopped before its end")
    await page.get_by_role("button", name="Go on").click()
    await wait_until_closed(page)

    await expect(page.locator(ANSWER)).to_contain_text("word-30")
