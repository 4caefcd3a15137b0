"""The page's API keys: created once, listed and revoked."""

import re
from dataclasses import replace
from functools import partial

import pytest

from bot.api_keys import CAP_RULE, list_keys, new_key, own_budget, save_key
from council.budget import Budget
from council.budget_caps import Caps
from council.money import Price, cap_micro_usd
from tests.bot.app_fakes import an_app
from tests.bot.web.api_clients import ApiClient
from tests.bot.web.browsing import TOKEN, Browser, NewSite, Site
from tests.builders import CLAUDE, GEMINI, GPT
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_ledger import MemoryLedger

PRICED = dict.fromkeys((CLAUDE, GPT, GEMINI), Price(0, 1e-6, 100))
WHOLE_USD = 700e-6  # three answers, three ballots, a synthesis


async def create(browser: Browser, **fields: str) -> tuple[int, str, str]:
    """Send the form; return the status, the page and the key that it shows."""
    form = await browser.form("/models", "/keys") | {"name": "ci", "cap": ""} | fields
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
    later = (await browser.get("/models")).text
    assert text not in later
    assert "$2.50" in later


async def test_a_key_is_revoked(site: Site) -> None:
    browser = site.browser()
    _, _, text = await create(browser)

    form = await browser.form("/models", "/keys/ci/revoke")
    revoked = await browser.post("/keys/ci/revoke", **form)

    assert (revoked.status_code, revoked.headers["location"]) == (303, "/models#keys")
    assert (await ApiClient(site, text).get()).status_code == 401
    assert "/keys/ci/revoke" not in (await browser.get("/models")).text


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
    form = await browser.form("/models", "/keys")

    assert (await browser.post("/keys/none/revoke", **form)).status_code == 404


@pytest.mark.parametrize("path", ["/keys", "/keys/ci/revoke"])
async def test_keys_need_a_form_of_the_page(site: Site, path: str) -> None:
    assert (await site.browser().post(path, name="ci", token="forged")).status_code == 403


async def test_keys_need_the_token(new_site: NewSite) -> None:
    site = new_site(an_app(), token=TOKEN)

    browser = site.browser()
    stranger = await browser.get("/models")
    await browser.log_in()

    assert (stranger.status_code, (await browser.get("/models")).status_code) == (303, 200)


# --- With a token, visitors are not admins


@pytest.fixture
def shared_site(new_site: NewSite) -> Site:
    """Return a site with a token, where each visitor may ask one question a day."""
    app = an_app(FakeGateway(prices=PRICED))
    caps = Caps(user_day=cap_micro_usd(WHOLE_USD))
    find = partial(own_budget, app.key_values)
    app.budget = Budget(MemoryLedger(), caps, app.now, find)
    return new_site(app, token=TOKEN)


async def a_visitor(site: Site, ip: str = "192.0.2.1") -> Browser:
    browser = site.browser(ip=ip)
    await browser.log_in()
    return browser


def make_admin(site: Site, browser: Browser) -> None:
    app = site.context.app
    app.access = replace(app.access, admins=(browser.visitor.asker.id,))


async def test_the_keys_of_a_visitor_spend_the_budget_of_their_maker(shared_site: Site) -> None:
    ana, ben = await a_visitor(shared_site), await a_visitor(shared_site, "192.0.2.2")
    texts = [(await create(ana, name=name))[2] for name in ("one", "two")]
    bens = (await create(ben, name="three"))[2]

    asked = [await ApiClient(shared_site, text).ask() for text in (*texts, bens)]
    on_the_page = [await browser.ask("Why?") for browser in (ana, ben)]

    assert [one.status_code for one in asked] == [200, 429, 200]
    assert "your budget of $0.0007 a day" in asked[1].json()["error"]["message"]
    assert [one.status_code for one in on_the_page] == [422, 422]


async def test_only_an_admin_makes_a_key_with_more_than_the_budget_of_a_visitor(
    shared_site: Site,
) -> None:
    visitor = await a_visitor(shared_site)

    status, page, text = await create(visitor, cap="0.0008")
    within = await create(visitor, cap="0.0007", name="within")
    make_admin(shared_site, visitor)
    allowed = await create(visitor, cap="0.0008", name="allowed")

    assert (status, text) == (422, "")
    assert "ask an admin" in page
    assert (within[0], allowed[0]) == (200, 200)
    answers = [await ApiClient(shared_site, key).ask() for key in (within[2], allowed[2])]
    assert [one.status_code for one in answers] == [200, 200]


async def test_only_its_maker_or_an_admin_revokes_a_key(shared_site: Site) -> None:
    ana, ben = await a_visitor(shared_site), await a_visitor(shared_site)
    app = shared_site.context.app
    await create(ana, name="anas")
    await save_key(app.key_values, new_key("terminals", app.now())[0])
    forms = [f"/keys/{name}/revoke" for name in ("anas", "terminals")]

    shown = [[path in (await one.get("/models")).text for path in forms] for one in (ana, ben)]
    token = await ben.form("/models", "/keys")
    refused = [(await ben.post(path, **token)).status_code for path in forms]
    make_admin(shared_site, ben)
    revoked = [(await ben.post(path, **token)).status_code for path in forms]

    assert shown == [[True, False], [False, False]]
    assert (refused, revoked) == ([403, 403], [303, 303])
    assert all(key.revoked_at for key in await list_keys(app.key_values))
