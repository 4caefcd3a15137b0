"""Authentication: login, sessions, signed links and the CSRF check."""

import re

import pytest
from starlette.routing import Route

from bot.web.api_requests import API
from bot.web.auth import EXPIRED_LINK, FORGED_LINK, SESSION_SECONDS
from bot.web.shares import issue_share
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import (
    SOMEBODY,
    TOKEN,
    Browser,
    NewSite,
    Site,
    a_round_of,
    forms_of,
    make_site,
    redirected_round_id,
)

READS = ("", "/events", "/state", "/round.json", "/round.md")
PATHS = (
    "/",
    "/rounds",
    "/rounds/abcdef0123",
    "/rounds/abcdef0123/events",
    "/metrics",
    "/nowhere",
    "/bakeoffs",
    "/bakeoffs/beef",
    "/bakeoffs/beef/events",
    "/suites",
    "/schedules",
    "/leaderboard",
    "/leaderboard.csv",
    "/bias",
    "/bias.png",
)
OPEN = ("/login", "/healthz", "/readyz", "/static/council.css")


async def a_closed_round(site: Site) -> str:
    return (await site.run_round(a_round_of(SOMEBODY, private=True))).id


async def linked(site: Site, round_id: str, read: str = "") -> str:
    return f"/rounds/{round_id}{read}?key={await issue_share(site.context, round_id)}"


@pytest.mark.parametrize("path", PATHS)
async def test_a_page_without_the_token_redirects_to_the_login(
    locked_site: Site, path: str
) -> None:
    sent = await locked_site.browser().get(path)

    assert (sent.status_code, sent.headers["location"]) == (303, f"/login?next={path}")


@pytest.mark.parametrize("path", [path for path in PATHS if not path.startswith("/rounds/")])
async def test_the_key_of_a_link_opens_rounds_only(locked_site: Site, path: str) -> None:
    assert (await locked_site.browser().get(f"{path}?key=x")).status_code == 303


@pytest.mark.parametrize("path", PATHS)
async def test_an_api_request_without_the_token_is_refused(locked_site: Site, path: str) -> None:
    refused = [
        await locked_site.browser().get(path, accept="application/json"),
        await locked_site.browser().get(path, authorization="Bearer wrong", accept="*/*"),
        await locked_site.browser().get(
            path, authorization="", accept="*/*", cookie="council_pass=x"
        ),
        await locked_site.browser().post(path),
    ]

    assert {page.status_code for page in refused} == {401}
    assert "COUNCIL_WEB_TOKEN" in refused[0].text


async def test_without_the_token_nothing_is_asked(locked_site: Site) -> None:
    browser = locked_site.browser()
    form = await browser.form("/login", "/login")

    refused = await browser.post("/ask", **(form | {"question": "Why?"}))

    assert refused.status_code == 401
    assert await locked_site.store.list_summaries() == ()


@pytest.mark.parametrize("path", OPEN)
async def test_public_paths_need_no_token(locked_site: Site, path: str) -> None:
    assert (await locked_site.browser().get(path)).status_code == 200


@pytest.mark.parametrize(
    "path", ["/login", "/loginx", "/login/x", "/healthz/x", "/static/none", "/rounds/none?key=x"]
)
async def test_without_the_token_no_page_shows_a_question(locked_site: Site, path: str) -> None:
    round_ = await locked_site.run_round(a_round_of(SOMEBODY))

    assert round_.question.text not in (await locked_site.browser().get(path)).text


async def test_a_bearer_of_the_token_is_let_in(locked_site: Site) -> None:
    bearer = locked_site.browser(authorization=f"Bearer {TOKEN}")

    assert (await bearer.get("/metrics", accept="*/*")).status_code == 200
    assert redirected_round_id(await bearer.ask("Why?"))


async def test_a_login_redirects_to_the_requested_page(locked_site: Site) -> None:
    browser = locked_site.browser()
    asked = await browser.get("/rounds")
    form = await browser.form(asked.headers["location"], "/login")

    let_in = await browser.post("/login", **(form | {"password": TOKEN}))

    assert (let_in.status_code, let_in.headers["location"]) == (303, "/rounds")
    assert (await browser.get("/rounds")).status_code == 200


@pytest.mark.parametrize("wrong", ["", "x", TOKEN + " ", TOKEN.upper(), "ü" * 40])
async def test_a_wrong_token_is_said_to_be_wrong(locked_site: Site, wrong: str) -> None:
    browser = locked_site.browser()

    refused = await browser.log_in(wrong)

    assert refused.status_code == 403
    assert "That token is wrong. Check it and try again." in refused.text
    assert "council_pass" not in browser.client.cookies
    assert (await browser.get("/")).status_code == 303


async def test_no_token_is_right_where_none_is_asked_for(site: Site) -> None:
    assert (await site.browser().log_in("")).status_code == 403


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        ("/rounds/abc", "/rounds/abc"),
        ("", "/"),
        ("https://example.org/", "/"),
        ("//example.org", "/"),
        ("/\\example.org", "/"),
        ("/\t/example.org", "/"),
        ("\\\\example.org", "/"),
        ("javascript:alert(1)", "/"),
        ("/rounds\r\nSet-Cookie: a=b", "/"),
        ("/ä", "/"),
        ("/" + "a" * 999, "/"),
    ],
)
async def test_the_login_redirects_to_no_other_site(
    locked_site: Site, wanted: str, sent: str
) -> None:
    let_in = await locked_site.browser().log_in(next=wanted)

    assert (let_in.status_code, let_in.headers["location"]) == (303, sent)


@pytest.mark.parametrize(
    ("address", "secure"), [("http://localhost:8000", False), ("https://localhost", True)]
)
async def test_cookies_are_http_only_and_same_site(
    locked_site: Site, address: str, *, secure: bool
) -> None:
    browser = locked_site.browser(address)
    login = await browser.get("/login")
    let_in = await browser.log_in()

    for response in (login, let_in):
        (cookie,) = response.headers.get_list("set-cookie")
        flags = {flag.strip().lower() for flag in cookie.split(";")[1:]}
        assert {"httponly", "samesite=lax", "path=/"} <= flags
        assert ("secure" in flags) is secure


async def test_a_session_expires(locked_site: Site) -> None:
    browser = locked_site.browser()
    await browser.log_in()

    locked_site.clock.now += SESSION_SECONDS
    last = (await browser.get("/")).status_code
    locked_site.clock.now += 1

    assert (last, (await browser.get("/")).status_code) == (200, 303)


async def test_a_new_token_invalidates_sessions_and_links(
    new_site: NewSite, locked_site: Site
) -> None:
    browser = locked_site.browser()
    await browser.log_in()
    round_id = await a_closed_round(locked_site)
    link = await linked(locked_site, round_id)
    changed = new_site(locked_site.context.app, token="another long random text")

    other = changed.browser()
    other.client.cookies.update(browser.client.cookies)

    assert (await other.get("/")).status_code == 303
    assert (await other.get(link)).status_code == 403
    assert (await browser.get(link)).status_code == 200


@pytest.mark.parametrize("read", READS)
async def test_a_signed_link_opens_its_round_without_the_token(
    locked_site: Site, read: str
) -> None:
    round_id = await a_closed_round(locked_site)

    opened = await locked_site.browser().get(await linked(locked_site, round_id, read))

    assert opened.status_code == 200


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("key", ["", "x", "AAAA.BBBB", "\u2028", "a" * 5000])
async def test_a_forged_link_opens_nothing(locked_site: Site, key: str, read: str) -> None:
    round_id = await a_closed_round(locked_site)

    refused = await locked_site.browser().get(f"/rounds/{round_id}{read}?key={key}")

    assert refused.status_code == 403
    assert FORGED_LINK in refused.text
    assert "Postgres" not in refused.text


async def test_a_link_opens_no_other_round(locked_site: Site) -> None:
    await a_closed_round(locked_site)
    key = locked_site.context.signer.link_key("0123456789", 60)

    assert (await locked_site.browser().get(f"/rounds/abcdef0123?key={key}")).status_code == 403


async def test_a_signature_is_valid_for_one_purpose_only(locked_site: Site) -> None:
    round_id = await a_closed_round(locked_site)
    seals = locked_site.context.signer

    for key in (seals.csrf_token(round_id), seals.session_token().removeprefix("pass.")):
        assert (await locked_site.browser().get(f"/rounds/{round_id}?key={key}")).status_code == 403
    assert not seals.is_session_token("pass." + seals.link_key("pass", 60))
    assert not seals.is_session_token("pass." + seals.csrf_token("pass"))


async def test_a_link_expires(locked_site: Site) -> None:
    link = await linked(locked_site, await a_closed_round(locked_site))

    locked_site.clock.now += 30 * 24 * 3600
    last = await locked_site.browser().get(link)
    locked_site.clock.now += 1
    refused = await locked_site.browser().get(link)

    assert (last.status_code, refused.status_code) == (200, 410)
    assert EXPIRED_LINK in refused.text
    assert "Postgres" not in refused.text


async def test_a_valid_link_to_an_unknown_round_is_not_found(locked_site: Site) -> None:
    link = await linked(locked_site, "0123456789")

    assert (await locked_site.browser().get(link)).status_code == 404


@pytest.mark.parametrize("act", ["again", "stop", "resume"])
async def test_a_signed_link_permits_no_action(locked_site: Site, act: str) -> None:
    round_id = await a_closed_round(locked_site)
    browser = locked_site.browser()
    form = await browser.form("/login", "/login")

    done = await browser.post(await linked(locked_site, round_id, f"/{act}"), **form)

    assert done.status_code == 401
    assert len(await locked_site.store.list_summaries()) == 1


async def test_a_link_opens_only_its_own_round(locked_site: Site) -> None:
    await locked_site.run_round(a_round_of(SOMEBODY, "aaaaaaaaaa"))
    other = a_round_of(SOMEBODY, "bbbbbbbbbb")

    page = await locked_site.browser().get(
        await linked(locked_site, (await locked_site.run_round(other)).id)
    )

    assert "aaaaaaaaaa" not in page.text
    assert not {form.action for form in forms_of(page) if form.action.startswith("/rounds/")}


async def test_a_signed_link_is_read_only_for_the_asker_too(locked_site: Site) -> None:
    browser = await a_browser_without_session(locked_site)
    round_ = a_round_of(browser.visitor)
    await locked_site.store.open(round_)

    page = await browser.get(await linked(locked_site, round_.id))

    assert "Is Postgres enough?" in page.text
    assert not {form.action for form in forms_of(page) if form.action.startswith("/rounds/")}


async def a_browser_without_session(site: Site) -> Browser:
    browser = site.browser()
    await browser.get("/login")
    return browser


async def test_links_work_where_no_token_is_asked_for(new_site: NewSite) -> None:
    site = new_site(an_app())
    round_id = await a_closed_round(site)

    assert (await site.browser().get(f"/rounds/{round_id}")).status_code == 404
    assert (await site.browser().get(await linked(site, round_id))).status_code == 200


POST_PATHS = [
    re.sub(r"{\w+}", "x", route.path)
    for route in make_site().app.routes
    if isinstance(route, Route) and "POST" in (route.methods or ())
    if not route.path.startswith((API, "/mcp"))  # which take no forms
]


@pytest.mark.parametrize("path", POST_PATHS)
async def test_every_form_without_its_csrf_token_is_refused(site: Site, path: str) -> None:
    browser = site.browser()
    await browser.get("/")

    refused = await browser.post(path, token="forged")

    assert refused.status_code == 403
    assert "This page was open for too long" in refused.text
