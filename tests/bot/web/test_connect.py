"""Connect and the panel editor: a key is tested, a panel is used at once, and nothing leaks."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.bootstrap import StartOptions, open_app
from bot.settings import load_settings
from bot.settings.provider_keys import CONNECTED_FILE, KEYS_FILE
from bot.web.models import ONE_MODEL, PENDING_SECONDS
from tests.bot.homes import Home, scripted_config
from tests.bot.web.browsing import (
    TOKEN,
    Browser,
    NewSite,
    Site,
    forms_of,
    make_site,
    redirected_round_id,
)
from tests.wire.models import Behaviour, Fail, ModelServer, fail, model_list, wrong_key
from tests.wire.models.behaviours import openai_error

KEY = "sk-connect-0123456789"
LISTED = ("qwen3-32b", "llama-3.3-70b", "gemma-3-27b", "mistral-small-3.2", "deepseek-v3", "phi-4")
QUOTA = openai_error("You exceeded your current quota.", code="insufficient_quota")


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    """Yield a provider that lists six models and accepts one key."""
    async with ModelServer() as server:
        server.listing, server.keys = model_list(*LISTED, "nomic-embed-text"), {KEY}
        yield server


@pytest.fixture
async def real_site(home: Home, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """Yield a site on the real composition whose default is the demonstration panel."""
    home.with_config("")
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    async with open_app(load_settings(Path("nowhere")), StartOptions(local=True)) as app:
        site = make_site(app)
        yield site
        for browser in site.browsers:
            await browser.client.aclose()


async def check(
    browser: Browser, address: str, key: str = KEY, provider: str = "custom"
) -> tuple[int, str]:
    """Send the form of Connect; return the status and the page."""
    form = await browser.form("/models", "/connect")
    page = await browser.post("/connect", **form, provider=provider, address=address, key=key)
    return page.status_code, page.text


def panel_form(page: str) -> dict[str, str]:
    """Return the fields of the panel that a page proposes."""
    form = page[page.index('action="/panels"') :]
    fields = re.findall(r'<input[^>]* name="(\w+)"[^>]* value="([^"]*)"', form)
    fields += re.findall(r'<input name="(\w+)" value="([^"]*)"', form)
    return dict(fields)


async def connect(browser: Browser, models: ModelServer) -> dict[str, str]:
    """Connect and save the proposed panel; return its form."""
    status, page = await check(browser, models.api_base)
    assert status == 200, page
    form = panel_form(page)
    saved = await browser.post("/panels", **form)
    assert saved.status_code == 303, saved.text
    return form


def stored(home: Home) -> set[str]:
    return {path.name for path in home.data.iterdir()} & {CONNECTED_FILE, KEYS_FILE}


async def test_five_models_and_an_outside_judge_are_proposed(
    real_site: Site, models: ModelServer, home: Home
) -> None:
    status, page = await check(real_site.browser(), models.api_base)

    form = panel_form(page)
    seats = {value.partition("/")[2] for field, value in form.items() if value and "/" in value}
    assert status == 200
    assert seats == set(LISTED)
    assert [form[f"member{i}"] != "" for i in (1, 5, 6)] == [True, True, False]
    assert form["judge1"]
    assert KEY not in page
    assert stored(home) == set()


async def test_a_connected_panel_answers_at_once_and_becomes_the_default(
    real_site: Site, models: ModelServer, home: Home
) -> None:
    browser = real_site.browser()

    form = await connect(browser, models)
    asked = await browser.ask("Why is the sky blue?", panel="")
    round_ = await real_site.wait_until_closed(redirected_round_id(asked))

    app = real_site.context.app
    assert app.default == form["name"] == round_.panel.name
    assert round_.closing
    assert (round_.closing.failure, len(round_.answers), round_.absences) == (None, 5, ())
    assert {request.headers["authorization"] for request in models.requests} == {f"Bearer {KEY}"}
    for file in (CONNECTED_FILE, KEYS_FILE):
        assert (home.data / file).stat().st_mode & 0o777 == 0o600
    assert KEY not in (home.data / CONNECTED_FILE).read_text()
    assert KEY.encode() not in (home.database.read_bytes())


async def test_a_local_run_begins_with_the_demo_models_and_uses_the_panel_connected_in_it(
    home: Home, models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in home.environment.items():  # its council.toml has a panel
        monkeypatch.setenv(name, value)
    used = []

    for connects in (True, False):
        async with open_app(load_settings(Path("nowhere")), StartOptions(local=True)) as app:
            browser = make_site(app).browser()
            used.append(app.default)
            if connects:
                name = (await connect(browser, models))["name"]
                used.append(app.default)
                form = panel_form((await browser.get(f"/panels/{name}")).text)
                await browser.post("/panels", **form)  # saved again, still the default
                used.append(app.default)

    assert used == ["local", name, name, "local"]


async def test_a_second_server_never_receives_the_key_of_the_first(
    real_site: Site, models: ModelServer
) -> None:
    """Both are at loopback on one port; only the spelling of the host differs."""
    browser = real_site.browser()
    first = await connect(browser, models)
    sent = len(models.requests)

    status, page = await check(browser, models.api_base.replace("127.0.0.1", "localhost"), key="")

    assert (status, "refused the key" in page) == (422, True)
    assert not any("authorization" in request.headers for request in models.requests[sent:])
    models.keys = set()
    _, page = await check(browser, models.api_base.replace("127.0.0.1", "localhost"), key="")
    assert panel_form(page)["name"] != first["name"]


async def test_without_a_key_the_one_of_the_same_address_is_used(
    real_site: Site, models: ModelServer
) -> None:
    browser = real_site.browser()
    first = await connect(browser, models)

    status, page = await check(browser, models.api_base, key="")

    assert (status, panel_form(page)["name"]) == (200, first["name"])
    assert KEY not in page


async def test_the_page_names_the_address_of_a_server_on_loopback(
    real_site: Site, models: ModelServer
) -> None:
    browser = real_site.browser()
    await connect(browser, models)

    pages = [(await browser.get(path)).text for path in ("/", "/privacy")]

    address = models.api_base.split("/")[2]
    assert all(address in page for page in pages)


async def test_a_link_local_address_is_refused(real_site: Site) -> None:
    status, page = await check(real_site.browser(), "http://169.254.169.254/v1")

    assert (status, "link-local" in page) == (422, True)


LISTING_REFUSALS = [
    pytest.param(Fail(401), "refused the key", id="expired"),
    pytest.param(Fail(402), "credit", id="unpaid"),
    pytest.param(Fail(429, body=QUOTA), "credit", id="no-quota"),
    pytest.param(Fail(429), "Wait a minute", id="busy"),
    pytest.param(Fail(404), "/v1", id="not-found"),
    pytest.param(Fail(307), "final address", id="redirect"),
    pytest.param(model_list(), "lists no chat models", id="empty"),
    pytest.param(model_list("text-embedding"), ONE_MODEL[:10], id="one"),
    pytest.param({"data": [7]}, "list of models", id="unreadable"),
]


@pytest.mark.parametrize(("listing", "says"), LISTING_REFUSALS)
async def test_a_provider_that_lists_nothing_usable_is_explained(
    real_site: Site, models: ModelServer, home: Home, listing: Fail, says: str
) -> None:
    models.listing = listing

    status, page = await check(real_site.browser(), models.api_base)

    assert status == 422
    assert says in page
    assert KEY not in page
    assert f'name="address" value="{models.api_base}"' in page
    assert re.search(r'value="custom" checked', page)
    assert stored(home) == set()


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        pytest.param(wrong_key(), "refused the key", id="wrong"),
        pytest.param(fail(429, body=QUOTA), "credit", id="no-quota"),
        pytest.param(fail(404), "lists", id="no-such-model"),
    ],
)
async def test_a_key_that_lists_models_but_cannot_call_them_is_explained(
    real_site: Site, models: ModelServer, home: Home, behaviour: Behaviour, says: str
) -> None:
    models.script = dict.fromkeys(LISTED, behaviour)

    status, page = await check(real_site.browser(), models.api_base)

    assert (status, says in page, KEY in page) == (422, True, False)
    assert stored(home) == set()


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("localhost:8080/v1", "http://localhost:8080/v1"),
        ("api.example.org/v1", "https://api.example.org/v1"),
        ("ftp://example.org", "ftp://example.org"),
        ("http://me:secret@example.org/v1", "http://me:secret@example.org/v1"),
        ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"),
        ("", ""),
    ],
)
async def test_an_address_that_cannot_be_used_is_explained_and_kept(
    real_site: Site, address: str, shown: str
) -> None:
    status, page = await check(real_site.browser(), address)

    assert status == 422
    assert 'role="alert"' in page
    assert f'name="address" value="{shown}"' in page


async def test_a_key_of_a_known_provider_is_required(real_site: Site) -> None:
    for key in ("", "two words"):
        status, _ = await check(real_site.browser(), "", key, "openai")

        assert status == 422


async def test_a_pending_key_belongs_to_its_visitor_for_half_an_hour(
    real_site: Site, models: ModelServer, home: Home
) -> None:
    one, other = real_site.browser(), real_site.browser()
    _, page = await check(one, models.api_base)
    form = panel_form(page)
    token = await other.form("/models", "/connect")

    stolen = await other.post("/panels", **(form | token))
    connections = real_site.context.app.connections
    assert connections
    code, found = next(iter(connections.pending.items()))
    late = datetime.fromtimestamp(found.tested_at + PENDING_SECONDS, UTC)
    real_site.context.app.now = lambda: late
    expired = await one.post("/panels", **form)

    assert (stolen.status_code, expired.status_code) == (422, 422)
    assert code in connections.pending
    assert stored(home) == set()


async def test_the_second_of_two_tabs_is_told_and_loses_nothing(
    real_site: Site, models: ModelServer
) -> None:
    browser = real_site.browser()
    name = (await connect(browser, models))["name"]
    tab, other = [panel_form((await browser.get(f"/panels/{name}")).text) for _ in range(2)]

    first = await browser.post("/panels", **(tab | {"member5": ""}))
    refused = await browser.post("/panels", **(other | {"judge1": ""}))
    again = await browser.post("/panels", **panel_form(refused.text))

    panel = real_site.context.app.panels[name]
    assert (first.status_code, refused.status_code, again.status_code) == (303, 409, 303)
    assert f'value="{other["member5"]}"' in refused.text
    assert (len(panel.members), panel.outside_judges) == (5, ())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({f"member{i}": "" for i in range(2, 6)}, id="a-panel-of-one"),
        pytest.param({"member2": "nobody/unknown"}, id="unknown-model"),
        pytest.param({"name": "Not a name!"}, id="bad-name"),
        pytest.param({"name": "local"}, id="reserved-name"),
    ],
)
async def test_a_panel_that_cannot_be_used_is_refused_with_its_form(
    real_site: Site, models: ModelServer, home: Home, change: dict[str, str]
) -> None:
    browser = real_site.browser()
    _, page = await check(browser, models.api_base)
    form = panel_form(page) | change

    refused = await browser.post("/panels", **form)

    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
    assert f'value="{form["member1"]}"' in refused.text
    assert stored(home) == set()


async def test_a_folder_that_cannot_be_written_is_explained_and_the_form_kept(
    real_site: Site, models: ModelServer, home: Home
) -> None:
    browser = real_site.browser()
    form = panel_form((await check(browser, models.api_base))[1])
    (home.data / f"{CONNECTED_FILE}.lock").mkdir()

    refused = await browser.post("/panels", **form)
    (home.data / f"{CONNECTED_FILE}.lock").rmdir()
    again = await browser.post("/panels", **panel_form(refused.text))

    assert (refused.status_code, again.status_code) == (422, 303)
    assert str(home.data) in refused.text


async def test_a_seat_that_is_in_a_panel_twice_is_refused(
    real_site: Site, models: ModelServer
) -> None:
    browser = real_site.browser()
    form = panel_form((await check(browser, models.api_base))[1])

    refused = await browser.post("/panels", **(form | {"judge1": form["member1"]}))

    assert refused.status_code == 422
    assert "twice" in refused.text


async def test_a_removed_panel_is_gone_and_the_demo_is_the_default_again(
    real_site: Site, models: ModelServer
) -> None:
    browser = real_site.browser()
    name = (await connect(browser, models))["name"]
    remove = panel_form((await browser.get(f"/panels/{name}")).text) | {"remove": "yes"}

    await browser.post("/panels", **remove)
    twice = await browser.post("/panels", **remove)

    app = real_site.context.app
    assert (name in app.panels, app.default) == (False, "local")
    assert twice.status_code == 409


async def test_council_toml_wins_where_both_name_a_panel(
    real_site: Site, models: ModelServer, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = (await connect(real_site.browser(), models))["name"]
    home.with_config(scripted_config(3).replace("[panels.house]", f"[panels.{name}]"))

    async with open_app(load_settings(Path("nowhere"))) as app:
        browser = make_site(app).browser()
        listed, edited = [(await browser.get(path)).text for path in ("/models", f"/panels/{name}")]

    assert [seat.key for seat in app.panels[name].members] == ["north", "south", "east"]
    assert "is not used" in listed
    assert "that one is used" in edited


async def test_nobody_else_may_connect_without_a_token(real_site: Site) -> None:
    remote = real_site.browser(ip="192.0.2.1")
    proxied = real_site.browser(**{"x-forwarded-for": "192.0.2.1"})
    own = await real_site.browser().get("/models")

    for browser in (remote, proxied):
        shown = await browser.get("/models")
        form = {"token": forms_of(shown)[0].fields["token"], "provider": "ollama"}
        refused = [await browser.get("/panels/x"), await browser.post("/connect", **form)]

        assert [page.status_code for page in refused] == [403, 403]
        assert 'action="/connect"' not in shown.text
    assert 'action="/connect"' in own.text


async def test_with_a_token_only_who_is_signed_in_may_connect(
    real_site: Site, new_site: NewSite
) -> None:
    locked = make_site(real_site.context.app, token=TOKEN)
    browser = locked.browser(ip="192.0.2.1")

    before = await browser.get("/models")
    await browser.log_in()
    after = await browser.get("/models")

    assert (before.status_code, after.status_code) == (303, 200)
