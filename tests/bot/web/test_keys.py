"""The page's API keys: created once, listed and revoked."""

import re

import pytest

from bot.api_keys import CAP_RULE, list_keys
from tests.bot.app_fakes import an_app
from tests.bot.web.api_clients import ApiClient
from tests.bot.web.browsing import TOKEN, Browser, NewSite, Site


async def create(browser: Browser, **fields: str) -> tuple[int, str, str]:
    """Send the form; return the status, the page and the key that it shows."""
    form = await browser.form("/keys", "/keys") | {"name": "ci", "cap": ""} | fields
    page = await browser.post("/keys", **form)
    shown = re.search(r'value="(council_[^"]+)"', page.text)
    return page.status_code, page.text, shown[1] if shown else ""


async def test_a_key_is_shown_once_and_works(site: Site) -> None:
    browser = site.browser()

    _, page, text = await create(browser, cap="2.50", **{"panel house": "1"})

    [key] = await list_keys(site.context.app.key_values)
    assert "shown only once" in page
    assert (key.name, key.panels, key.cap_micro_usd) == ("ci", ("house",), 2_500_000)
    assert (await ApiClient(site, text).ask()).status_code == 200
    later = (await browser.get("/keys")).text
    assert text not in later
    assert "$2.50" in later


async def test_a_key_is_revoked(site: Site) -> None:
    browser = site.browser()
    _, _, text = await create(browser)

    form = await browser.form("/keys", "/keys/ci/revoke")
    revoked = await browser.post("/keys/ci/revoke", **form)

    assert (revoked.status_code, revoked.headers["location"]) == (303, "/keys")
    assert (await ApiClient(site, text).get()).status_code == 401
    assert "/keys/ci/revoke" not in (await browser.get("/keys")).text


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"name": "C I"}, "can&#39;t be the name of a key"),
        ({"cap": "much"}, CAP_RULE),
        ({"cap": "-1"}, CAP_RULE),
        ({"cap": "nan"}, CAP_RULE),
    ],
)
async def test_what_is_wrong_with_a_key_is_said(
    site: Site, fields: dict[str, str], why: str
) -> None:
    status, page, text = await create(site.browser(), **fields)

    assert (status, text) == (422, "")
    assert why in page
    assert await list_keys(site.context.app.key_values) == ()


async def test_a_name_is_used_once(site: Site) -> None:
    browser = site.browser()
    await create(browser)

    status, page, _ = await create(browser)

    assert status == 422
    assert "Choose another one" in page


async def test_a_key_that_does_not_exist_is_not_found(site: Site) -> None:
    browser = site.browser()
    form = await browser.form("/keys", "/keys")

    assert (await browser.post("/keys/none/revoke", **form)).status_code == 404


@pytest.mark.parametrize("path", ["/keys", "/keys/ci/revoke"])
async def test_keys_need_a_form_of_the_page(site: Site, path: str) -> None:
    assert (await site.browser().post(path, name="ci", token="forged")).status_code == 403


async def test_keys_need_the_token(new_site: NewSite) -> None:
    site = new_site(an_app(), token=TOKEN)

    browser = site.browser()
    stranger = await browser.get("/keys")
    await browser.log_in()

    assert (stranger.status_code, (await browser.get("/keys")).status_code) == (303, 200)
