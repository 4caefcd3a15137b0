"""A provider that attacks its client: endless, bloated, redirecting and lying replies.

The first part of the path chooses the attack: `http://127.0.0.1:PORT/endless/v1`.
As a process of its own, it prints its address and ends when stdin closes.
"""

import asyncio
import json
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import cache
from itertools import repeat

MEBIBYTE = 1 << 20
DRIP_SECONDS = 0.5


def completion(text: str, tokens_in: int = 10, tokens_out: int = 10) -> bytes:
    """Return a completion in OpenAI's format."""
    usage = {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
    }
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "mine"}
    return json.dumps({**body, "choices": [choice], "usage": usage}).encode()


@cache
def gzip_bomb(size: int = 256) -> bytes:
    """Return a small gzip file of a completion with so many MiB of spaces."""
    start, end = completion("ANSWER").split(b"ANSWER")
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(start), *(packer.compress(b" " * MEBIBYTE) for _ in range(size))]
    return b"".join([*parts, packer.compress(end), packer.flush()])


def head(status: int, headers: dict[str, str]) -> bytes:
    """Return the head of a response that ends with its connection."""
    lines = [f"HTTP/1.1 {status} Whatever", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode()


JSON = {"Content-Type": "application/json"}
EVENTS = {"Content-Type": "text/event-stream"}
EVENT = (
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"mine","choices":[]}\n\n'
)


def endless_json() -> Iterator[bytes]:
    """Yield a completion whose text never ends."""
    yield head(200, JSON) + completion("ANSWER").split(b"ANSWER")[0]
    yield from repeat(b"x" * 65_536)


def endless_stream() -> Iterator[bytes]:
    """Yield a stream of events that never ends."""
    yield head(200, EVENTS)
    yield from repeat(EVENT * 500)


def huge_text(size: int = 100) -> Iterator[bytes]:
    """Yield a completion with so many MiB of text."""
    start, end = completion("ANSWER").split(b"ANSWER")
    yield head(200, JSON) + start
    yield from repeat(b"long word " * (MEBIBYTE // 10), size)
    yield end


ATTACKS: dict[str, Callable[[], Iterator[bytes]]] = {
    "endless": endless_json,
    "endless-stream": endless_stream,
    "bomb": lambda: iter([head(200, JSON | {"Content-Encoding": "gzip"}), gzip_bomb()]),
    "long": lambda: iter([head(200, JSON), completion("long " * 200_000)]),
    "text": huge_text,
    "drip": lambda: iter([head(200, JSON), *[b" "] * 600]),
    "redirect": lambda: iter([head(307, {"Location": "/stolen/v1/chat/completions"})]),
    "brotli": lambda: iter([head(200, JSON | {"Content-Encoding": "br"}), b"\x00" * 100]),
    "fine": lambda: iter([head(200, JSON), completion("Use Postgres.", 100, 10)]),
    "negative": lambda: iter([head(200, JSON), completion("Hi.", -1_000_000, -5)]),
    "absurd": lambda: iter([head(200, JSON), completion("Hi.", 10, 2**31 - 1)]),
    "absurd-in": lambda: iter([head(200, JSON), completion("Hi.", 2**31 - 1, 10)]),
}


class HostileProvider:
    """The server; `paths` are those that were asked for."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.port = 0

    def api_base(self, attack: str) -> str:
        """Return the base address under which the server attacks in this way."""
        return f"http://127.0.0.1:{self.port}/{attack}/v1"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = request.split(" ")[1]
            self.paths.append(path)
            attack = path.split("/")[1]
            for part in ATTACKS[attack]() if attack in ATTACKS else ():
                writer.write(part)
                await writer.drain()
                if attack == "drip":
                    await asyncio.sleep(DRIP_SECONDS)
        writer.close()


async def main() -> None:
    """Serve until stdin closes."""
    provider = HostileProvider()
    async with provider.running():
        sys.stdout.write(f"http://127.0.0.1:{provider.port}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
