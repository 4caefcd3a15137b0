"""A newcomer's path in ten steps, from `council serve --local` to a link that a colleague opens."""

import pytest
from playwright.async_api import Browser, expect

from bot.settings.default_panels import DEMO_QUESTIONS
from tests.bot.cli.test_main_local_models import LOCAL_SETTINGS, LONGEST_SECONDS
from tests.bot.homes import Home
from tests.bot.web.browser.actions import ANSWER
from tests.bot.web.browser.product import serve_product


@pytest.mark.local_models
@pytest.mark.asyncio(loop_scope="package")
async def test_a_newcomer_gets_from_the_start_to_a_shared_link(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = Home(tmp_path_factory.mktemp("local"), LOCAL_SETTINGS).with_config("")
    longest = LONGEST_SECONDS * 1000
    async with serve_product(home, "--local", fresh=True) as product:  # 1. start
        page = await browser.new_page(base_url=product.address)
        await page.goto("/")  # 2. open the page
        await expect(page.get_by_role("main")).to_contain_text("Demo models: expect mistakes")
        connect = page.get_by_role("link", name="Connect real ones")
        assert await connect.get_attribute("href") == "/models#connect"

        await page.get_by_role("button", name=DEMO_QUESTIONS[0]).click()  # 3. ask
        blind = page.locator(".blind .prose").first  # 4. read an answer before anyone is named
        await expect(blind).to_be_visible(timeout=longest)
        await expect(page.locator("#answers")).to_be_attached(timeout=longest)

        said = await page.locator(ANSWER).inner_text()  # 5. read the winning answer
        assert "put it first" not in said
        assert len(await page.locator(f"{ANSWER} .prose").first.inner_text()) > 1
        assert await page.locator("#answers details").count() == 3
        await page.locator("#answers summary").first.click()  # 6. look at the others
        await page.locator("#answers button").first.click()  # 7. mark the best one
        await expect(page.locator("#answers [aria-pressed=true]")).to_have_count(1)

        shared = page.url
        await page.get_by_label("Question").fill("And what is the capital of Italy?")
        await page.get_by_role("button", name="Ask", exact=True).click()  # 8. follow up
        await expect(page.locator(".turns")).to_contain_text(DEMO_QUESTIONS[0])
        await page.get_by_role("button", name="Stop").click()

        await page.goto(shared)
        await page.get_by_role("link", name="Share").click()  # 9. share
        await page.get_by_role("button", name="Create link").click()
        link = await page.get_by_label("Your link").input_value()
        colleague = await browser.new_page()
        await colleague.goto(link)  # 10. a colleague opens the link
        await expect(colleague.locator("h1")).to_have_text(DEMO_QUESTIONS[0])
        assert await colleague.get_by_label("Question").count() == 0
        await page.context.close()
        await colleague.context.close()
