"""Faults that a test orders for the next requests to a fake, their queue, and polling."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from aiohttp import web


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error instead of an answer: 500, 503."""

    status: int = 500


@dataclass(frozen=True, slots=True)
class FailAfter:
    """The request is carried out, but an HTTP error is returned."""

    status: int = 500


@dataclass(frozen=True, slots=True)
class DropBefore:
    """The connection closes before the request is carried out."""


@dataclass(frozen=True, slots=True)
class DropAfter:
    """The request is carried out, but the connection closes before the response."""


@dataclass(frozen=True, slots=True)
class Slow:
    """The response is late; the request is carried out at once, or after the wait if `before`."""

    seconds: float
    before: bool = False


@dataclass(frozen=True, slots=True)
class Refuse:
    """The platform refuses with this code."""

    code: str | int


@dataclass(frozen=True, slots=True)
class Storm:
    """For so many seconds, every request is answered 429; Cloudflare's have no Via and no JSON."""

    seconds: float
    retry_after: float = 1.0
    everywhere: bool = False  # Discord's "global": true
    from_cloudflare: bool = False


Fault = Fail | FailAfter | DropBefore | DropAfter | Slow | Refuse


class FaultQueue:
    """Faults by patterns of requests: "chat.*", "POST /channels/*/messages", "*"."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._storms: dict[str, tuple[float, Storm]] = {}

    def order(self, pattern: str, fault: Fault, times: int = 1) -> None:
        """Apply a fault to the next requests of a pattern."""
        self._waiting[pattern].extend([fault] * times)

    def storm(self, pattern: str, storm: Storm, now: float) -> None:
        """Start a storm now."""
        self._storms[pattern] = (now + storm.seconds, storm)

    def clear(self) -> None:
        self._waiting.clear()
        self._storms.clear()

    def next(self, request: str) -> Fault | None:
        """Remove and return the fault for a request, if any."""
        for pattern, waiting in self._waiting.items():
            if waiting and fnmatchcase(request, pattern):
                return waiting.popleft()
        return None

    def storm_over(self, request: str, now: float) -> Storm | None:
        """Return the storm this request is in, if any."""
        for pattern, (until, storm) in self._storms.items():
            if now < until and fnmatchcase(request, pattern):
                return storm
        return None


class RecordedCall(Protocol):
    outcome: str


async def respond(
    request: web.Request,
    call: RecordedCall,
    fault: Fault | None,
    act: Callable[[], web.Response],
    refuse: Callable[[Refuse], web.Response],
) -> web.Response:
    """Carry out a request unless its fault comes first, and record the outcome."""
    match fault:
        case Fail():
            call.outcome = str(fault.status)
            return _error_page(fault.status)
        case DropBefore():
            call.outcome = "dropped before"
            return _drop(request)
        case Refuse():
            return refuse(fault)
        case Slow(before=True):
            await asyncio.sleep(fault.seconds)
    response = act()
    match fault:
        case FailAfter():
            call.outcome = f"{fault.status} after {call.outcome}"
            return _error_page(fault.status)
        case DropAfter():
            call.outcome = f"dropped after {call.outcome}"
            return _drop(request)
        case Slow(before=False):
            await asyncio.sleep(fault.seconds)
    return response


def _error_page(status: int) -> web.Response:
    return web.Response(status=status, text="<html>unwell</html>", content_type="text/html")


def _drop(request: web.Request) -> web.Response:
    assert request.transport
    request.transport.abort()
    return web.Response()


async def until(
    holds: Callable[[], object],
    seconds: float,
    seen: Callable[[], Iterable[str]],
    pause_seconds: float = 0.005,
) -> None:
    """Poll until a condition holds; on timeout, fail with the last calls."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not holds():
        if loop.time() > end:
            raise AssertionError(f"still not so after {seconds} s; last calls: {[*seen()]}")
        await asyncio.sleep(pause_seconds)
