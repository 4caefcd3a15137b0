"""Saying whether a round helped: on a phone, and without JavaScript."""

import pytest
from playwright.async_api import Browser, expect

from tests.bot.web.browser.product import Product

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.mark.parametrize(
    "scripts", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["no-scripts", "scripts"]
)
async def test_a_phone_can_say_that_it_did_not_help_and_why(
    browser: Browser, product: Product, closed_round: str, *, scripts: bool
) -> None:
    context = await browser.new_context(
        base_url=product.address,
        java_script_enabled=scripts,
        viewport={"width": 360, "height": 740},
    )
    async with context:
        page = await context.new_page()
        await page.goto(closed_round)

        await page.get_by_role("button", name="Not helpful").click()
        await page.get_by_label("Why not?").fill("It missed the point.")
        await page.get_by_role("button", name="Send").click()

        await expect(page.get_by_text("You found this answer not helpful.")).to_be_visible()
        await expect(page.get_by_label("Why not?")).to_have_value("It missed the point.")
        boxes = [await part.bounding_box() for part in await page.locator(".feedback *").all()]
        assert max(box["x"] + box["width"] for box in boxes if box) <= 360
