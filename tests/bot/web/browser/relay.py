"""A TCP relay to the product that can be cut, like a network connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Relay:
    """Forwards bytes in both directions until it is cut."""

    def __init__(self, port: int) -> None:
        self.address = ""
        self._to = port
        self._open: set[asyncio.StreamWriter] = set()
        self._is_cut = False

    def cut(self) -> None:
        """Break every connection and refuse new ones."""
        self._is_cut = True
        for writer in self._open:
            writer.transport.abort()

    def restore(self) -> None:
        """Accept connections again."""
        self._is_cut = False

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        if self._is_cut:
            writer.transport.abort()
            return
        from_product, to_product = await asyncio.open_connection("127.0.0.1", self._to)
        ends = {writer, to_product}
        self._open |= ends
        try:
            await asyncio.gather(_copied(reader, to_product), _copied(from_product, writer))
        except OSError:
            pass
        finally:
            self._open -= ends
            for end in ends:
                end.transport.abort()


async def _copied(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while some := await source.read(65536):
        sink.write(some)
        await sink.drain()
    raise ConnectionResetError


@asynccontextmanager
async def relayed(port: int) -> AsyncIterator[Relay]:
    """Yield a relay to a port of this machine."""
    relay = Relay(port)
    server = await asyncio.start_server(relay.forward, "127.0.0.1", 0)
    relay.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield relay
    finally:
        relay.cut()
        server.close()
