"""Fault injection: rate limit storms, errors, dropped connections and delays."""

import asyncio
import math
from collections.abc import Callable

from aiohttp import web

from tests.wire.slack.calls import Call
from tests.wire.slack.state import State
from tests.wire.slack.troubles import InjectedFault, Refuse
from tests.wire.troubles import DropAfter, DropBefore, Fail, Slow

Respond = Callable[[], web.Response]


async def respond_or_fail(
    state: State, request: web.Request, call: Call, act: Respond
) -> web.Response:
    """Run the call unless a fault is injected, and record the outcome."""
    state.calls.append(call)
    state.on_request(call, request)
    wait = state.troubles.retry_after(call.method, call.at)
    if wait is not None:
        call.outcome = "ratelimited"
        return rate_limited_response(wait)
    trouble = state.troubles.next(call.method)
    instead = _instead(request, call, trouble)
    if instead is not None:
        return instead
    if isinstance(trouble, Slow) and trouble.before:
        await asyncio.sleep(trouble.seconds)
    answer = act()
    if isinstance(trouble, DropAfter):
        call.outcome = f"dropped after {call.outcome}"
        return _drop(request)
    if isinstance(trouble, Slow) and not trouble.before:
        await asyncio.sleep(trouble.seconds)
    return answer


def _instead(
    request: web.Request, call: Call, trouble: InjectedFault | None
) -> web.Response | None:
    match trouble:
        case Fail():
            call.outcome = str(trouble.status)
            text = "<html>unwell</html>"
            return web.Response(status=trouble.status, text=text, content_type="text/html")
        case DropBefore():
            call.outcome = "dropped before"
            return _drop(request)
        case Refuse():
            call.outcome = trouble.code
            return web.json_response({"ok": False, "error": trouble.code})
    return None


def rate_limited_response(seconds: float) -> web.Response:
    """Return a 429 response with Retry-After."""
    headers = {"Retry-After": str(max(1, math.ceil(seconds)))}
    return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)


def _drop(request: web.Request) -> web.Response:
    """Close the connection without an answer."""
    assert request.transport
    request.transport.abort()
    return web.Response()
