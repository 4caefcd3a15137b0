"""The main pages for everybody: screen reader, keyboard, phone, dark mode, print."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.bot.web.browser.accessibility import (
    DARK_DESKTOP,
    PHONE,
    VIEWS,
    View,
    faults_by_path,
    faults_of,
    set_view,
)
from tests.bot.web.browser.actions import ANSWER, PANELS, ask, wait_until_closed
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browser.product import Product
from tests.bot.web.browsing import TOKEN, make_site
from tests.wire.models import ModelServer, answer, by_role, judge, model_list

pytestmark = pytest.mark.asyncio(loop_scope="package")

LONG = "A question of many lines.\n" * 60 + "w" * 400 + " https://example.org/" + "path/" * 80
CODE = "SELECT id FROM job WHERE state = 'ready' ORDER BY id; " * 5
ROW = "| cell-of-many " * 12 + "|"
RICH = f"""# A heading

Use `SKIP LOCKED`, a [link](https://example.org), **weight** and a list:

- one
- {"w" * 300}

```sql
{CODE}
```

    {CODE}

{ROW}
{"|---" * 12 + "|"}
{ROW}
"""


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def rich(browser: Browser, product: Product, models: ModelServer) -> AsyncIterator[str]:
    """Yield the path of a closed round with every wide element in it."""
    models.script |= {
        seat: by_role(answer(RICH), judge(reason="It is 'w'. " * 60), answer(RICH))
        for seat in PANELS["quick"]
    }
    async with await browser.new_context(base_url=product.address) as context:
        page = await context.new_page()
        path = await ask(page, LONG)
        await wait_until_closed(page)
        yield path
    for seat in PANELS["quick"]:
        del models.script[seat]


@VIEWS
async def test_static_pages_are_accessible(page: Page, rich: str, view: View) -> None:
    await set_view(page, view)

    faults = await faults_by_path(
        page, "/", "/rounds", "/rounds?q=nothing", "/rounds/0000000000", rich, f"{rich}/edit"
    )
    await page.get_by_label("Question").fill("/council help")
    await page.get_by_role("button", name="Ask", exact=True).click()
    await expect(page.get_by_role("main")).to_contain_text("/council")

    assert faults == {}
    assert await faults_of(page) == []


@VIEWS
async def test_connect_is_accessible(page: Page, models: ModelServer, view: View) -> None:
    models.listing = model_list("qwen3-32b", "llama-4-scout", "phi-4")
    await set_view(page, view)

    faults = [await faults_by_path(page, "/help", "/models")]
    for address in (models.api_base.removeprefix("http://"), models.api_base):
        await page.get_by_label("Another OpenAI-compatible server").check()
        await page.get_by_label("Address").fill(address)
        await page.get_by_role("button", name="Test the key").click()
        await expect(page.locator("[role=alert], [name=member1]").first).to_be_visible()
        faults.append({address: found} if (found := await faults_of(page)) else {})

    await expect(page.get_by_label("Model 1")).to_be_visible()
    assert faults == [{}, {}, {}]


async def test_a_round_is_accessible_in_the_dark(page: Page, rich: str) -> None:
    await set_view(page, DARK_DESKTOP)

    assert await faults_by_path(page, rich) == {}


@VIEWS
async def test_a_running_round_is_accessible(page: Page, view: View) -> None:
    await set_view(page, view)

    await ask(page, "Who can follow this?", panel="slow")
    await expect(page.locator("#draft")).to_contain_text("word-1")

    assert await faults_of(page) == []


async def test_the_login_page_is_accessible(browser: Browser) -> None:
    faults = []

    async with serve_in_process(make_site(token=TOKEN)) as address:
        page = await browser.new_page(base_url=address)
        for view in (PHONE, DARK_DESKTOP):
            await set_view(page, view)
            await page.goto("/rounds")
            await page.get_by_label("Token").fill("a guess")
            await page.get_by_role("button", name="Sign in").click()
            await expect(page.get_by_role("alert")).to_be_visible()
            faults += await faults_of(page)
        await page.get_by_label("Token").fill(TOKEN)
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/rounds")
        await page.context.close()

    assert faults == []


async def test_a_question_is_asked_by_keyboard_alone(page: Page) -> None:
    await page.goto("/")
    focused = "document.activeElement"
    outline = f"getComputedStyle({focused}).outlineWidth + getComputedStyle({focused}).outlineStyle"
    outlines = []
    await page.keyboard.press("Tab")  # the link that skips the navigation
    await page.keyboard.press("Enter")
    for _ in range(5):
        await page.keyboard.press("Tab")
        outlines.append(await page.evaluate(outline))
        if await page.evaluate(f"{focused}.id") == "question":
            break

    await page.keyboard.type("Can I ask without a mouse?")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("On two lines?")
    await page.keyboard.press("Enter")
    await wait_until_closed(page)

    assert await page.locator("h1").inner_text() == "Can I ask without a mouse?\nOn two lines?"
    assert set(outlines[:-1]) <= {"2pxsolid"}
    assert await page.evaluate(f"{focused} === document.querySelector('main article')")


async def test_the_print_view_shows_answers_without_buttons(page: Page, closed_round: str) -> None:
    await page.goto(closed_round)

    await page.emulate_media(media="print")

    for hidden in (".bar", "form.ask", ".acts"):
        await expect(page.locator(hidden).first).to_be_hidden()
    answers = page.locator("#answers details")
    assert await page.locator("#answers details[open]").count() == 0
    for nth in range(4):
        await expect(answers.nth(nth).locator(".prose")).to_be_visible()
        box = await answers.nth(nth).locator(".prose").bounding_box()
        assert box
        assert box["height"] > 10
    await expect(page.locator(ANSWER)).to_be_visible()
    assert (await page.pdf()).startswith(b"%PDF")
