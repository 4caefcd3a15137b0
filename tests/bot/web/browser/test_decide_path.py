"""A person's path with a decision on the way: ask, read, decide, share, and who opens the link."""

import json

import pytest
from playwright.async_api import Browser, Page, expect

from tests.bot.web.browser.actions import ANSWER, PANELS, ask, wait_until_closed
from tests.disputes import BROKER, NO, OLD_TEXT, YES, decided_in
from tests.wire.models import Behaviour, ModelServer, Request, Say, by_role, fences, judge
from tests.wire.models import answer as answering

pytestmark = pytest.mark.asyncio(loop_scope="package")


def chairman(request: Request) -> Say:
    """Write the map of a dispute; once somebody decided it, an answer that says so."""
    if decided := decided_in(request.user):
        (_, says), *_ = decided
        claims = {"drawn_on": [], "followed": [{"decision": 1, "quote": f"{says}."}]}
        return Say(f"Settled: {says}.\n{json.dumps(claims)}")
    letters = {
        says: [letter for letter, text in fences(request.user) if says in text]
        for says in (YES, NO)
    }
    positions = [{"labels": labels, "says": says} for says, labels in letters.items()]
    claims = {"drawn_on": [], "disputed": [{"point": BROKER, "positions": positions}]}
    return Say(f"{OLD_TEXT}\n{json.dumps(claims)}")


def member(nth: int) -> Behaviour:
    return by_role(answering(f"{(YES, NO)[nth % 2]}."), judge(), chairman)


async def test_a_person_decides_a_disputed_point_and_shares_the_answer(
    page: Page, browser: Browser, models: ModelServer
) -> None:
    models.script |= {seat: member(nth) for nth, seat in enumerate(PANELS["hostile"])}
    await ask(page, "Is Postgres enough for a job queue?", panel="hostile")
    await wait_until_closed(page)
    await expect(page.locator(ANSWER)).to_contain_text(OLD_TEXT)

    await page.get_by_role("link", name="Decide").click()
    await expect(page.get_by_role("radio")).to_have_count(3)
    await expect(page.get_by_role("main")).to_contain_text("Cost unknown")
    await page.get_by_role("radio", name=YES).check()
    await page.locator("form.decide button[type=submit]").click()
    await expect(page.get_by_role("main")).to_contain_text(f"Settled: {YES}.")

    text = await page.locator("main").inner_text()
    assert text.index(f"Settled: {YES}.") < text.index("Before the decision")
    assert text.index("Before the decision") < text.index(OLD_TEXT)
    await page.get_by_role("link", name="Share").click()
    await page.get_by_role("button", name="Create link").click()
    link = await page.get_by_label("Your link").input_value()
    async with await browser.new_context() as stranger:
        opened = await stranger.new_page()
        await opened.goto(link)
        await expect(opened.get_by_role("main")).to_contain_text(f"Settled: {YES}.")
        await expect(opened.get_by_role("link", name="Decide")).to_have_count(0)
