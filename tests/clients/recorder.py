"""Recording proxy: passes a client's bytes on, and keeps what it sent."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as the client sent it."""

    method: str
    path: str
    body: str


@dataclass(slots=True)
class Recorder:
    """What clients have sent, by connection, the first one first."""

    address: str = ""
    connections: list[bytearray] = field(default_factory=list)

    def posts(self) -> list[Sent]:
        """Return the requests that carry a body."""
        return [
            sent
            for connection in self.connections
            for sent in _parse(bytes(connection))
            if sent.method == "POST"
        ]


@asynccontextmanager
async def recording(target: str) -> AsyncIterator[Recorder]:
    """Serve a proxy to an address, such as "http://127.0.0.1:80", until the end of the block."""
    recorder, host = Recorder(), urlsplit(target)
    connected: set[asyncio.Task[None]] = set()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = bytearray()
        recorder.connections.append(sent)
        there, back = await asyncio.open_connection(host.hostname, host.port)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_pass_on(reader, back, sent))
                both.create_task(_pass_on(there, writer, bytearray()))
        finally:
            writer.close()
            back.close()

    def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(relay(reader, writer))
        connected.add(task)
        task.add_done_callback(connected.discard)

    server = await asyncio.start_server(on_connection, "127.0.0.1", 0)
    recorder.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield recorder
    finally:
        server.close()
        for task in connected:
            task.cancel()
        await asyncio.gather(*connected, return_exceptions=True)


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray
) -> None:
    """Copy bytes until either side hangs up."""
    with suppress(OSError):
        while chunk := await reader.read(_CHUNK):
            kept += chunk
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()


def _parse(sent: bytes) -> Iterator[Sent]:
    """Yield the requests of a connection; bodies have a `Content-Length`."""
    while b"\r\n\r\n" in sent:
        head, _, sent = sent.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
        }
        length = int(headers.get("content-length", 0))
        method, path, _ = first.split(" ", 2)
        yield Sent(method, path, sent[:length].decode(errors="replace"))
        sent = sent[length:]
