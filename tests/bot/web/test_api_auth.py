"""Who may ask over the HTTP API: the page's token, named keys, their panels and their limits."""

from dataclasses import replace
from functools import partial

import httpx
import pytest

from bot.access import Access
from bot.api_keys import new_key, own_budget, revoke_key, save_key
from bot.context import AppContext
from bot.web.app import create_app
from council.budget import Budget
from council.budget_caps import Caps
from council.money import Price
from tests.bot.app_fakes import an_app
from tests.bot.web.api_clients import QUESTION, ApiClient, error_of
from tests.bot.web.browsing import ADDRESS, TOKEN, NewSite, Site
from tests.builders import CLAUDE, GEMINI, GPT, a_panel
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_ledger import MemoryLedger

PRICED = dict.fromkeys((CLAUDE, GPT, GEMINI), Price(0, 1e-6, 100))
WHOLE_USD = 700e-6  # three answers, three ballots, a synthesis


async def a_key(
    site: Site, name: str = "ci", *panels: str, cap_usd: float | None = None
) -> ApiClient:
    """Return a client with a new key."""
    app = site.context.app
    key, text = new_key(name, app.now(), panels, cap_usd)
    await save_key(app.key_values, key)
    return ApiClient(site, text)


def two_panels() -> AppContext:
    return an_app(panels=[a_panel(), replace(a_panel(), name="cheap")])


def models_of(response: httpx.Response) -> list[str]:
    return [model["id"] for model in response.json()["data"]]


@pytest.mark.parametrize("sent", ["", "wrong", "council_ci.wrong"])
async def test_without_a_right_key_nothing_is_asked(locked_site: Site, sent: str) -> None:
    client = ApiClient(locked_site, sent)

    refused = [await client.get(), await client.ask(), await client.get("/v1/nothing")]

    assert {one.status_code for one in refused} == {401}
    assert {error_of(one)["code"] for one in refused} == {"invalid_api_key"}
    assert {one.headers["www-authenticate"] for one in refused} == {"Bearer"}
    assert {one.headers["connection"] for one in refused} == {"close"}
    assert await locked_site.store.list_summaries() == ()


async def test_anthropics_clients_learn_what_to_use(locked_site: Site) -> None:
    refused = await ApiClient(locked_site).post(b"{}", path="/v1/messages", **{"x-api-key": TOKEN})

    assert (refused.status_code, error_of(refused)["code"]) == (404, "unsupported_api")


async def test_the_pages_token_is_a_key(locked_site: Site) -> None:
    client = ApiClient(locked_site, TOKEN)

    assert models_of(await client.get()) == ["council", "council/house"]
    assert (await client.ask()).status_code == 200


@pytest.mark.parametrize("sent", ["", "unused", "sk-any"])
async def test_on_loopback_without_a_token_any_key_will_do(site: Site, sent: str) -> None:
    assert (await ApiClient(site, sent).ask()).status_code == 200


async def test_a_session_of_the_page_is_no_key(locked_site: Site) -> None:
    browser = locked_site.browser()
    await browser.log_in()

    assert (await browser.get("/v1/models")).status_code == 401


async def test_a_key_opens_the_api_and_no_page(locked_site: Site) -> None:
    client = await a_key(locked_site)

    asked = await client.ask()

    [line] = await locked_site.store.list_summaries()
    assert (asked.status_code, line.asked_by) == (200, "api:ci")
    assert (await client.get(f"/rounds/{line.id}")).status_code == 401
    assert (await client.get("/keys")).status_code == 401


@pytest.mark.parametrize("token", [None, TOKEN])
async def test_a_revoked_key_is_refused(new_site: NewSite, token: str | None) -> None:
    site = new_site(token=token)
    client = await a_key(site)
    await revoke_key(site.context.app.key_values, "ci", site.context.app.now())

    refused = await client.ask()

    assert refused.status_code == 401
    assert error_of(refused)["message"] == "This API key was revoked. Ask for a new one."


async def test_a_mistyped_key_never_asks_without_its_limits(site: Site) -> None:
    client = await a_key(site, cap_usd=0)

    assert (await ApiClient(site, client.bearer[:-1]).ask()).status_code == 401


async def test_after_ten_wrong_keys_an_address_waits(locked_site: Site) -> None:
    tried = [await ApiClient(locked_site, "wrong").get() for _ in range(11)]

    refused = await ApiClient(locked_site, TOKEN).get()

    assert [one.status_code for one in tried] == [401] * 10 + [429]
    assert (refused.status_code, error_of(refused)["code"]) == (429, "rate_limit_exceeded")
    assert int(refused.headers["retry-after"]) > 0


async def test_requests_without_any_key_are_no_guesses(locked_site: Site) -> None:
    for _ in range(11):
        await ApiClient(locked_site).get()

    assert (await ApiClient(locked_site, TOKEN).get()).status_code == 200


async def test_a_key_asks_its_panels_only(new_site: NewSite) -> None:
    site = new_site(two_panels())
    every, house, cheap = [
        await a_key(site, "every"),
        await a_key(site, "house", "house"),
        await a_key(site, "cheap", "cheap", "gone"),
    ]

    assert models_of(await every.get()) == ["council", "council/house", "council/cheap"]
    assert models_of(await house.get()) == ["council", "council/house"]
    assert models_of(await cheap.get()) == ["council/cheap"]
    assert (await cheap.ask(model="council")).status_code == 404
    assert (await cheap.ask(model="council/house")).status_code == 404
    assert (await cheap.ask(model="council/cheap")).status_code == 200


async def test_a_key_over_its_limit_waits_until_midnight(new_site: NewSite) -> None:
    app = an_app(FakeGateway(prices=PRICED))
    app.budget = Budget(MemoryLedger(), Caps(), app.now, partial(own_budget, app.key_values))
    site = new_site(app)
    poor, rich = await a_key(site, "poor", cap_usd=WHOLE_USD / 2), await a_key(site, "rich")

    refused, answered = await poor.ask(), await rich.ask()

    error = error_of(refused)
    assert (refused.status_code, error["code"]) == (429, "insufficient_quota")
    assert "your budget of $0.00035 a day" in error["message"]
    assert 0 < int(refused.headers["retry-after"]) <= 24 * 3600
    assert answered.status_code == 200


async def test_a_keys_own_limit_replaces_that_of_everyone(new_site: NewSite) -> None:
    app = an_app(FakeGateway(prices=PRICED))
    app.budget = Budget(
        MemoryLedger(), Caps(user_day=1), app.now, partial(own_budget, app.key_values)
    )
    site = new_site(app)
    capped, other = await a_key(site, "capped", cap_usd=1), await a_key(site, "other")

    assert ((await capped.ask()).status_code, (await other.ask()).status_code) == (200, 429)


async def test_the_rate_limit_of_askers_holds_for_keys(new_site: NewSite) -> None:
    app = an_app()
    app.access = Access(rounds_per_hour=1)
    site = new_site(app)
    first, second = await a_key(site, "first"), await a_key(site, "second")

    answers = [await first.ask(retry_key="k1"), await first.ask("And why?"), await second.ask()]
    again = await first.ask(retry_key="k1")

    assert [one.status_code for one in answers] == [200, 429, 200]
    assert error_of(answers[1])["code"] == "rate_limit_exceeded"
    assert 0 < int(answers[1].headers["retry-after"]) <= 3600
    assert again.json()["id"] == answers[0].json()["id"]


async def test_two_keys_never_share_a_round(site: Site) -> None:
    first, second = await a_key(site, "first"), await a_key(site, "second")

    ids = {(await one.ask(retry_key="k1")).json()["id"] for one in (first, second)}

    assert len(ids) == 2


async def test_a_stranger_name_does_not_reach_the_api(site: Site) -> None:
    browser = site.browser("http://evil.example")

    refused = await browser.client.post("/v1/chat/completions", json={"messages": QUESTION})

    assert refused.status_code == 400
    assert await site.store.list_summaries() == ()


async def test_a_key_works_where_others_guessed_the_token(locked_site: Site) -> None:
    client = await a_key(locked_site)
    for _ in range(11):
        await ApiClient(locked_site, "wrong").get()

    assert (await client.ask()).status_code == 200
    assert (await ApiClient(locked_site, TOKEN).get()).status_code == 429


@pytest.mark.parametrize("path", ["/v1/models", "/metrics"])
async def test_a_revoked_key_is_no_guess(locked_site: Site, path: str) -> None:
    client = await a_key(locked_site)
    await revoke_key(locked_site.context.app.key_values, "ci", locked_site.context.app.now())
    refused = [await client.get(path) for _ in range(11)]

    assert {one.status_code for one in refused} == {401}
    assert (await ApiClient(locked_site, TOKEN).get()).status_code == 200


async def test_a_key_at_the_page_is_no_guess(locked_site: Site) -> None:
    client = await a_key(locked_site)
    refused = [await client.get("/metrics") for _ in range(11)]
    browser = locked_site.browser()
    logins = [(await browser.log_in(client.bearer)).status_code for _ in range(11)]

    assert {one.status_code for one in refused} == {401}
    assert set(logins) == {403}
    assert (await ApiClient(locked_site, TOKEN).get("/metrics")).status_code == 200


@pytest.mark.parametrize(
    ("path", "origin", "allowed"),
    [
        ("/v1/models", "https://app.example.org", "https://app.example.org"),
        ("/v1/models", "https://evil.example", None),
        ("/healthz", "https://app.example.org", None),
    ],
)
async def test_only_pages_of_allowed_origins_call_the_api(
    site: Site, path: str, origin: str, allowed: str | None
) -> None:
    context = replace(site.context, api_origins=("https://app.example.org",))
    transport = httpx.ASGITransport(create_app(context, loopback=True))
    asking = {"origin": origin, "access-control-request-method": "POST"}
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
        replies = [
            await client.get(path, headers={"origin": origin}),
            await client.options(path, headers=asking),
        ]

    for reply in replies:
        assert reply.headers.get("access-control-allow-origin") == allowed
