"""Web server: the Web API, response_urls, uploads and sockets."""

import json
import math
from base64 import b64decode
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from aiohttp import web

from tests.wire import faults
from tests.wire.slack.calls import Call, Method, RefusalError
from tests.wire.slack.messages import check, new_message, put, thread_root
from tests.wire.slack.methods import METHODS
from tests.wire.slack.sockets import Links
from tests.wire.slack.state import Hook, State
from tests.wire.slack.workspace import Message

Payload = dict[str, Any]
Serve = Callable[[web.Request], Awaitable[web.StreamResponse]]

UPLOAD, RESPONSE_URL = "upload", "response_url"  # their methods among the calls
_LARGEST = 50_000_000
_GONE = {"used_url", "expired_url", "no_such_url"}


class Server:
    """Listens on loopback, on a free port unless one is given; records every call."""

    def __init__(self, state: State, links: Links, port: int = 0) -> None:
        self._state = state
        self._port = port
        app = web.Application(client_max_size=_LARGEST, middlewares=[self._watch])
        app.router.add_route("*", "/api/{method}", self._api)
        app.router.add_get("/link/", links.serve)
        app.router.add_post("/commands/{number}", self._response_url)
        app.router.add_post("/actions/{number}", self._response_url)
        app.router.add_post("/upload/v1/{number}", self._upload)
        app.router.add_get("/files-pri/{number}/download", self._download)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)

    async def start(self) -> None:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        host, port = self._runner.addresses[0][:2]
        self._state.address = f"http://{host}:{port}"

    async def stop(self) -> None:
        await self._runner.cleanup()

    @web.middleware
    async def _watch(self, request: web.Request, handler: Serve) -> web.StreamResponse:
        """Record exceptions of the fake itself, so that no test takes them for errors of Slack."""
        try:
            return await handler(request)
        except (web.HTTPException, ConnectionError):
            raise
        except Exception as error:
            self._state.broken.append(error)
            raise

    async def _respond(
        self, request: web.Request, call: Call, act: Callable[[], web.Response]
    ) -> web.Response:
        """Run the call unless a fault is injected, and record the outcome."""
        state = self._state
        state.calls.append(call)
        state.on_request(call, request)
        storm = state.troubles.storm_over(call.method, call.at)
        if storm is not None:
            call.outcome = "ratelimited"
            return _rate_limited(storm.retry_after)

        def refuse(fault: faults.Refuse) -> web.Response:
            call.outcome = str(fault.code)
            return web.json_response({"ok": False, "error": fault.code})

        return await faults.respond(request, call, state.troubles.next(call.method), act, refuse)

    async def _api(self, request: web.Request) -> web.Response:
        try:
            call = await _read(request, request.match_info["method"], self._state.now())
        except RefusalError as refusal:
            return web.json_response(refusal.body)
        return await self._respond(request, call, partial(self._run, call))

    def _run(self, call: Call) -> web.Response:
        state = self._state.site_of(call)
        wait = state.limiter.wait_for(call.method, call.text("channel"), state.now())
        if state.history_limit:
            wait = max(wait, state.history_limit.wait_for(call.method, state.now()))
        if wait:
            call.outcome = "ratelimited"
            return _rate_limited(wait)
        try:
            method = _allowed_method(state, call)
            call.response = {"ok": True, **method.do(state, call)}
            call.outcome = "ok"
        except RefusalError as refusal:
            call.outcome, call.response = refusal.code, refusal.body
        token = state.tokens.get(call.token or "")
        headers = {"X-OAuth-Scopes": ",".join(token.scopes)} if token else None
        return web.json_response(call.response, headers=headers)

    async def _response_url(self, request: web.Request) -> web.Response:
        """Take a reply over a response_url: five, for half an hour, without being a member."""
        try:
            body = json.loads(await request.text())
        except ValueError:
            body = None
        given = {name: value for name, value in (body or {}).items() if value is not None}
        style = "form" if body is None else "json"
        call = Call(RESPONSE_URL, given, None, self._state.now(), style)
        act = partial(self._reply, request.path.lstrip("/"), call)
        return await self._respond(request, call, act)

    def _reply(self, name: str, call: Call) -> web.Response:
        try:
            site = next((s for s in self._state.sites if name in s.hooks), self._state)
            _use(site, self._live_hook(site, name), call)
        except RefusalError as refusal:
            call.outcome = refusal.code
            return web.json_response(refusal.body, status=404 if refusal.code in _GONE else 400)
        call.outcome = "ok"
        return web.json_response({"ok": True})

    def _live_hook(self, site: State, name: str) -> Hook:
        hook = site.hooks.get(name)
        if hook is None:
            raise RefusalError("no_such_url")
        if self._state.now() - hook.at > self._state.rules.hook_seconds:
            raise RefusalError("expired_url")
        if hook.uses >= self._state.rules.hook_uses:
            raise RefusalError("used_url")
        hook.uses += 1
        return hook

    async def _upload(self, request: web.Request) -> web.Response:
        """Receive the content of one file; its length must be the announced one."""
        call = Call(UPLOAD, {"path": request.path}, None, self._state.now(), "bytes")
        act = partial(self._store, call, await request.read())
        return await self._respond(request, call, act)

    def _store(self, call: Call, content: bytes) -> web.Response:
        path = str(call.arguments["path"])
        found = (site.uploads.pop(path, None) for site in self._state.sites)
        file = next((file for file in found if file), None)
        if file is None:
            call.outcome = "no such upload"
            return web.Response(status=404, text=call.outcome)
        if len(content) != file.length:
            call.outcome = "length mismatch"
            return web.Response(status=400, text=call.outcome)
        call.outcome, file.content = "ok", content
        return web.Response(text=f"OK - {len(content)}")

    async def _download(self, request: web.Request) -> web.Response:
        """Return a file that a user sent; without files:read, redirect to the login page."""
        shown = request.headers.get("Authorization", "").removeprefix("Bearer ")
        call = Call("download", {}, shown, self._state.now(), "get")
        site = self._state.site_of(call)
        token = site.tokens.get(shown)
        if token is None or "files:read" not in token.scopes:
            raise web.HTTPFound("/signin")
        content = site.sent.get(request.path)
        return web.Response(body=content, status=404 if content is None else 200)


def _allowed_method(state: State, call: Call) -> Method:
    """Return the method of a call; refuse if it does not accept its token, scopes or style."""
    method = METHODS.get(call.method)
    if method is None:
        raise RefusalError("unknown_method", req_method=call.method)
    if method.token is None:
        return method
    if call.token is None:
        raise RefusalError("not_authed")
    token = state.tokens.get(call.token)
    if token is None:
        raise RefusalError("invalid_auth")
    if token.expires_at <= state.now():
        raise RefusalError("token_expired")
    if token.trouble:
        raise RefusalError(token.trouble)
    if method.token not in {"any", token.kind}:
        raise RefusalError("not_allowed_token_type")
    for scope in method.scopes:
        state.need(call, scope)
    if call.style == "json" and not method.takes_json:
        raise RefusalError("invalid_arguments")
    return method


def _use(state: State, hook: Hook, call: Call) -> None:
    if call.style != "json":
        raise RefusalError("invalid_payload")
    if not call.flag("delete_original"):
        check(state, call.arguments)
        respond(state, hook.user, hook.channel, call.arguments)
        return
    if hook.source is None:
        raise RefusalError("cant_delete_message")
    said = state.workspace.channels[hook.channel].said
    for place in (said, state.ephemerals):
        if hook.source in place:
            place.remove(hook.source)


def respond(state: State, user: str, channel_id: str, content: Payload) -> Message:
    """Post the content in the channel or to this user only, depending on its response_type."""
    channel = state.workspace.channels[channel_id]
    message = new_message(state, channel, state.bot, content)
    thread_ts = thread_root(channel, content.get("thread_ts"))
    if content.get("response_type") == "in_channel":
        return put(channel, message, thread_ts)
    message.ephemeral_to, message.thread_ts = user, thread_ts
    state.ephemerals.append(message)
    return message


def _rate_limited(seconds: float) -> web.Response:
    headers = {"Retry-After": str(max(1, math.ceil(seconds)))}
    return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)


async def _read(request: web.Request, method: str, at: float) -> Call:
    """Parse a call in any of the styles that clients use: GET, form, query on a POST, JSON."""
    arguments: Payload = dict(request.query)
    style = "get" if request.method == "GET" else "query"
    if request.method == "POST" and request.content_type == "application/json":
        arguments, style = await _json(request), "json"
    elif request.method == "POST":
        form = await request.post()
        arguments |= {name: str(value) for name, value in form.items()}
        style = "form" if form else "query"
    scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
    token = bearer if scheme == "Bearer" else None
    client = b64decode(bearer).decode().partition(":") if scheme == "Basic" else None
    if style != "json":
        token = arguments.pop("token", None) or token
    given = {name: value for name, value in arguments.items() if value is not None}
    own = (client[0], client[2]) if client else None
    return Call(method, given, token or None, at, style, own)


async def _json(request: web.Request) -> Payload:
    try:
        body = json.loads(await request.text())
    except ValueError:
        raise RefusalError("invalid_json") from None
    if not isinstance(body, dict):
        raise RefusalError("json_not_object")
    return body
