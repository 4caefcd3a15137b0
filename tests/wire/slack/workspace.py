"""The people, places and messages of a workspace. Values and look-ups; no rule of the API."""

from dataclasses import dataclass, field
from typing import Any, Literal

Payload = dict[str, Any]

Kind = Literal["public", "private", "im", "mpim"]

TEAM = "T0HOME"
BOT = "U0BOT"
BOT_ID = "B0BOT"
APP = "A0COUNCIL"


@dataclass(slots=True)
class User:
    """One person or bot, as users.info tells of them."""

    id: str
    name: str
    team: str = TEAM  # another team's: someone met over Slack Connect
    home: str = TEAM  # the workspace that shows this person
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_bot: bool = False
    is_admin: bool = False
    deleted: bool = False

    @property
    def is_stranger(self) -> bool:
        return self.team != self.home


@dataclass(slots=True)
class Message:
    """One message as it stands now; `payload` is what the API shows of it."""

    channel: str
    ts: str
    payload: Payload
    thread_ts: str | None = None
    metadata: Payload | None = None
    arguments: Payload = field(default_factory=dict)  # as last posted or updated
    edits: int = 0
    ephemeral_to: str | None = None

    @property
    def text(self) -> str:
        return str(self.payload.get("text") or "")

    @property
    def blocks(self) -> list[Payload]:
        return list(self.payload.get("blocks") or [])

    @property
    def user(self) -> str:
        return str(self.payload["user"])

    @property
    def root(self) -> str:
        """The ts of the thread it is in, or would begin."""
        return self.thread_ts or self.ts


@dataclass(slots=True)
class Channel:
    """One conversation, who is in it, and what was said in it."""

    id: str
    name: str
    kind: Kind = "public"
    members: set[str] = field(default_factory=lambda: {BOT})
    is_archived: bool = False
    is_ext_shared: bool = False
    said: list[Message] = field(default_factory=list)
    last_ts: float = 0.0

    def find(self, ts: str | None) -> Message | None:
        """Return the message with this ts, unless it was deleted."""
        return next((message for message in self.said if message.ts == ts), None)


class Workspace:
    """Everyone and every place; `standard` gives one of each kind.

    The ids of another workspace end in its letter, because ids are unique in all of Slack. With
    `enterprise` it belongs to an organisation.
    """

    def __init__(self, name: str = "Home", letter: str = "", enterprise: str = "") -> None:
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.name, self.enterprise = name, enterprise
        self.team = f"T0{letter}" if letter else TEAM
        self.bot, self.bot_id = BOT + letter, BOT_ID + letter
        self.add_user(User(self.bot, "council", is_bot=True))

    def add_user(self, user: User) -> User:
        if user.team == TEAM:
            user.team = self.team
        user.home = self.team
        self.users[user.id] = user
        return user

    def add_channel(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        return channel

    def im_with(self, user: str) -> Channel:
        """Return the direct message channel of this user with the bot; open it if necessary."""
        for channel in self.channels.values():
            if channel.kind == "im" and channel.members == {self.bot, user}:
                return channel
        return self.add_channel(Channel(f"D{user[1:]}", user, "im", {self.bot, user}))

    @classmethod
    def standard(cls, name: str = "Home", letter: str = "", enterprise: str = "") -> "Workspace":
        """Return a workspace with every kind of user and channel that the API distinguishes."""
        home = cls(name, letter, enterprise)
        for user in _EVERYONE:
            home.add_user(User(**(user | {"id": user["id"] + letter})))
        ada, ben, bot = f"U1{letter}", f"U2{letter}", home.bot
        here = {user.id for user in home.users.values() if not user.deleted}
        everyone = {id_ for id_ in here if not home.users[id_].is_stranger}
        home.add_channel(Channel(f"C1{letter}", "general", members=set(everyone)))
        home.add_channel(Channel(f"C2{letter}", "elsewhere", members={ada, ben}))
        home.add_channel(Channel(f"C3{letter}", "attic", members=set(everyone), is_archived=True))
        home.add_channel(Channel(f"C4{letter}", "shared", members=here, is_ext_shared=True))
        home.add_channel(Channel(f"G1{letter}", "inner", "private", members={bot, ada, ben}))
        home.add_channel(Channel(f"G2{letter}", "closed", "private", members={ada, ben}))
        home.add_channel(Channel(f"G3{letter}", "mpdm-ada--ben", "mpim", members={bot, ada, ben}))
        return home


_EVERYONE: tuple[Payload, ...] = (
    {"id": "U1", "name": "ada"},
    {"id": "U2", "name": "ben"},
    {"id": "UADMIN", "name": "cleo", "is_admin": True},
    {"id": "UGUEST", "name": "guest", "is_restricted": True},
    {"id": "UGUEST1", "name": "single", "is_restricted": True, "is_ultra_restricted": True},
    {"id": "UOTHERBOT", "name": "robot", "is_bot": True},
    {"id": "USTRANGER", "name": "stranger", "team": "T0AWAY"},
    {"id": "UGONE", "name": "gone", "deleted": True},
)
