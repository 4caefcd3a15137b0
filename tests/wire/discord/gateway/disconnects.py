"""Gateway faults: disconnect, close, request a reconnect, forget sessions."""

from tests.wire.discord.gateway.sockets import INVALID_SESSION, RECONNECT, GatewaySockets
from tests.wire.discord.state import State


class Gateway:
    """The gateway as a test holds it."""

    def __init__(self, state: State, links: GatewaySockets) -> None:
        self._state = state
        self._links = links

    @property
    def links(self) -> int:
        """How many sockets are open now."""
        return len(self._links.open)

    @property
    def identifies(self) -> list[dict[str, object]]:
        """Every IDENTIFY ever sent."""
        return self._links.identifies

    @property
    def resumes(self) -> list[dict[str, object]]:
        """Every RESUME ever sent."""
        return self._links.resumes

    @property
    def heartbeats(self) -> int:
        """How many heartbeats came."""
        return self._links.heartbeats

    @property
    def sessions(self) -> int:
        """How many sessions were ever opened."""
        return self._state.sessions.opened

    @property
    def hang_ups(self) -> list[int]:
        """Every code the gateway itself closed a socket with."""
        return self._links.closed

    def is_connected(self) -> bool:
        """Whether a socket carries a session and nothing waits to be sent."""
        return any(
            link.session and link.sent == len(link.session.frames) for link in self._links.open
        )

    def turn_away(self, code: int) -> None:
        """Close the socket of everybody who identifies from now on with this code."""
        self._links.turned_away = code

    def forget_sessions(self) -> None:
        """Make every session impossible to resume."""
        self._state.sessions.alive.clear()

    async def ask_to_reconnect(self) -> None:
        """Send RECONNECT (op 7) to everybody."""
        for link in tuple(self._links.open):
            await link.send(RECONNECT)

    async def invalidate(self, *, resumable: bool = False) -> None:
        """Send INVALID_SESSION (op 9) to everybody."""
        if not resumable:
            self.forget_sessions()
        for link in tuple(self._links.open):
            await link.send(INVALID_SESSION, resumable)

    async def close(self, code: int = 4000) -> None:
        """Close every socket with this code; 4009 and 4007 end the session too."""
        if code in {4007, 4009}:
            self.forget_sessions()
        for link in tuple(self._links.open):
            await link.socket.close(code=code)

    def cut(self) -> None:
        """Break every socket without a word."""
        for link in tuple(self._links.open):
            if link.request.transport:
                link.request.transport.abort()
