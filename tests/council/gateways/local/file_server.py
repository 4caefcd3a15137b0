"""A small HTTP server on loopback that serves files, with ranges, and with faults on request."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class FileServer:
    """The files by path, the faults to inject, and the requests so far."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    cut_after: int | None = None  # bytes of a body before the connection drops
    cuts_left: int = 0
    takes_ranges: bool = True
    asked: list[str] = field(default_factory=list)
    served: int = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split()[1]
        self.asked.append(path)
        status, body = self._reply(path, head)
        writer.write(
            f"HTTP/1.1 {status} -\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        sent = self._cut(body)
        self.served += len(sent)
        writer.write(sent)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    def _reply(self, path: str, head: str) -> tuple[int, bytes]:
        status = self.statuses.get(path, 200 if path in self.files else 404)
        if status != 200:
            return status, b""
        body = self.files[path]
        asked = re.search(r"^range: bytes=(\d+)-", head, re.MULTILINE | re.IGNORECASE)
        if asked is None or not self.takes_ranges:
            return 200, body
        start = int(asked[1])
        return (206, body[start:]) if start < len(body) else (416, b"")

    def _cut(self, body: bytes) -> bytes:
        if self.cut_after is None or not self.cuts_left or len(body) <= self.cut_after:
            return body
        self.cuts_left -= 1
        return body[: self.cut_after]


@asynccontextmanager
async def serving() -> AsyncIterator[FileServer]:
    """Serve on a free port while the context lasts."""
    files = FileServer()
    server = await asyncio.start_server(files.answer, "127.0.0.1", 0)
    files.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield files
    finally:
        server.close()
        await server.wait_closed()
