"""Users, guilds, channels and messages. Values and look-ups; no rule of the API."""

from dataclasses import dataclass, field
from typing import Any, Literal

from tests.wire.discord.permissions import EVERYTHING, Overwrite, Permission, implied, in_channel

Payload = dict[str, Any]
Kind = Literal["text", "dm", "group", "thread", "private_thread", "forum"]

TYPES: dict[Kind, int] = {
    "text": 0,
    "dm": 1,
    "group": 3,
    "thread": 11,
    "private_thread": 12,
    "forum": 15,
}
EPHEMERAL = 1 << 6
LOADING = 1 << 7
HAS_THREAD = 1 << 5
COMPONENTS_V2 = 1 << 15


@dataclass(slots=True, eq=False)
class User:
    """One person or bot; tests call them by their handle, the wire by their id."""

    handle: str
    id: str
    name: str
    is_bot: bool = False
    takes_direct_messages: bool = True
    has_app: bool = False  # installed the app for themselves

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"


@dataclass(slots=True, eq=False)
class Role:
    id: str
    name: str
    permissions: Permission
    managed: bool = False


@dataclass(slots=True, eq=False)
class Member:
    user: User
    roles: list[str] = field(default_factory=list)
    nick: str | None = None


@dataclass(slots=True, eq=False)
class File:
    """An attachment as the CDN keeps it."""

    id: str
    name: str
    content: bytes
    channel: str
    content_type: str = "application/octet-stream"
    description: str | None = None
    ephemeral: bool = False


@dataclass(slots=True, eq=False)
class Channel:
    """One place to speak: a guild's channel, a thread of one, or a direct conversation."""

    handle: str
    id: str
    name: str
    kind: Kind = "text"
    guild: "Guild | None" = None
    parent: "Channel | None" = None
    overwrites: dict[str, Overwrite] = field(default_factory=dict)
    said: "list[Message]" = field(default_factory=list)
    owner: str = ""  # of a thread
    people: set[str] = field(default_factory=set)  # of a thread, a direct or a group conversation
    archived: bool = False
    locked: bool = False
    auto_archive: int = 1440
    slow_mode: int = 0
    created: float = 0.0

    @property
    def is_thread(self) -> bool:
        return self.parent is not None

    def find(self, id_: str) -> "Message | None":
        return next((message for message in self.said if message.id == id_), None)


@dataclass(slots=True, eq=False)
class Guild:
    """One server; without `has_bot` people there only have the app for themselves.

    With `has_commands` the server itself authorised the app's commands, but not its bot.
    """

    handle: str
    id: str
    name: str
    owner: str
    has_bot: bool = True
    has_commands: bool = False
    roles: dict[str, Role] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)

    def permissions(self, user: str) -> Permission:
        """Return what this user may do here before any channel's overwrites."""
        if user == self.owner:
            return EVERYTHING
        held = self.roles[self.id].permissions
        for role in self.members[user].roles:
            held |= self.roles[role].permissions
        return held

    def permissions_in(self, user: str, channel: Channel) -> Permission:
        """Return what this user may do in a channel of this guild; a thread asks its parent."""
        if user not in self.members:
            return Permission(0)
        place = channel.parent or channel
        roles = self.members[user].roles
        held = in_channel(self.permissions(user), self.id, roles, user, place.overwrites)
        return implied(held, in_thread=channel.is_thread)


@dataclass(slots=True, eq=False)
class Message:
    """One message as it stands now."""

    id: str
    channel: Channel
    author: User
    at: float
    content: str = ""
    embeds: list[Payload] = field(default_factory=list)
    components: list[Payload] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    flags: int = 0
    type: int = 0
    edited: float | None = None
    edits: int = 0
    old_edits: int = 0  # of those, when it was older than an hour
    reference: "Message | None" = None
    pings_author: bool = False  # of what it replies to
    thread: Channel | None = None
    ephemeral_to: str | None = None
    interaction: Payload | None = None  # interaction_metadata
    nonce: str | None = None
    arguments: Payload = field(default_factory=dict)  # as last posted or edited

    @property
    def is_loading(self) -> bool:
        return bool(self.flags & LOADING)

    @property
    def text(self) -> str:
        """Everything one can read in it, embeds and text displays included."""
        parts = [self.content, *_texts(self.embeds), *_texts(self.components)]
        return "\n".join(part for part in parts if part)

    def file(self, name: str) -> File:
        return next(file for file in self.files if file.name == name)


def _texts(value: object) -> list[str]:
    """Find what people read in embeds and components, in order."""
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    if not isinstance(value, dict):
        return []
    names = ("title", "description", "name", "value", "content", "label", "text")
    own = [value[name] for name in names if isinstance(value.get(name), str)]
    return own + [text for part in value.values() for text in _texts(part)]


class World:
    """Everyone and every place, by handle or by id."""

    def __init__(self) -> None:
        self.users: dict[str, User] = {}
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}  # by id, threads and direct ones too
        self.gone: dict[str, Channel] = {}

    def user(self, who: str | User) -> User:
        if isinstance(who, User):
            return who
        return next(user for user in self.users.values() if who in {user.handle, user.id})

    def guild(self, which: str | Guild) -> Guild:
        if isinstance(which, Guild):
            return which
        return next(guild for guild in self.guilds.values() if which in {guild.handle, guild.id})

    def channel(self, where: str | Channel) -> Channel:
        if isinstance(where, Channel):
            return where
        places = self.channels.values()
        return next(place for place in places if where in {place.handle, place.id})

    def direct(self, user: User) -> Channel | None:
        places = self.channels.values()
        return next((one for one in places if one.kind == "dm" and user.id in one.people), None)

    def threads_of(self, parent: Channel) -> list[Channel]:
        return [place for place in self.channels.values() if place.parent is parent]
