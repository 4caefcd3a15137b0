"""The REST API: parse a request, check the token, dispatch to a route."""

import json
from functools import partial
from typing import Any

from aiohttp import web

from tests.wire.discord.calls import Call, RefusalError, Reply, Upload
from tests.wire.discord.fault_injection import serve_with_faults
from tests.wire.discord.routes import ROUTES, Route
from tests.wire.discord.state import State

BASE = "/api/v10"
INVALID = (401, 403, 429)


async def read(request: web.Request, at: float) -> Call:
    """Read a request: its query, its JSON, or a multipart body with payload_json and files."""
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


class Rest:
    """The REST API over the state; every request is remembered, whatever becomes of it."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def serve(self, request: web.Request) -> web.Response:
        """Answer one request."""
        call = await read(request, self._state.now())
        self._state.calls.append(call)
        route = _route(call)
        return await serve_with_faults(self._state, request, call, partial(self._do, call, route))

    def _do(self, call: Call, route: Route | None) -> Reply:
        if route is None:
            raise RefusalError(0)
        if route.needs_token and call.token != self._state.app.token:
            raise RefusalError(0, 401, message="401: Unauthorized")
        if isinstance(call.body, str):
            raise RefusalError(50109)
        return route.do(self._state, call)


def _route(call: Call) -> Route | None:
    for route in ROUTES:
        names = route.match(call.method, call.path)
        if names is not None:
            call.route, call.names = route.path, names
            return route
    return None
