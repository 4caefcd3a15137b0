"""A round for its asker alone is not there for anybody else, by any way in."""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.bot.web.browser.actions import ask, wait_until_closed
from tests.bot.web.browser.product import Product

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "What did the board decide on Friday?"
WAYS = ("", "/events", "/state", "/round.json", "/round.md")


async def test_a_private_round_says_so_to_its_asker_and_is_in_the_list(page: Page) -> None:
    await ask(page, SECRET, audience="me")
    await wait_until_closed(page)

    await expect(page.get_by_role("main")).to_contain_text("only you can see it")
    await page.goto("/rounds")
    row = page.get_by_role("main").get_by_role("listitem").filter(has_text=SECRET)
    await expect(row.first).to_contain_text("only you")


@pytest.mark.parametrize("panel", ["quick", "slow"])
async def test_a_private_round_is_not_found_by_others(
    page: Page, browser: Browser, product: Product, panel: str
) -> None:
    path = await ask(page, SECRET, panel=panel, audience="me")
    if panel == "quick":
        await wait_until_closed(page)

    async with await browser.new_context(base_url=product.address) as other:
        found = {way: await other.request.get(path + way) for way in WAYS}
        stranger = await other.new_page()
        shown = []
        for listing in ("/", "/rounds", "/rounds?q=board"):
            await stranger.goto(listing)
            shown.append(await stranger.content())

        shown += [await answer.text() for answer in found.values()]
        assert {way: answer.status for way, answer in found.items()} == dict.fromkeys(WAYS, 404)
        assert not any("board decide" in text for text in shown)


async def test_nobody_else_can_stop_a_round_or_ask_in_anothers_name(
    page: Page, browser: Browser, product: Product
) -> None:
    path = await ask(page, "Whose is it?", panel="slow")
    token = await page.locator("[name=token]").first.input_value()

    async with await browser.new_context(base_url=product.address) as other:
        stranger = await other.new_page()
        await stranger.goto(path)
        await expect(stranger.get_by_role("button", name="Stop")).to_have_count(0)
        refused = [
            await other.request.post(path + act, form={"token": token})
            for act in ("/stop", "/resume", "/again")
        ]

        assert [answer.status for answer in refused] == [403, 403, 403]
    await wait_until_closed(page)
