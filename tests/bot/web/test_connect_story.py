"""A story: connect a provider while the product runs, ask, restart, ask again; the key stays in."""

import re

import httpx

from tests.bot.homes import TIMEOUT_SECONDS, Home, scripted_config
from tests.bot.web.browser.product import Product, serve_product
from tests.bot.web.test_connect import KEY, LISTED, panel_form
from tests.wire.models import ModelServer, model_list


async def test_a_connected_panel_outlives_a_restart_and_its_key_leaks_nowhere(home: Home) -> None:
    home.with_config(scripted_config(3))
    pages: list[str] = []
    async with ModelServer() as models, serve_product(home) as product:
        models.listing, models.keys = model_list(*LISTED), {KEY}
        async with a_browser(product) as browser:
            fields = form_fields((await browser.get("/models")).text)
            fields |= {"provider": "custom", "address": models.api_base, "key": KEY}
            proposed = await browser.post("/connect", data=fields)
            form = panel_form(proposed.text)
            saved = await browser.post("/panels", data=form, follow_redirects=True)
            pages += [proposed.text, saved.text, await ask(browser, form["name"])]
        product.kill()
        await product.start()
        async with a_browser(product) as browser:
            pages += [(await browser.get(path)).text for path in ("/models", "/")]
            pages.append(await ask(browser, form["name"]))

    assert f"The panel {form['name']} is ready." in pages[1]
    assert [seconds is not None for (seconds,) in home.sql("SELECT seconds FROM round")] == [
        True
    ] * 2
    assert home.sql("SELECT count(*) FROM answer") == [(10,)]
    keys = home.data / "keys.json"
    assert keys.stat().st_mode & 0o777 == 0o600
    keys.unlink()
    secret = KEY.encode()
    assert secret not in home.stored_bytes()
    assert not any(KEY in text for text in (product.log, *pages))


def a_browser(product: Product) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=product.address, trust_env=False, timeout=TIMEOUT_SECONDS)


def form_fields(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="(token|round)" value="([^"]+)"', page))


async def ask(browser: httpx.AsyncClient, panel: str) -> str:
    """Ask on a panel and wait for the end; return the round's page."""
    fields = form_fields((await browser.get("/")).text)
    asked = await browser.post("/ask", data={**fields, "panel": panel, "question": "Why?"})
    path = asked.headers["location"]
    await browser.get(f"{path}/events")  # ends with the round
    return (await browser.get(path)).text
