"""Socket Mode: open sockets, the envelopes sent over them, and their acknowledgements."""

import asyncio
import json
from dataclasses import dataclass
from itertools import count
from typing import Any

from aiohttp import WSMsgType, web

from tests.wire.slack.deliveries import Acknowledgement, Delivery
from tests.wire.slack.state import State
from tests.wire.slack.workspace import APP

Payload = dict[str, Any]

_GRACE_SECONDS = 1.0  # for an app to close a link it was told to leave


@dataclass(slots=True, eq=False)
class Link:
    socket: web.WebSocketResponse
    request: web.Request


class Links:
    """All sockets of the app; each delivery goes to the next one in turn."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.open: list[Link] = []
        self.opened = 0  # ever
        self.turned_away = 0  # so many more addresses are found to have expired
        self._waiting: dict[str, asyncio.Future[Payload | None]] = {}
        self._turn = count()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one socket: hello, then envelopes out and acknowledgements in."""
        ticket = request.query.get("ticket", "")
        known = ticket in self._state.tickets
        self._state.tickets.discard(ticket)
        if not known or self.turned_away:
            self.turned_away -= known
            return web.Response(status=404)
        socket = web.WebSocketResponse(timeout=0.5)  # a frozen app may not hold up the end
        await socket.prepare(request)
        if len(self.open) >= self._state.rules.links:
            await socket.send_json(_disconnect("too_many_websockets"))
            await socket.close()
            return socket
        link = Link(socket, request)
        self.open.append(link)
        self.opened += 1
        try:
            await socket.send_json(_hello(len(self.open)))
            await self._listen(socket)
        finally:
            if link in self.open:
                self.open.remove(link)
        return socket

    async def _listen(self, socket: web.WebSocketResponse) -> None:
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                continue
            answer = json.loads(message.data)
            waiting = self._waiting.pop(answer.get("envelope_id"), None)
            if waiting and not waiting.done():
                waiting.set_result(answer.get("payload"))

    async def deliver(self, parcel: Delivery) -> Acknowledgement:
        """Send an envelope down the next link and wait for its acknowledgement."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        if not self.open:
            return Acknowledgement(0.0, undelivered=True)
        envelope = self._envelope(parcel)
        waiting: asyncio.Future[Payload | None] = loop.create_future()
        self._waiting[envelope["envelope_id"]] = waiting
        try:
            async with asyncio.timeout(self._state.rules.ack_seconds):
                await self._sent(envelope)
                payload = await waiting
        except TimeoutError:
            self._waiting.pop(envelope["envelope_id"], None)
            return Acknowledgement(loop.time() - began, timed_out=True)
        return Acknowledgement(loop.time() - began, payload)

    async def _sent(self, envelope: Payload) -> None:
        """Send down the next link; one that the app is just closing gives way to another."""
        while True:
            if self.open:
                link = self.open[next(self._turn) % len(self.open)]
                try:
                    await link.socket.send_json(envelope)
                except ConnectionError:
                    if link in self.open:
                        self.open.remove(link)
                else:
                    return
            await asyncio.sleep(0.01)

    def _envelope(self, parcel: Delivery) -> Payload:
        envelope: Payload = {
            "envelope_id": f"envelope-{self._state.number()}",
            "type": parcel.kind,
            "accepts_response_payload": parcel.kind != "events_api",
            "payload": parcel.payload,
        }
        if parcel.kind == "events_api":
            reason = "timeout" if parcel.reason else ""
            envelope |= {"retry_attempt": parcel.attempt, "retry_reason": reason}
        return envelope

    async def say_disconnect(self, reason: str) -> None:
        """Announce that every socket will close, as before a refresh; a warning closes none."""
        for link in tuple(self.open):
            await link.socket.send_json(_disconnect(reason))
            if reason != "warning":
                self.open.remove(link)
                asyncio.get_running_loop().call_later(_GRACE_SECONDS, _abort, link)

    def cut(self) -> None:
        """Break every socket without a close frame."""
        for link in tuple(self.open):
            self.open.remove(link)
            _abort(link)

    async def close(self) -> None:
        for link in tuple(self.open):
            await link.socket.close()


def _abort(link: Link) -> None:
    if link.request.transport:
        link.request.transport.abort()


def _hello(connections: int) -> Payload:
    return {
        "type": "hello",
        "num_connections": connections,
        "debug_info": {
            "host": "applink-1",
            "build_number": 10,
            "approximate_connection_time": 18060,
        },
        "connection_info": {"app_id": APP},
    }


def _disconnect(reason: str) -> Payload:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}}
