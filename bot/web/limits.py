"""Limits on requests: ASGI middleware for the size of a body, uvicorn protocol for slow headers."""

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.web.auth import MAX_FORM_BYTES, SLACK_EVENTS

MAX_BODY_BYTES_BY_PATH: Mapping[str, int] = {"/login": 4_000, SLACK_EVENTS: 1_000_000}
BODY_SECONDS = 30.0
HEADER_SECONDS = 10.0

_METHODS_WITH_BODY = {"POST", "PUT", "PATCH", "DELETE"}


class BodyLimitMiddleware:
    """Middleware that reads a body, up to the limit of its path, before anything parses it.

    Bytes are counted as they arrive, whatever `Content-Length` says. A body that is too large gets
    413, one that arrives too slowly 408, and a request with two kinds of length 400. A body whose
    sender hangs up in the middle is dropped: half a question must not be asked.
    """

    def __init__(self, app: ASGIApp, body_seconds: float = BODY_SECONDS) -> None:
        self._app = app
        self._body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = _limit(scope["path"])
        refusal = _refusal(Headers(scope=scope), limit)
        if refusal is None and scope["method"] in _METHODS_WITH_BODY:
            try:
                async with asyncio.timeout(self._body_seconds):
                    receive = _replay(await _read_body(receive, limit), receive)
            except ClientDisconnect:
                return
            except _TooLargeError:
                refusal = _too_large(limit)
            except TimeoutError:
                refusal = _refuse(408, "The request took too long to arrive.")
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


class _TooLargeError(Exception):
    """A body is larger than its path allows."""


def _limit(path: str) -> int:
    return MAX_BODY_BYTES_BY_PATH.get(path, MAX_FORM_BYTES)


def _refusal(headers: Headers, limit: int) -> PlainTextResponse | None:
    """Return the response to a request that is refused by its headers alone, or None."""
    length = headers.get("content-length")
    if length is None:
        return None
    # A proxy in front could take the other length, and see another request in what is left.
    if "transfer-encoding" in headers or not length.isdigit():
        return _refuse(400, "The length of the request is ambiguous.")
    return _too_large(limit) if int(length) > limit else None


def _too_large(limit: int) -> PlainTextResponse:
    return _refuse(413, f"That is too much: at most {limit:,} bytes can be sent here.")


def _refuse(status: int, sentence: str) -> PlainTextResponse:
    # What is left of the body is not read, so the connection cannot be used again.
    return PlainTextResponse(f"{sentence}\n", status, headers={"Connection": "close"})


async def _read_body(receive: Receive, limit: int) -> bytes:
    """Return the whole body; raise _TooLargeError at the first byte too many.

    Raise ClientDisconnect if its sender hangs up before the end.
    """
    chunks, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _TooLargeError
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields the body as one message, then what else comes."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return pending.pop() if pending else await receive()

    return receive_again


class HeaderTimeoutProtocol(H11Protocol):
    """uvicorn's protocol, which closes a connection whose request headers do not arrive in time."""

    header_seconds = HEADER_SECONDS
    _header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - as in asyncio
        """Start waiting for the headers of the first request."""
        super().connection_made(transport)
        self._watch_headers()

    def data_received(self, data: bytes) -> None:
        """Handle data; keep waiting only while no request is complete."""
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
