"""A private round is visible to its asker only."""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.bot.web.browser.actions import ask, wait_until_closed
from tests.bot.web.browser.product import Product

pytestmark = pytest.mark.asyncio(loop_scope="package")

SECRET = "What did the board decide on Friday?"
READS = ("", "/events", "/state", "/round.json", "/round.md")


async def test_a_private_round_is_listed_for_its_asker_and_not_found_by_others(
    page: Page, browser: Browser, product: Product
) -> None:
    path = await ask(page, SECRET, audience="me")
    await wait_until_closed(page)

    await expect(page.get_by_role("main")).to_contain_text("only you can see it")
    await page.goto("/rounds")
    row = page.get_by_role("main").get_by_role("listitem").filter(has_text=SECRET)
    await expect(row.first).to_contain_text("only you")
    async with await browser.new_context(base_url=product.address) as other:
        responses = {read: await other.request.get(path + read) for read in READS}
        pages = [
            await other.request.get(listing) for listing in ("/", "/rounds", "/rounds?q=board")
        ]
        texts = [await response.text() for response in [*responses.values(), *pages]]

    assert {read: found.status for read, found in responses.items()} == dict.fromkeys(READS, 404)
    assert not any("board decide" in text for text in texts)
