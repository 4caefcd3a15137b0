"""Fault injection: answer a request with the error, disconnect or delay that a test ordered."""

import asyncio
import json
from collections.abc import Callable, Mapping

from aiohttp import web

from tests.wire.discord.calls import Call, RefusalError, Reply
from tests.wire.discord.faults import FailAfter, Refuse, Storm, Trouble
from tests.wire.discord.rates import Verdict
from tests.wire.discord.state import State
from tests.wire.troubles import DropAfter, DropBefore, Fail, Slow

Act = Callable[[], Reply]


async def serve_with_faults(
    state: State, request: web.Request, call: Call, act: Act
) -> web.Response:
    """Do what was asked, unless its trouble comes first; remember the outcome."""
    asked = f"{call.method} {call.path}"
    storm = state.troubles.storm_over(asked, call.at)
    if storm is not None:
        return _stormy(call, storm)
    verdict = state.limiter.judge(call, call.at)
    if verdict.wait:
        return rate_limit_response(call, verdict)
    trouble = state.troubles.next(asked)
    if isinstance(trouble, Slow) and trouble.before:
        await asyncio.sleep(trouble.seconds)
    instead = _instead(request, call, trouble)
    if instead is not None:
        return instead
    answer = _done(call, act)
    after = _afterwards(request, call, trouble)
    if isinstance(trouble, Slow) and not trouble.before:
        await asyncio.sleep(trouble.seconds)
    return after or json_response(answer, verdict.headers)


def _done(call: Call, act: Act) -> Reply:
    try:
        answer = act()
    except RefusalError as refusal:
        answer = Reply(refusal.status, refusal.body)
    call.status, call.response = answer.status, answer.body
    code = answer.body.get("code") if answer.status >= 400 else None
    call.outcome = str(answer.status) if code is None else f"{answer.status} {code}"
    return answer


def _instead(request: web.Request, call: Call, trouble: Trouble | None) -> web.Response | None:
    match trouble:
        case Fail():
            return _unwell(call, trouble.status)
        case DropBefore():
            call.outcome = "dropped before"
            return _drop(request)
        case Refuse():
            refusal = RefusalError(trouble.code)
            call.outcome = f"{refusal.status} {refusal.code}"
            call.status, call.response = refusal.status, refusal.body
            return json_response(Reply(refusal.status, refusal.body))
    return None


def _afterwards(request: web.Request, call: Call, trouble: Trouble | None) -> web.Response | None:
    match trouble:
        case DropAfter():
            call.outcome = f"dropped after {call.outcome}"
            return _drop(request)
        case FailAfter():
            done = call.outcome
            answer = _unwell(call, trouble.status)
            call.outcome = f"{trouble.status} after {done}"
            return answer
    return None


def _unwell(call: Call, status: int) -> web.Response:
    call.outcome, call.status = str(status), status
    return web.Response(status=status, text="<html>unwell</html>", content_type="text/html")


def json_response(answer: Reply, headers: Mapping[str, str] | None = None) -> web.Response:
    """Write an answer; discord.py knows JSON by a content type without a charset only."""
    head = {"Via": "1.1 google", **(headers or {})}
    if answer.body is None:
        return web.Response(status=answer.status, headers=head)
    head["Content-Type"] = "application/json"
    return web.Response(status=answer.status, body=json.dumps(answer.body).encode(), headers=head)


def rate_limit_response(call: Call, verdict: Verdict) -> web.Response:
    """Ask to come back later."""
    call.status, call.outcome = 429, "429"
    body = {
        "message": "You are being rate limited.",
        "retry_after": round(verdict.wait, 3),
        "global": verdict.everywhere,
    }
    call.response = body
    headers = {**verdict.headers, "Retry-After": str(int(verdict.wait) + 1)}
    if verdict.everywhere:
        headers["X-RateLimit-Global"] = "true"
    return json_response(Reply(429, body), headers)


def _stormy(call: Call, storm: Storm) -> web.Response:
    if storm.from_cloudflare:
        call.status, call.outcome = 429, "429 from Cloudflare"
        return web.Response(status=429, text="error code: 1015", content_type="text/html")
    scope = "global" if storm.everywhere else "shared"
    verdict = Verdict(storm.retry_after, storm.everywhere, {"X-RateLimit-Scope": scope})
    return rate_limit_response(call, verdict)


def _drop(request: web.Request) -> web.Response:
    """Close the connection without an answer."""
    assert request.transport
    request.transport.abort()
    return web.Response()
