"""The sockets of the gateway: HELLO, IDENTIFY or RESUME, events out, heartbeats in."""

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.wire.discord import payloads
from tests.wire.discord.sessions import GUILDS, Session
from tests.wire.discord.state import PRIVILEGED, State

Payload = dict[str, Any]

HEARTBEAT, IDENTIFY, PRESENCE, VOICE, RESUME, RECONNECT = 1, 2, 3, 4, 6, 7
MEMBERS, INVALID_SESSION, HELLO, ACK = 8, 9, 10, 11
LARGEST = 4096
KNOWN_INTENTS = (1 << 26) - 1


class HangUpError(Exception):
    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(slots=True, eq=False)
class Link:
    socket: web.WebSocketResponse
    request: web.Request
    session: Session | None = None
    sent: int = 0  # frames of the session
    pump: asyncio.Task[None] | None = None
    received: deque[float] = field(default_factory=deque)

    async def send(self, op: int, data: object = None) -> None:
        """Send what belongs to no session."""
        await self.socket.send_json({"op": op, "d": data, "s": None, "t": None})


class Gateway:
    """All sockets of the bot, and the faults of the gateway that a test orders."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.open: list[Link] = []
        self.identifies: list[Payload] = []
        self.resumes: list[Payload] = []
        self.turned_away: int | None = None  # with this code, whoever identifies

    @property
    def sessions(self) -> int:
        return self._state.sessions.opened

    async def serve(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(autoclose=True, max_msg_size=0)
        await socket.prepare(request)
        link = Link(socket, request)
        self.open.append(link)
        try:
            await self._hello(link)
            await self._listen(link)
        except HangUpError as end:
            await socket.close(code=end.code, message=str(end).encode())
        finally:
            self._forget(link)
        return socket

    async def _hello(self, link: Link) -> None:
        if link.request.query.get("v") != "10":
            raise HangUpError(4012, "Invalid API version")
        interval = int(self._state.rules.heartbeat_seconds * 1000)
        await link.send(HELLO, {"heartbeat_interval": interval})

    def _forget(self, link: Link) -> None:
        if link in self.open:
            self.open.remove(link)
        if link.pump:
            link.pump.cancel()

    async def _listen(self, link: Link) -> None:
        patience = self._state.rules.heartbeat_seconds * 2
        while True:
            try:
                message = await link.socket.receive(timeout=patience)
            except TimeoutError:
                raise HangUpError(4009, "Session timed out") from None
            if message.type in {WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED}:
                self._left(link, message.data)
                return
            if message.type is WSMsgType.TEXT:
                await self._hear(link, message.data)

    def _left(self, link: Link, code: object) -> None:
        """A bot that says good-bye with 1000 or 1001 cannot resume."""
        if link.session and code in {1000, 1001}:
            self._state.sessions.alive.pop(link.session.id, None)

    async def _hear(self, link: Link, text: str) -> None:
        self._count(link)
        op, data = _parsed(text)
        if op == HEARTBEAT:
            await link.send(ACK)
        elif op in {IDENTIFY, RESUME}:
            if link.session:
                raise HangUpError(4005, "Already authenticated")
            await (self._identify if op == IDENTIFY else self._resume)(link, data)
        elif op not in {PRESENCE, VOICE, MEMBERS}:
            raise HangUpError(4001, "Unknown opcode")
        elif link.session is None:
            raise HangUpError(4003, "Not authenticated")

    def _count(self, link: Link) -> None:
        """No more than so many sends in a minute, heartbeats among them."""
        now = self._state.now()
        link.received.append(now)
        while link.received[0] <= now - 60:
            link.received.popleft()
        if len(link.received) > self._state.rules.sends:
            raise HangUpError(4008, "Rate limited")

    async def _identify(self, link: Link, data: Payload) -> None:
        state = self._state
        self.identifies.append(data)
        if self.turned_away:
            raise HangUpError(self.turned_away, "Turned away.")
        self._allow(data)
        now, sessions = state.now(), state.sessions
        soon = sessions.identified and now - sessions.identified[-1] < state.rules.identify_seconds
        if soon or len(sessions.identified) >= state.rules.identifies:
            await link.send(INVALID_SESSION, False)
            return
        sessions.identified.append(now)
        session = Session(f"session-{state.snowflake()}", data["intents"])
        number, of = data.get("shard", (0, 1))
        session.shard = (number, of)
        sessions.open(session)
        self._greet(session)
        self._carry(link, session, 0)

    def _allow(self, data: Payload) -> None:
        if data.get("token") != self._state.app.token:
            raise HangUpError(4004, "Authentication failed.")
        if data.get("shard", [0, 1])[0] >= data.get("shard", [0, 1])[1]:
            raise HangUpError(4010, "Invalid shard.")
        intents = data.get("intents")
        if not isinstance(intents, int) or intents & ~KNOWN_INTENTS:
            raise HangUpError(4013, "Invalid intent(s).")
        if intents & PRIVILEGED & ~self._state.app.privileged:
            raise HangUpError(4014, "Disallowed intent(s).")

    def _greet(self, session: Session) -> None:
        state = self._state
        here = [guild for guild in state.world.guilds.values() if guild.has_bot]
        guilds = [guild for guild in here if session.hears(guild.id)]
        ready: Payload = {
            "v": 10,
            "user": payloads.me(state.bot),
            "guilds": [{"id": guild.id, "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "resume_gateway_url": state.address.replace("http", "ws", 1) + "/gateway/resume",
            "session_type": "normal",
            "shard": [*session.shard],
            "application": {"id": state.bot.id, "flags": payloads.application(state)["flags"]},
            "private_channels": [],
            "presences": [],
        }
        session.dispatch("READY", ready)
        if session.intents & GUILDS:
            for guild in guilds:
                session.dispatch("GUILD_CREATE", payloads.guild_create(state, guild))

    async def _resume(self, link: Link, data: Payload) -> None:
        self.resumes.append(data)
        if data.get("token") != self._state.app.token:
            raise HangUpError(4004, "Authentication failed.")
        session = self._state.sessions.alive.get(str(data.get("session_id")))
        if session is None:
            await link.send(INVALID_SESSION, False)
            return
        if not 0 <= (data.get("seq") or 0) <= len(session.frames):
            raise HangUpError(4007, "Invalid seq")
        session.resumes += 1
        session.dispatch("RESUMED", {})
        self._carry(link, session, data.get("seq") or 0)

    def _carry(self, link: Link, session: Session, read: int) -> None:
        link.session, link.sent = session, read
        link.pump = asyncio.create_task(_pump(link, session))

    def is_connected(self) -> bool:
        """Whether a socket carries a session and nothing waits to be sent."""
        return any(link.session and link.sent == len(link.session.frames) for link in self.open)

    def turn_away(self, code: int) -> None:
        """Close the socket of everybody who identifies from now on with this code."""
        self.turned_away = code

    def forget_sessions(self) -> None:
        self._state.sessions.alive.clear()

    async def ask_to_reconnect(self) -> None:
        """Send RECONNECT (op 7) to everybody."""
        for link in tuple(self.open):
            await link.send(RECONNECT)

    async def invalidate(self, *, resumable: bool = False) -> None:
        """Send INVALID_SESSION (op 9) to everybody."""
        if not resumable:
            self.forget_sessions()
        for link in tuple(self.open):
            await link.send(INVALID_SESSION, resumable)

    async def close(self, code: int = 4000) -> None:
        """Close every socket with this code; 4009 and 4007 end the session too."""
        if code in {4007, 4009}:
            self.forget_sessions()
        for link in tuple(self.open):
            await link.socket.close(code=code)

    def cut(self) -> None:
        for link in tuple(self.open):
            if link.request.transport:
                link.request.transport.abort()


def _parsed(text: str) -> tuple[int, Payload]:
    """Return the opcode and the data of what a client sent."""
    if len(text.encode()) > LARGEST:
        raise HangUpError(4002, "Payload too large")
    try:
        told = json.loads(text)
        return told["op"], told.get("d")
    except (ValueError, TypeError, KeyError):
        raise HangUpError(4002, "Decode error") from None


async def _pump(link: Link, session: Session) -> None:
    """Send every event of a session in order, those of the past first."""
    while not link.socket.closed:
        session.changed.clear()
        while link.sent < len(session.frames):
            frame = session.frames[link.sent]
            link.sent += 1
            try:
                await link.socket.send_json(frame)
            except ConnectionError:
                return
        await session.changed.wait()
