"""Limits on requests (how many, how large, how slow) and on connections."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.web.api_errors import error_document
from bot.web.api_requests import API, MAX_API_BYTES
from bot.web.auth import (
    MAX_FORM_BYTES,
    TooManyRequestsError,
    address_of,
    matches_token,
)
from council.files import MAX_TOTAL_BYTES

MAX_BODY_BYTES = 64_000
MAX_BODY_BYTES_BY_PATH: Mapping[str, int] = {
    "/login": 4_000,
    "/ask": MAX_TOTAL_BYTES + MAX_FORM_BYTES,
    "mcp": 1_000_000,  # ten texts to rank
    API.strip("/"): MAX_API_BYTES,
    # The forms of the page, by the first part of the path.
    **dict.fromkeys(("rounds", "press"), MAX_FORM_BYTES),
}
BODY_SECONDS = 30.0
HEADER_SECONDS = 10.0
MAX_KEYS = 10_000
MAX_CONNECTIONS = 2_000
TOO_MANY_CONNECTIONS = "Too many connections are open. Try again in a few seconds.\n"
_REFUSAL = (
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
    f"Content-Length: {len(TOO_MANY_CONNECTIONS)}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
    f"{TOO_MANY_CONNECTIONS}"
).encode()
_REFUSAL_SECONDS = 1.0
_LOG_SECONDS = 60.0
_MAX_LENGTH_DIGITS = 20  # of a Content-Length; Python refuses to read very long numbers


class RequestLimit:
    """Counts events by key, in windows of so many seconds that begin with a key's first event.

    The table is bounded: the key whose window is oldest is forgotten first.
    """

    def __init__(
        self, most: int, seconds: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._seconds, self._now = most, seconds, now
        self._windows: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def check(self, key: str) -> None:
        """Raise TooManyRequestsError, with the seconds to wait, if the key is at its limit."""
        end, events = self._windows.get(key, (0.0, 0))
        left = end - self._now()
        if left > 0 and events >= self._most:
            raise TooManyRequestsError(math.ceil(left))

    def count(self, key: str) -> None:
        """Count an event."""
        end, events = self._windows.get(key, (0.0, 0))
        if end <= self._now():
            self._windows.pop(key, None)
            end, events = self._now() + self._seconds, 0
        self._windows[key] = (end, events + 1)
        if len(self._windows) > MAX_KEYS:
            self._windows.popitem(last=False)


@dataclass(frozen=True, slots=True)
class PageLimits:
    """The limits of one process.

    `failures` counts wrong tokens by address, at the login and as a bearer. The others count
    requests, and `forms` those that change something, by visitor and by address.
    """

    failures: RequestLimit = field(default_factory=lambda: RequestLimit(10, 300.0))
    visitor: RequestLimit = field(default_factory=lambda: RequestLimit(1_000, 10.0))
    address: RequestLimit = field(default_factory=lambda: RequestLimit(3_000, 10.0))
    visitor_forms: RequestLimit = field(default_factory=lambda: RequestLimit(600, 60.0))
    address_forms: RequestLimit = field(default_factory=lambda: RequestLimit(1_200, 60.0))

    def is_right_token(self, connection: HTTPConnection, token: str, sent: str) -> bool:
        """Return whether a token is right; count a wrong one against its address.

        Raise TooManyRequestsError after too many: even a right guess does not count then.
        """
        address = address_of(connection)
        self.failures.check(address)
        is_right = matches_token(sent, token)
        if not is_right:
            self.failures.count(address)
        return is_right


class BodyLimitMiddleware:
    """Middleware that reads a body, up to the limit of its path, before anything parses it.

    Bytes are counted as they arrive, whatever `Content-Length` says. A body that is too large gets
    413, one that arrives too slowly 408, and a request with two kinds of length 400. A body whose
    sender hangs up in the middle is dropped: half a question must not be asked. `max_bytes` are
    limits by path, `form_folders` the first parts of the paths of plug-ins' forms, which may be as
    large as a round's.
    """

    def __init__(
        self,
        app: ASGIApp,
        body_seconds: float = BODY_SECONDS,
        max_bytes: Mapping[str, int] | None = None,
        form_folders: Collection[str] = (),
    ) -> None:
        self._app = app
        forms = dict.fromkeys(form_folders, MAX_FORM_BYTES)
        self._limits = {**forms, **MAX_BODY_BYTES_BY_PATH, **(max_bytes or {})}
        self._body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        app = self._app
        if scope["type"] == "http":
            try:
                async with asyncio.timeout(self._body_seconds):
                    receive = _replay(await _read_body(scope, receive, self._limits), receive)
            except ClientDisconnect:
                return
            except TimeoutError:
                app = _refusal(scope, 408, "The request took too long to arrive.")
            except HTTPException as error:
                app = _refusal(scope, error.status_code, error.detail)
        await app(scope, receive, send)


def _refusal(scope: Scope, status: int, sentence: str) -> ASGIApp:
    # What is left of the body is not read, so the connection cannot be used again.
    headers = {"Connection": "close"}
    if scope["path"].startswith(API):
        return JSONResponse(error_document(status, sentence), status, headers)
    return PlainTextResponse(f"{sentence}\n", status, headers)


async def _read_body(scope: Scope, receive: Receive, limits: Mapping[str, int]) -> bytearray:
    """Return the whole body; raise HTTPException at the first byte too many.

    Raise ClientDisconnect if its sender hangs up before the end.
    """
    headers, path = Headers(scope=scope), scope["path"]
    limit = limits.get(path) or limits.get(path.strip("/").partition("/")[0], MAX_BODY_BYTES)
    length = headers.get("content-length", "0")
    # A proxy in front could take the other length, and see another request in what is left.
    if not length.isdecimal() or ("content-length" in headers and "transfer-encoding" in headers):
        raise HTTPException(400, "The length of the request is ambiguous.")
    size = int(length[:_MAX_LENGTH_DIGITS])
    body, has_more = bytearray(), True
    while has_more and size <= limit:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        size, has_more = len(body), message.get("more_body", False)
    if size > limit:
        raise HTTPException(413, f"That is too much: at most {limit:,} bytes can be sent here.")
    return body


def _replay(body: bytearray, receive: Receive) -> Receive:
    """Return a `receive` that yields the body as one message, then what else comes."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return pending.pop() if pending else await receive()

    return receive_again


class ConnectionLimit:
    """The most connections that a server takes, and half as many that wait for their refusal.

    Logs how many were refused, once a minute at most.
    """

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        self.most, self._now = most, now
        self._refused, self._logged_at = 0, -math.inf

    def count_refused(self) -> None:
        """Count a connection that was refused."""
        self._refused += 1
        if self._now() - self._logged_at >= _LOG_SECONDS:
            structlog.get_logger().warning(
                "connections_refused", refused=self._refused, limit=self.most
            )
            self._refused, self._logged_at = 0, self._now()


class LimitedProtocol(H11Protocol):
    """uvicorn's protocol with a limit on connections and on the time that headers may take."""

    limit = ConnectionLimit(MAX_CONNECTIONS)
    header_seconds = HEADER_SECONDS
    _header_timer: asyncio.TimerHandle | None = None
    _is_refused = False

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - as in asyncio
        """Start waiting for the headers of the first request, or refuse the connection."""
        super().connection_made(transport)
        if len(self.connections) > self.limit.most:
            self._refuse()
        else:
            self._watch_headers()

    def _refuse(self) -> None:
        """Send a refusal; where many wait for one already, only hang up."""
        self.limit.count_refused()
        self._is_refused = True
        if len(self.connections) > self.limit.most * 3 // 2:
            self.transport.abort()
            return
        # Data that is still unread when a socket closes would destroy the reply on its way.
        self.transport.write(_REFUSAL)
        self.transport.write_eof()
        self._header_timer = self.loop.call_later(_REFUSAL_SECONDS, self.transport.close)

    def data_received(self, data: bytes) -> None:
        """Handle data; keep waiting only while no request is complete."""
        if self._is_refused:
            self.transport.close()
            return
        super().data_received(data)
        self._watch_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        self._cancel_timer()

    def _watch_headers(self) -> None:
        if not self._is_waiting():
            self._cancel_timer()
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(self.header_seconds, self._close_if_waiting)

    def _is_waiting(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _close_if_waiting(self) -> None:
        self._header_timer = None
        if self._is_waiting():
            self.transport.close()

    def _cancel_timer(self) -> None:
        if self._header_timer:
            self._header_timer.cancel()
            self._header_timer = None
