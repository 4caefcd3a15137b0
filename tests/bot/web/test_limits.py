"""Limits on requests: how many, bytes of a body, two lengths, slow bodies, slow headers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from bot.web import limits
from bot.web.api_requests import MAX_API_BYTES
from bot.web.app import create_app
from bot.web.auth import MAX_FORM_BYTES, TooManyRequestsError
from bot.web.limits import (
    TOO_MANY_CONNECTIONS,
    BodyLimitMiddleware,
    ConnectionLimit,
    LimitedProtocol,
    PageLimits,
    RequestLimit,
)
from bot.web.server import run_server
from council.budget_caps import Caps
from council.money import Price
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import TOKEN, Clock, NewSite, Site
from tests.builders import GPT
from tests.fakes.gateway import FakeGateway

TIMEOUT_SECONDS = 10.0


async def echo_size(request: Request) -> Response:
    """Return the size of the body."""
    return PlainTextResponse(str(len(await request.body())))


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of an application that counts bytes behind the middleware."""
    routes = [Route("/{path:path}", echo_size, methods=["GET", "POST"])]
    app = BodyLimitMiddleware(
        Starlette(routes=routes),
        body_seconds=0.05,
        max_bytes={"/events": 1_000_000},
        form_folders=("plugin",),
    )
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://council") as client:
        yield client


class Chunks(httpx.AsyncByteStream):
    """A body of many chunks, without a length; counts how many were taken."""

    def __init__(self, count: int, size: int = 10_000) -> None:
        self.taken = 0
        self._count, self._size = count, size

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(self._count):
            self.taken += 1
            yield b"x" * self._size


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/rounds", MAX_FORM_BYTES),
        ("/rounds/r1/again", MAX_FORM_BYTES),
        ("/plugin/form", MAX_FORM_BYTES),
        ("/login", 4_000),
        pytest.param("/events", 1_000_000, id="a route of a chat"),
        ("/v1/chat/completions", MAX_API_BYTES),
        ("/nowhere", 64_000),
    ],
)
async def test_a_body_may_be_as_large_as_its_path_allows(
    client: httpx.AsyncClient, path: str, limit: int
) -> None:
    allowed = await client.post(path, content=b"x" * limit)
    refused = await client.post(path, content=b"x" * (limit + 1))

    assert (allowed.status_code, allowed.text) == (200, str(limit))
    assert (refused.status_code, refused.headers["connection"]) == (413, "close")
    assert f"{limit:,}" in refused.text


async def test_a_body_without_a_length_is_read_no_further_than_the_limit(
    client: httpx.AsyncClient,
) -> None:
    body = Chunks(count=10_000)

    refused = await client.post("/login", content=body)

    assert refused.status_code == 413
    assert body.taken == 1


async def test_a_body_counts_whatever_the_method_is(client: httpx.AsyncClient) -> None:
    assert (await client.request("GET", "/rounds", content=Chunks(500))).status_code == 413


async def test_a_body_in_chunks_arrives_whole(client: httpx.AsyncClient) -> None:
    reply = await client.post("/rounds", content=Chunks(count=30))

    assert reply.text == "300000"


async def test_a_length_that_is_too_small_does_not_help(client: httpx.AsyncClient) -> None:
    refused = await client.post("/login", content=Chunks(1), headers={"Content-Length": "5"})

    assert refused.status_code == 413


async def test_a_length_of_thousands_of_digits_is_too_large(client: httpx.AsyncClient) -> None:
    headers = {"Content-Length": "9" * 5_000}

    assert (await client.post("/rounds", content=Chunks(1), headers=headers)).status_code == 413


@pytest.mark.parametrize(
    "headers",
    [{"Content-Length": "5", "Transfer-Encoding": "chunked"}, {"Content-Length": "5, 6"}],
    ids=["both-lengths", "two-lengths"],
)
async def test_an_ambiguous_length_is_refused(
    client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    reply = await client.post("/rounds", content=Chunks(1), headers=headers)

    assert reply.status_code == 400


async def test_a_body_that_never_ends_is_refused(client: httpx.AsyncClient) -> None:
    async def stuck() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    reply = await client.post("/rounds", content=stuck())

    assert reply.status_code == 408


async def test_half_a_body_never_reaches_the_application() -> None:
    reached: list[str] = []
    messages: list[Message] = [
        {"type": "http.request", "body": b"question=Should we", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope["path"])

    async def receive() -> Message:
        return messages.pop(0)

    async def send(_: Message) -> None:
        reached.append("sent")

    scope = {"type": "http", "method": "POST", "path": "/ask", "headers": []}
    await BodyLimitMiddleware(app)(scope, receive, send)

    assert reached == []


# How many requests.


def test_a_key_waits_until_its_window_ends() -> None:
    clock = Clock()
    limit = RequestLimit(2, 60.0, clock)
    limit.count("a")
    clock.now += 20
    limit.count("a")
    limit.count("b")

    with pytest.raises(TooManyRequestsError) as refused:
        limit.check("a")
    limit.check("b")
    clock.now += 40
    limit.check("a")

    assert refused.value.retry_seconds == 40


def test_the_oldest_of_too_many_keys_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_KEYS", 2)
    limit = RequestLimit(1, 60.0)
    for key in "abc":
        limit.count(key)

    limit.check("a")
    for key in "bc":
        with pytest.raises(TooManyRequestsError):
            limit.check(key)


def limited_site(new_site: NewSite, *, token: str = "", **changed: int) -> Site:
    """Return a site with these limits for the whole test."""
    site = new_site(token=token or None)
    few = {name: RequestLimit(most, 300.0, site.clock) for name, most in changed.items()}
    context = replace(site.context, limits=PageLimits(**few))
    site.context, site.app = context, create_app(context)
    return site


@pytest.mark.parametrize("limit", ["visitor", "visitor_forms"])
async def test_a_visitor_who_is_too_fast_waits_and_others_do_not(
    new_site: NewSite, limit: str
) -> None:
    site = limited_site(new_site, token="", **{limit: 3})
    browser, other = site.browser(), site.browser()
    await browser.get("/")
    await other.get("/")

    found = [(await browser.post("/ask")).status_code for _ in range(4)]

    assert found == [403, 403, 403, 429]
    assert (await browser.get("/healthz")).status_code == 200
    assert (await other.get("/")).status_code == 200


@pytest.mark.parametrize("limit", ["address", "address_forms"])
async def test_without_a_cookie_the_address_is_limited(new_site: NewSite, limit: str) -> None:
    site = limited_site(new_site, token="", **{limit: 3})

    found = [(await site.browser(ip=f"2001:db8::{n}").post("/ask")) for n in range(4)]

    assert [page.status_code for page in found] == [403, 403, 403, 429]
    assert (await site.browser(ip="2001:db9::1").post("/ask")).status_code == 403


async def test_a_refusal_says_when_to_try_again(new_site: NewSite) -> None:
    site = limited_site(new_site, address=1)
    browser = site.browser()
    await browser.get("/")

    page = await browser.get("/")
    document = await browser.get("/", accept="application/json")

    assert (page.status_code, page.headers["retry-after"]) == (429, "300")
    assert "try again in 300 s" in page.text
    assert document.headers["retry-after"] == "300"
    assert document.json()["error"]["type"] == "rate_limit_exceeded"


async def test_wrong_tokens_are_limited_wherever_they_are_tried(new_site: NewSite) -> None:
    site = limited_site(new_site, token=TOKEN, failures=4)
    guesses = [
        (await site.browser().log_in("wrong")).status_code,
        (await site.browser(authorization="Bearer wrong").get("/", accept="*/*")).status_code,
        (await site.browser(authorization="Bearer wrong").get("/healthz")).status_code,
        (await site.browser(authorization="Bearer wrong").get("/login")).status_code,
    ]

    right = [
        (await site.browser().log_in()).status_code,
        (await site.browser(authorization=f"Bearer {TOKEN}").get("/")).status_code,
    ]

    assert (guesses, right) == ([403, 401, 200, 200], [429, 429])
    assert (await site.browser(ip="192.0.2.1").log_in()).status_code == 303


async def test_a_proxys_own_login_is_no_guess_of_the_token(new_site: NewSite) -> None:
    site = limited_site(new_site, token=TOKEN, failures=1)
    for _ in range(3):
        await site.browser(authorization="Basic d2hvOndoYXQ=").get("/login")

    assert (await site.browser().log_in()).status_code == 303


async def test_a_session_is_not_locked_out_by_others_who_guess(new_site: NewSite) -> None:
    site = limited_site(new_site, token=TOKEN, failures=1)
    browser = site.browser()
    await browser.log_in()
    await site.browser().log_in("wrong")

    assert (await browser.get("/")).status_code == 200


@pytest.mark.parametrize("cookie", ["", "{:032x}"], ids=["dropped", "made-up"])
async def test_dropping_the_cookie_does_not_evade_a_cap(new_site: NewSite, cookie: str) -> None:
    def capped_site() -> Site:
        site = new_site(an_app(FakeGateway(prices={GPT: Price(1e-6, 2e-6, 100)})))
        site.context.app.budget = replace(site.context.app.budget, caps=Caps(user_day=30_000))
        return site

    site, same = capped_site(), capped_site().browser()
    others = [site.browser() for _ in range(9)]
    for number, browser in enumerate(others):
        browser.client.cookies.set("council_visitor", cookie.format(number))
    honest = [(await same.ask("Why?")).status_code for _ in others]
    dropped = [(await browser.ask("Why?")).status_code for browser in others]

    assert dropped == honest
    assert (honest[0], honest[-1]) == (303, 422)
    assert (await site.browser(ip="192.0.2.1").ask("Why?")).status_code == 303


# Slow headers, on a real socket.


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LimitedProtocol, "header_seconds", 0.05)


async def nothing() -> None:
    """Do nothing once the port is bound."""


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ", id="unfinished-headers"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n", id="second-request"),
    ],
)
async def test_a_connection_without_complete_headers_is_closed(sent: bytes) -> None:
    app = Starlette(routes=[Route("/", echo_size)])
    async with run_server(app, "127.0.0.1", 0, nothing) as server:
        port = int(server.address.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            received = await reader.read()
        writer.close()

    assert received.count(b"200 OK") == sent.count(b"\r\n\r\n")


@pytest.mark.usefixtures("_impatient")
async def test_a_slow_answer_is_not_cut_off() -> None:
    async def slow(_: Request) -> Response:
        await asyncio.sleep(0.2)  # four times as long as headers may take
        return PlainTextResponse("done")

    app = Starlette(routes=[Route("/", slow)])
    async with run_server(app, "127.0.0.1", 0, nothing) as server, httpx.AsyncClient() as client:
        assert (await client.get(server.address)).text == "done"


@asynccontextmanager
async def open_connection(port: int) -> AsyncIterator[None]:
    """Hold a connection that the server has answered, then end it and wait until it has."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    yield
    writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    await reader.read()
    writer.close()


async def test_a_connection_above_the_limit_is_refused_until_another_ends() -> None:
    app = Starlette(routes=[Route("/", echo_size)])
    async with (
        run_server(app, "127.0.0.1", 0, nothing, max_connections=2) as server,
        asyncio.timeout(TIMEOUT_SECONDS),
        httpx.AsyncClient(trust_env=False) as client,
    ):
        port = int(server.address.rpartition(":")[2])
        async with open_connection(port):
            async with open_connection(port):
                refused = await client.get(server.address)
            answered = await client.get(server.address)

    assert (refused.status_code, refused.text) == (503, TOO_MANY_CONNECTIONS)
    assert int(refused.headers["retry-after"]) > 0
    assert answered.status_code == 200


async def test_a_thousand_refused_connections_take_one_line_of_the_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    limit = ConnectionLimit(5, clock)
    for _ in range(1_000):
        limit.count_refused()
    clock.now += 60
    limit.count_refused()

    lines = [line for line in capsys.readouterr().out.splitlines() if "connections_refused" in line]
    assert len(lines) == 2
    assert "1000" in lines[1]
