"""Answers over a response_url: five of them, for half an hour, without being a member."""

import json
from functools import partial
from typing import Any

from aiohttp import web

from tests.wire.slack.calls import Call, RefusalError
from tests.wire.slack.fault_injection import respond_or_fail
from tests.wire.slack.messages import check, new_message, put, thread_root, write
from tests.wire.slack.state import Hook, State
from tests.wire.slack.workspace import BOT, Message

Payload = dict[str, Any]

METHOD = "response_url"
_GONE = {"used_url", "expired_url", "no_such_url"}


class Hooks:
    """Serves response_urls; each use is remembered among the calls, as "response_url"."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def serve(self, request: web.Request) -> web.Response:
        """Take one answer."""
        call = await _read(request, self._state.now())
        act = partial(self._do, request.path.lstrip("/"), call)
        return await respond_or_fail(self._state, request, call, act)

    def _do(self, name: str, call: Call) -> web.Response:
        try:
            self._use(self._live(name), call)
        except RefusalError as refusal:
            call.outcome = refusal.code
            return web.json_response(refusal.body, status=404 if refusal.code in _GONE else 400)
        call.outcome = "ok"
        return web.json_response({"ok": True})

    def _live(self, name: str) -> Hook:
        hook = self._state.hooks.get(name)
        if hook is None:
            raise RefusalError("no_such_url")
        if self._state.now() - hook.at > self._state.rules.hook_seconds:
            raise RefusalError("expired_url")
        if hook.uses >= self._state.rules.hook_uses:
            raise RefusalError("used_url")
        hook.uses += 1
        return hook

    def _use(self, hook: Hook, call: Call) -> None:
        if call.style != "json":
            raise RefusalError("invalid_payload")
        if call.flag("delete_original"):
            if hook.source is None:
                raise RefusalError("cant_delete_message")
            remove(self._state, hook.source)
            return
        check(self._state, call.arguments)
        if call.flag("replace_original") and hook.source:
            write(self._state, hook.source, call.arguments)
            return
        respond(self._state, hook.user, hook.channel, call.arguments)


async def _read(request: web.Request, at: float) -> Call:
    try:
        body = json.loads(await request.text())
    except ValueError:
        body = None
    given = {name: value for name, value in (body or {}).items() if value is not None}
    return Call(METHOD, given, None, at, "form" if body is None else "json")


def respond(state: State, user: str, channel_id: str, content: Payload) -> Message:
    """Post the content in the channel or to this user only, depending on its response_type."""
    channel = state.workspace.channels[channel_id]
    message = new_message(state, channel, BOT, content)
    thread_ts = thread_root(channel, content.get("thread_ts"))
    if content.get("response_type") == "in_channel":
        return put(channel, message, thread_ts)
    message.ephemeral_to, message.thread_ts = user, thread_ts
    state.ephemerals.append(message)
    return message


def remove(state: State, message: Message) -> None:
    """Take a message away, wherever it is."""
    said = state.workspace.channels[message.channel].said
    for place in (said, state.ephemerals):
        if message in place:
            place.remove(message)
