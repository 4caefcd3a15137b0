"""A whole round through the page on the models that install with it: `council serve --local`."""

import pytest
from playwright.async_api import Browser, expect

from tests.bot.homes import Home
from tests.bot.test_local_models import LONGEST_SECONDS, MODELS
from tests.bot.web.browser.actions import ANSWER
from tests.bot.web.browser.product import serve_product


@pytest.mark.nightly
@pytest.mark.local_models
@pytest.mark.asyncio(loop_scope="package")
async def test_the_demonstration_models_complete_a_round(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = Home(tmp_path_factory.mktemp("local"), {"COUNCIL_MODEL_DIR": MODELS}).with_config("")
    async with serve_product(home, "--local") as product:
        page = await browser.new_page(base_url=product.address)
        await page.goto("/")
        await expect(page.get_by_role("main")).to_contain_text("Demo models: expect mistakes")
        await page.get_by_label("Question").fill("Why is the sky blue?")
        await page.keyboard.press("Enter")
        await expect(page.locator("#answers")).to_be_attached(timeout=LONGEST_SECONDS * 1000)

        answered = await page.locator("#answers details").count()
        written = await page.locator(f"{ANSWER} .prose").inner_text()
        said = await page.locator(ANSWER).inner_text()
        await page.context.close()

    assert answered == 3
    assert len(written) > 20
    assert "demo models, one of them in two seats" in said
