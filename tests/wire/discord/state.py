"""State of the fake Discord, and its settings."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from tests.wire.discord.calls import Call, RefusalError
from tests.wire.discord.permissions import Permission
from tests.wire.discord.rates import Limiter, Rates
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.sessions import Sessions
from tests.wire.discord.world import Channel, File, Guild, Message, User, World
from tests.wire.faults import FaultQueue

Payload = dict[str, Any]

EPOCH_MS = 1_420_070_400_000
MEMBERS, PRESENCES, CONTENT = 1 << 1, 1 << 8, 1 << 15
PRIVILEGED = MEMBERS | PRESENCES | CONTENT


@dataclass(frozen=True, slots=True)
class Installation:
    """The app as its owner set it up."""

    token: str = "MTAw.home.council"
    name: str = "council"
    privileged: int = 0  # the privileged intents its owner switched on
    is_public: bool = True
    needs_code_grant: bool = False
    interactions_url: str | None = None  # where commands and buttons go instead of the gateway
    servers: int = 1  # as many as it is in, about


@dataclass(frozen=True, slots=True)
class Rules:
    """How patient this Discord is; the defaults are Discord's own."""

    now: Callable[[], float] = time.time
    ack_seconds: float = 3.0
    token_seconds: float = 15 * 60
    identify_seconds: float = 5.0  # between two IDENTIFYs
    identifies: int = 1000  # a day
    shards: int = 1  # that are recommended
    heartbeat_seconds: float = 41.25
    sends: int = 120  # on the gateway, a minute
    creates: int = 200  # of commands, a day
    old_edits: int = 5  # of a message older than an hour
    nonce_seconds: float = 180.0  # "the past few minutes"
    file_bytes: int = 10 * 1024 * 1024
    request_bytes: int = 25 * 1024 * 1024
    cdn_seconds: float = 24 * 3600
    rates: Rates = field(default_factory=Rates)


@dataclass(frozen=True, slots=True)
class SeenFault:
    """A failure that Discord shows a person: "The application did not respond", …"""

    user: str  # by handle
    what: str


@dataclass(slots=True, eq=False)
class Modal:
    """A modal on someone's screen."""

    user: str  # by handle
    data: Payload
    channel: Channel
    opened_by: Payload  # the interaction_metadata of what opened it
    source: Message | None = None  # what was clicked to open it


@dataclass(slots=True, eq=False)
class Interaction:
    """What someone did with the app, and how the app answered.

    `answer` is the type of the first answer: 4 says something, 5 thinks, 9 asks in a modal, …
    """

    id: str
    token: str
    type: int
    user: User
    channel: Channel
    at: float
    payload: Payload
    source: Message | None = None  # what was clicked, or what opened the modal
    form: Modal | None = None  # what is sent with it
    answer: int | None = None  # the type of the callback
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    seconds: float = 0.0  # until the answer
    original: Message | None = None
    is_deferred: bool = False  # and @original not yet written
    is_lost: bool = False  # nobody waits for an answer any more
    sent: list[Message] = field(default_factory=list)
    follow_ups: int = 0
    modal: Modal | None = None
    choices: list[str] = field(default_factory=list)  # the names of those suggested

    @property
    def accepted(self) -> bool:
        return self.answer is not None


class State:
    """The world and everything that hangs on it."""

    def __init__(self, rules: Rules, world: World, app: Installation) -> None:
        self.rules = rules
        self.world = world
        self.app = app
        self.address = ""  # of this server: http://127.0.0.1:port
        self.calls: list[Call] = []
        self.troubles = FaultQueue()
        self.limiter = Limiter(rules.rates)
        self.sessions = Sessions()
        self.commands: list[Payload] = []
        self.created = 0  # commands, today
        self.interactions: dict[str, Interaction] = {}  # by token
        self.modals: list[Modal] = []
        self.files: dict[str, File] = {}
        self.nonces: dict[tuple[str, str], Message] = {}
        self.typing: list[str] = []  # channels, one for each time
        self.faults: list[SeenFault] = []
        self._numbers = count(1)

    def now(self) -> float:
        return self.rules.now()

    def snowflake(self) -> str:
        return str((int(self.now() * 1000) - EPOCH_MS << 22) + next(self._numbers))

    @property
    def bot(self) -> User:
        return self.world.users[BOT]

    def channel(self, id_: str, *needed: Permission) -> Channel:
        """Return a place in which the bot may do this, or refuse."""
        place = self.world.channels.get(id_)
        if place is None:
            raise RefusalError(10003)
        held = self.held(place)
        if not held & Permission.VIEW_CHANNEL:
            raise RefusalError(50001)
        if any(not held & one for one in needed):
            raise RefusalError(50013)
        return place

    def held(self, place: Channel, user: str = BOT) -> Permission:
        """Return what this user may do in a place."""
        if place.guild is None:
            return Permission((1 << 52) - 1) if user in place.people else Permission(0)
        return place.guild.permissions_in(user, place)

    def guild(self, id_: str) -> Guild:
        """Return a guild the bot is in."""
        guild = self.world.guilds.get(id_)
        if guild is None:
            raise RefusalError(10004)
        if not guild.has_bot:
            raise RefusalError(50001)
        return guild

    def message(self, place: Channel, id_: str) -> Message:
        """Return a message of a place as a bot finds it; what one person sees is not there."""
        message = place.find(id_)
        if message is None or message.ephemeral_to:
            raise RefusalError(10008)
        return message


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
