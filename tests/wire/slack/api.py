"""Web API: parse the arguments, check the token, run the method."""

import json
from functools import partial
from typing import Any

from aiohttp import web

from tests.wire.slack.calls import Call, RefusalError
from tests.wire.slack.fault_injection import rate_limited_response, respond_or_fail
from tests.wire.slack.methods import METHODS, Method
from tests.wire.slack.state import State, Token

Payload = dict[str, Any]


async def read(request: web.Request, method: str, at: float) -> Call:
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
    if style != "json":
        token = arguments.pop("token", None) or token
    given = {name: value for name, value in arguments.items() if value is not None}
    return Call(method, given, token or None, at, style)


async def _json(request: web.Request) -> Payload:
    try:
        body = json.loads(await request.text())
    except ValueError:
        raise RefusalError("invalid_json") from None
    if not isinstance(body, dict):
        raise RefusalError("json_not_object")
    return body


class Api:
    """The Web API; it records every call."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def serve(self, request: web.Request) -> web.Response:
        """Handle one call."""
        try:
            call = await read(request, request.match_info["method"], self._state.now())
        except RefusalError as refusal:
            return web.json_response(refusal.body)
        return await respond_or_fail(self._state, request, call, partial(self._do, call))

    def _do(self, call: Call) -> web.Response:
        wait = self._state.limiter.wait_for(call.method, call.text("channel"), self._state.now())
        if wait:
            call.outcome = "ratelimited"
            return rate_limited_response(wait)
        try:
            method = _method(call)
            self._allow(call, method)
            call.response = {"ok": True, **method.do(self._state, call)}
            call.outcome = "ok"
        except RefusalError as refusal:
            call.outcome, call.response = refusal.code, refusal.body
        token = self._state.tokens.get(call.token or "")
        headers = {"X-OAuth-Scopes": ",".join(token.scopes)} if token else None
        return web.json_response(call.response, headers=headers)

    def _allow(self, call: Call, method: Method) -> None:
        """Refuse a call if the method does not accept its token, scopes or style."""
        if method.token is None:
            return
        token = self._live(call)
        if method.token not in {"any", token.kind}:
            raise RefusalError("not_allowed_token_type")
        for scope in method.scopes:
            self._state.need(call, scope)
        if call.style == "json" and not method.takes_json:
            raise RefusalError("invalid_arguments")

    def _live(self, call: Call) -> Token:
        if call.token is None:
            raise RefusalError("not_authed")
        token = self._state.tokens.get(call.token)
        if token is None:
            raise RefusalError("invalid_auth")
        if token.trouble:
            raise RefusalError(token.trouble)
        return token


def _method(call: Call) -> Method:
    if call.method not in METHODS:
        raise RefusalError("unknown_method", req_method=call.method)
    return METHODS[call.method]
