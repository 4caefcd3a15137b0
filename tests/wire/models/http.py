"""Just enough HTTP/1.1 for a fake server: keep-alive, JSON replies and event streams.

Knows nothing of models. The event loop turns Nagle off on every connection (TCP_NODELAY).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came in; header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Connection(asyncio.Protocol):
    """One client's connection: requests are served in turn, and a hang-up ends the work at once."""

    def __init__(self, serve: "Serve", open_: set["Connection"]) -> None:
        self._serve = serve
        self._open = open_
        self._buffer = b""
        self.work: asyncio.Task[None] | None = None
        self.closed = asyncio.Event()  # the client is gone, and the work for it has ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.discard(self)
        if self.work:
            self.work.cancel()
        else:
            self.closed.set()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    def _next(self) -> None:
        if self.work:
            return
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        request_line, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = request_line.split(" ")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        received = Received(method, path, headers, rest[:length])
        self.work = asyncio.ensure_future(self._serve(received, self))
        self.work.add_done_callback(self._served)

    def _served(self, work: asyncio.Task[None]) -> None:
        self.work = None
        if work.cancelled():
            self.closed.set()
            return
        if work.exception():
            self.drop()
        else:
            self._next()

    def send(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        self.transport.write(self.head(status, len(content), headers) + content)

    def head(self, status: int, length: int, headers: Mapping[str, str] | None = None) -> bytes:
        """Return the head of a JSON reply of this length."""
        lines = [
            f"HTTP/1.1 {status} {_phrase(status)}",
            "content-type: application/json",
            f"content-length: {length}",
            *(f"{name}: {value}" for name, value in (headers or {}).items()),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def open_stream(self) -> None:
        self.transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )

    def send_event(self, event: str) -> None:
        content = f"data: {event}\n\n".encode()
        self.transport.write(b"%x\r\n%s\r\n" % (len(content), content))

    def end_stream(self) -> None:
        """End the stream as HTTP wants it; whether it was complete is another matter."""
        self.transport.write(b"0\r\n\r\n")

    def send_raw(self, content: bytes) -> None:
        self.transport.write(content)

    def drop(self) -> None:
        """Close after what was written, in the middle of a reply or not."""
        self.transport.close()


Serve = Callable[[Received, Connection], Awaitable[None]]


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
