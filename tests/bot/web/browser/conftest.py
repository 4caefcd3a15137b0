"""Fixtures: one browser, one model server and one product for all browser tests."""

import os
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from tests.bot.homes import Home
from tests.bot.web.browser.actions import (
    PANELS,
    TIMEOUT_MS,
    PageMonitor,
    ask,
    slow_member,
    wait_until_closed,
)
from tests.bot.web.browser.product import Product, panels_of, serve_product
from tests.wire.models import ModelServer

NAMES = ("chromium", "chromium-browser", "google-chrome")
expect.set_options(timeout=TIMEOUT_MS)
MISSING = "no browser: these tests drive Debian's chromium (apt-get install chromium)"


@pytest_asyncio.fixture(loop_scope="package", scope="package")
async def browser() -> AsyncIterator[Browser]:
    """Yield the browser; if there is none, skip, or fail where it is required."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found and os.environ.get("COUNCIL_REQUIRE_BROWSER") == "1":
        pytest.fail(f"COUNCIL_REQUIRE_BROWSER=1, but: {MISSING}")
    if not found:
        pytest.skip(MISSING)
    async with async_playwright() as playwright:
        # The sandbox needs rights that containers do not give.
        opened = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        await opened.close()


@pytest_asyncio.fixture(loop_scope="package", scope="package")
async def models() -> AsyncIterator[ModelServer]:
    """Yield the model server; the slow panel answers late and word by word."""
    async with ModelServer() as server:
        server.script |= {seat: slow_member(seat) for seat in PANELS["slow"]}
        yield server


@pytest.fixture(scope="package")
def served_home(tmp_path_factory: pytest.TempPathFactory, models: ModelServer) -> Home:
    """Return a home folder with the panels of the model server."""
    home = Home(tmp_path_factory.mktemp("served"), {"OPENAI_API_KEY": "sk-none"})
    return home.with_tables().with_config(panels_of(models.api_base, **PANELS))


@pytest_asyncio.fixture(loop_scope="package", scope="package")
async def product(browser: Browser, served_home: Home) -> AsyncIterator[Product]:
    """Yield the running product; without a browser it is not started."""
    async with serve_product(served_home) as product:
        await product.answers("/readyz")
        yield product


@pytest.fixture(scope="package")
def address(product: Product) -> str:
    """Return the address of the product; some modules serve a site of their own instead."""
    return product.address


@pytest_asyncio.fixture(loop_scope="package")
async def visitor(browser: Browser, address: str) -> AsyncIterator[BrowserContext]:
    """Yield the browser context of a new visitor."""
    context = await browser.new_context(base_url=address)
    context.set_default_timeout(TIMEOUT_MS)
    yield context
    await context.close()


@pytest_asyncio.fixture(loop_scope="package")
async def page(visitor: BrowserContext) -> Page:
    """Return a tab of the visitor."""
    return await visitor.new_page()


@pytest_asyncio.fixture(loop_scope="package")
async def monitor(page: Page) -> PageMonitor:
    """Return the record of dialogs, errors, requests and popups of the page."""
    return PageMonitor.of(page)


@pytest_asyncio.fixture(loop_scope="package", scope="package")
async def closed_round(browser: Browser, product: Product) -> str:
    """Return the path of a closed public round."""
    async with await browser.new_context(base_url=product.address) as context:
        page = await context.new_page()
        path = await ask(page, "Which queue is enough?", panel="slow")
        await wait_until_closed(page)
    return path
