"""Limits on requests: bytes of a body, two lengths, slow bodies, slow headers."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from bot.web.auth import MAX_FORM_BYTES, SLACK_EVENTS
from bot.web.limits import BodyLimitMiddleware, HeaderTimeoutProtocol
from bot.web.server import run_server

TIMEOUT_SECONDS = 10.0


async def echo_size(request: Request) -> Response:
    """Return the size of the body."""
    return PlainTextResponse(str(len(await request.body())))


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of an application that counts bytes behind the middleware."""
    routes = [Route("/{path:path}", echo_size, methods=["GET", "POST"])]
    app = BodyLimitMiddleware(Starlette(routes=routes), body_seconds=0.05)
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
    ("path", "limit"), [("/rounds", MAX_FORM_BYTES), ("/login", 4_000), (SLACK_EVENTS, 1_000_000)]
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


async def test_a_body_in_chunks_arrives_whole(client: httpx.AsyncClient) -> None:
    reply = await client.post("/rounds", content=Chunks(count=30))

    assert reply.text == "300000"


async def test_a_length_that_is_too_small_does_not_help(client: httpx.AsyncClient) -> None:
    refused = await client.post("/login", content=Chunks(1), headers={"Content-Length": "5"})

    assert refused.status_code == 413


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


# Slow headers, on a real socket.


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeaderTimeoutProtocol, "header_seconds", 0.05)


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
