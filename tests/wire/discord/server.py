"""One HTTP server for the REST API with its faults and limits, the gateway and the CDN."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from aiohttp import web

from tests.wire import faults
from tests.wire.discord.calls import Call, RefusalError, Reply, Upload
from tests.wire.discord.gateway import Gateway
from tests.wire.discord.message_payloads import signature
from tests.wire.discord.rates import Verdict
from tests.wire.discord.routes import ROUTES, Route
from tests.wire.discord.state import State

BASE = "/api/v10"
INVALID = (401, 403, 429)
_LARGEST = 64 * 1024 * 1024


class Server:
    """Listens on loopback; every request is recorded, whatever becomes of it."""

    def __init__(self, state: State, gateway: Gateway, port: int = 0) -> None:
        self._state = state
        self._port = port
        app = web.Application(client_max_size=_LARGEST)
        app.router.add_route("*", BASE + "/{path:.*}", self._rest)
        app.router.add_get("/gateway{tail:/?.*}", gateway.serve)
        app.router.add_get("/attachments/{channel}/{file}/{name}", self._attachment)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)

    async def start(self) -> None:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        host, port = self._runner.addresses[0][:2]
        self._state.address = f"http://{host}:{port}"

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _rest(self, request: web.Request) -> web.Response:
        call = await _read(request, self._state.now())
        self._state.calls.append(call)
        route = _route(call)
        return await _serve_with_faults(self._state, request, call, partial(self._do, call, route))

    def _do(self, call: Call, route: Route | None) -> Reply:
        if route is None:
            raise RefusalError(0)
        if route.needs_token and call.token != self._state.app.token:
            raise RefusalError(0, 401, message="401: Unauthorized")
        if isinstance(call.body, str):
            raise RefusalError(50109)
        return route.do(self._state, call)

    async def _attachment(self, request: web.Request) -> web.Response:
        """Return a file, if its address is signed and has not expired."""
        names = request.match_info
        file = self._state.files.get(names["file"])
        until = request.query.get("ex", "")
        if file is None or (file.channel, file.name) != (names["channel"], names["name"]):
            return web.Response(status=404, text="")
        signed = request.query.get("hm") == signature(file, until)
        if not signed or int(until, 16) < self._state.now():
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=file.content, content_type=file.content_type)


async def _read(request: web.Request, at: float) -> Call:
    path = request.path.removeprefix(BASE)
    call = Call(request.method, path, at, query=dict(request.query))
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    call.token = token if scheme == "Bot" else None
    if request.content_type == "multipart/form-data":
        await _read_parts(request, call)
    elif request.content_type == "application/json":
        call.body = _parsed(await request.text())
    return call


async def _read_parts(request: web.Request, call: Call) -> None:
    form = await request.post()
    for name, value in form.items():
        if isinstance(value, web.FileField):
            kind = value.content_type
            call.uploads[name] = Upload(value.filename, value.file.read(), kind)
        elif name == "payload_json" and isinstance(value, str):
            call.body = _parsed(value)


def _parsed(text: str) -> Any:  # noqa: ANN401
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text  # refused below: it is no JSON


def _route(call: Call) -> Route | None:
    for route in ROUTES:
        names = route.match(call.method, call.path)
        if names is not None:
            call.route, call.names = route.path, names
            return route
    return None


async def _serve_with_faults(
    state: State, request: web.Request, call: Call, act: Callable[[], Reply]
) -> web.Response:
    """Do what was asked, unless its fault comes first; record the outcome."""
    asked = f"{call.method} {call.path}"
    storm = state.troubles.storm_over(asked, call.at)
    if storm is not None:
        return _stormy(call, storm)
    verdict = state.limiter.judge(call, call.at)
    if verdict.wait:
        return _rate_limited(call, verdict)
    fault = state.troubles.next(asked)

    def carry_out() -> web.Response:
        try:
            answer = act()
        except RefusalError as refusal:
            answer = Reply(refusal.status, refusal.body)
        call.status, call.response = answer.status, answer.body
        code = answer.body.get("code") if answer.status >= 400 else None
        call.outcome = str(answer.status) if code is None else f"{answer.status} {code}"
        return _json_response(answer, verdict.headers)

    def refuse(ordered: faults.Refuse) -> web.Response:
        refusal = RefusalError(int(ordered.code))
        call.outcome = f"{refusal.status} {refusal.code}"
        call.status, call.response = refusal.status, refusal.body
        return _json_response(Reply(refusal.status, refusal.body))

    response = await faults.respond(request, call, fault, carry_out, refuse)
    if isinstance(fault, faults.Fail | faults.FailAfter):
        call.status = fault.status
    return response


def _json_response(answer: Reply, headers: Mapping[str, str] | None = None) -> web.Response:
    """Write an answer; discord.py knows JSON by a content type without a charset only."""
    head = {"Via": "1.1 google", **(headers or {})}
    if answer.body is None:
        return web.Response(status=answer.status, headers=head)
    head["Content-Type"] = "application/json"
    return web.Response(status=answer.status, body=json.dumps(answer.body).encode(), headers=head)


def _rate_limited(call: Call, verdict: Verdict) -> web.Response:
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
    return _json_response(Reply(429, body), headers)


def _stormy(call: Call, storm: faults.Storm) -> web.Response:
    if storm.from_cloudflare:
        call.status, call.outcome = 429, "429 from Cloudflare"
        return web.Response(status=429, text="error code: 1015", content_type="text/html")
    scope = "global" if storm.everywhere else "shared"
    verdict = Verdict(storm.retry_after, storm.everywhere, {"X-RateLimit-Scope": scope})
    return _rate_limited(call, verdict)
