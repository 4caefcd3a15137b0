"""The page for everybody: read aloud, by keyboard, on a phone, in the dark, on paper."""

from collections.abc import AsyncIterator
from typing import Literal

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from tests.bot.homes import Home
from tests.bot.web.browser.actions import ANSWER, PANELS, ask, wait_until_closed
from tests.bot.web.browser.product import Product, serve_product
from tests.wire.models import ModelServer, answer, by_role, judge

pytestmark = pytest.mark.asyncio(loop_scope="session")

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
TOKEN = "a-long-random-text"
Scheme = Literal["light", "dark"]
SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def rich(browser: Browser, product: Product, models: ModelServer) -> AsyncIterator[str]:
    """Return the path of a closed round with everything in it that takes room."""
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


async def faults_of(page: Page) -> list[str]:
    """Return what keeps people out, as axe finds it."""
    await page.wait_for_load_state("load")  # without its style a page has other colours
    found = await Axe().run(page)
    return [
        f"{fault['id']}: {node['target']} {node['html'][:120]}"
        for fault in found.response["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]


@SCHEMES
async def test_static_pages_are_accessible(page: Page, rich: str, scheme: Scheme) -> None:
    await page.emulate_media(color_scheme=scheme)
    faults = {}

    for path in ("/", "/rounds", "/rounds?q=nothing", "/rounds/0000000000", rich):
        await page.goto(path)
        await page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        faults[path] = await faults_of(page)
    await page.get_by_label("Question").fill("/council help")
    await page.get_by_role("button", name="Ask", exact=True).click()
    await expect(page.get_by_role("main")).to_contain_text("/council")
    faults["said"] = await faults_of(page)

    assert {path: found for path, found in faults.items() if found} == {}


@SCHEMES
async def test_a_running_round_keeps_nobody_out(page: Page, scheme: Scheme) -> None:
    await page.emulate_media(color_scheme=scheme)

    await ask(page, "Who can follow this?", panel="slow")
    await expect(page.locator("#progress .done").first).to_be_visible()
    faults = await faults_of(page)
    await wait_until_closed(page)

    assert faults == []


async def test_the_login_page_is_accessible(
    browser: Browser, served_home: Home, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = Home(tmp_path_factory.mktemp("token"), {"COUNCIL_WEB_TOKEN": TOKEN})
    home.with_config((served_home.folder / "council.toml").read_text(encoding="utf-8"))
    async with serve_product(home) as product:
        page = await browser.new_page(base_url=product.address)
        faults = []
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            await page.goto("/rounds")
            await page.get_by_label("Token").fill("a guess")
            await page.get_by_role("button", name="Come in").click()
            await expect(page.get_by_role("alert")).to_have_text("That is not the token.")
            faults += await faults_of(page)
        await page.get_by_label("Token").fill(TOKEN)
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/rounds")
        await page.context.close()

    assert faults == []


async def test_nothing_is_wider_than_a_small_phone(page: Page, rich: str) -> None:
    await page.set_viewport_size({"width": 360, "height": 740})
    widths = {}

    for path in ("/", "/rounds", "/rounds/0000000000", rich):
        await page.goto(path)
        await page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        widths[path] = await page.evaluate("document.documentElement.scrollWidth")
    await ask(page, "Is it narrow while it runs?", panel="slow")
    await expect(page.locator("#draft")).to_contain_text("word-1")
    widths["running"] = await page.evaluate("document.documentElement.scrollWidth")

    assert widths == dict.fromkeys(widths, 360)


async def test_a_question_is_asked_by_keyboard_alone(page: Page) -> None:
    await page.goto("/")
    focused = "document.activeElement"
    outline = f"getComputedStyle({focused}).outlineWidth + getComputedStyle({focused}).outlineStyle"
    seen = []
    for _ in range(20):
        await page.keyboard.press("Tab")
        seen.append(await page.evaluate(outline))
        if await page.evaluate(f"{focused}.id") == "question":
            break

    await page.keyboard.type("Can I ask without a mouse?")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("On two lines?")
    await page.keyboard.press("Enter")
    await wait_until_closed(page)

    assert await page.locator("h1").inner_text() == "Can I ask without a mouse?\nOn two lines?"
    assert set(seen) == {"2pxsolid"}
    assert await page.evaluate(f"{focused} === document.querySelector('main article')")


async def test_the_print_view_shows_answers_without_buttons(page: Page, held: str) -> None:
    await page.goto(held)

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


async def test_the_first_page_is_small(page: Page) -> None:
    await page.goto("/")
    parts = "[...document.querySelectorAll('script, link')].map((part) => part.src || part.href)"
    addresses = [page.url, *await page.evaluate(parts)]

    bodies = [await (await page.request.get(address)).body() for address in addresses]

    assert len(bodies) == 4
    assert sum(map(len, bodies)) < 60_000
