"""HTTP transport of model calls: limits the size of a reply and follows no redirect."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import import_module
from typing import Any, cast

import httpx

MAX_REPLY_BYTES = 2_000_000  # decompressed
MAX_STREAM_BYTES = 8_000_000  # likewise; every token has its JSON around it
_PIECE_BYTES = 1_024
_UNPACED_BYTES, _PAUSE_SECONDS = 256_000, 0.001  # of a stream; its events are slow to parse
_GZIP_OR_ZLIB = 47  # zlib finds out which
_PATCHED = "create_async_transport"


class ReplyTooLargeError(httpx.TransportError):
    """A provider sent more than any answer needs."""


def limit_replies() -> None:
    """Limit the replies of all HTTP clients that litellm creates from now on."""
    handler: Any = import_module("litellm.llms.custom_httpx.http_handler").AsyncHTTPHandler
    create: Callable[..., httpx.AsyncBaseTransport | None] = getattr(handler, _PATCHED)
    if hasattr(create, "limits_replies"):
        return

    def create_limited(*args: Any, **kwargs: Any) -> LimitedTransport:  # noqa: ANN401 - litellm's
        return LimitedTransport(create(*args, **kwargs) or httpx.AsyncHTTPTransport())

    create_limited.limits_replies = True  # type: ignore[attr-defined]
    setattr(handler, _PATCHED, staticmethod(create_limited))


class LimitedTransport(httpx.AsyncBaseTransport):
    """A transport that limits decompressed replies and removes the target of redirects."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return its limited response."""
        request.headers["Accept-Encoding"] = "gzip"  # decompressed in pieces
        response = await self._transport.handle_async_request(request)
        headers = httpx.Headers(response.headers)
        headers.pop("Location", None)
        encoding = headers.pop("Content-Encoding", "identity").strip().lower()
        if encoding != "identity":
            headers.pop("Content-Length", None)
        if encoding not in {"identity", "gzip", "x-gzip", "deflate"}:
            await response.aclose()
            raise httpx.DecodingError(f"no decoder for {encoding[:20]}")
        return httpx.Response(
            response.status_code,
            headers=headers,
            stream=_LimitedStream(response, is_compressed=encoding != "identity"),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()


class _LimitedStream(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response, *, is_compressed: bool) -> None:
        self._response = response
        is_stream = response.headers.get("Content-Type", "").startswith("text/event-stream")
        self._left = MAX_STREAM_BYTES if is_stream else MAX_REPLY_BYTES
        self._unpaced = MAX_STREAM_BYTES - _UNPACED_BYTES if is_stream else 0
        self._decompressor = zlib.decompressobj(_GZIP_OR_ZLIB) if is_compressed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in cast("httpx.AsyncByteStream", self._response.stream):
            for piece in self._decompress(chunk):
                self._left -= len(piece)
                if self._left < 0:
                    raise ReplyTooLargeError("the reply is too large")
                for start in range(0, len(piece), _PIECE_BYTES):
                    yield piece[start : start + _PIECE_BYTES]
                    # litellm parses a stream that never pauses without a pause for anything else.
                    await asyncio.sleep(_PAUSE_SECONDS if self._left < self._unpaced else 0)

    def _decompress(self, chunk: bytes) -> Iterator[bytes]:
        """Yield a chunk's content in pieces that are not larger than what is left, plus a byte."""
        if self._decompressor is None:
            yield chunk
            return
        while chunk:
            try:
                yield self._decompressor.decompress(chunk, self._left + 1)
            except zlib.error as error:
                raise httpx.DecodingError("the reply is not compressed as it says") from error
            chunk = self._decompressor.unconsumed_tail

    async def aclose(self) -> None:
        await self._response.aclose()
