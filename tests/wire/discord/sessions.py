"""Gateway sessions: what was dispatched to each, so that a resumed one misses nothing.

Knows no socket: a link reads on where it stopped.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

Payload = dict[str, Any]

GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES = 1 << 0, 1 << 9, 1 << 12
MESSAGE_CONTENT = 1 << 15
ALWAYS = 0


@dataclass(slots=True, eq=False)
class Session:
    id: str
    intents: int
    frames: list[Payload] = field(default_factory=list)
    resumes: int = 0
    shard: tuple[int, int] = (0, 1)  # its number, of so many
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def hears(self, guild: str) -> bool:
        """Return whether a guild is dealt to its shard; direct messages are the first one's."""
        number, of = self.shard
        return (int(guild) >> 22 if guild else 0) % of == number

    def dispatch(self, name: str, data: Payload) -> None:
        self.frames.append({"op": 0, "t": name, "s": len(self.frames) + 1, "d": data})
        self.changed.set()


class Sessions:
    """Every session that could still be resumed."""

    def __init__(self) -> None:
        self.alive: dict[str, Session] = {}
        self.opened = 0  # ever
        self.identified: list[float] = []

    def open(self, session: Session) -> None:
        self.alive[session.id] = session
        self.opened += 1

    def dispatch(self, name: str, data: Payload, intent: int = ALWAYS) -> None:
        """Dispatch an event to every session with the intent for it."""
        for session in self.alive.values():
            wants = intent == ALWAYS or session.intents & intent
            if wants and session.hears(_guild_of(name, data)):
                session.dispatch(name, data)

    def dispatch_message(self, name: str, full: Payload, bare: Payload, intent: int) -> None:
        """Dispatch a message; its content only to sessions that may have it."""
        for session in self.alive.values():
            if session.intents & intent and session.hears(_guild_of(name, full)):
                session.dispatch(name, full if session.intents & MESSAGE_CONTENT else bare)


def _guild_of(name: str, data: Payload) -> str:
    found = data.get("guild_id") or (data["id"] if name.startswith("GUILD_") else "")
    return str(found)
