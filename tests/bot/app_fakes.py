"""An app over fakes, and fake chats that record what they are given."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from bot.admin_settings import chosen_caps
from bot.chat import (
    Asker,
    Chat,
    IncomingMessage,
    MessageGoneError,
    Post,
    PostingForbiddenError,
    SentMessage,
)
from bot.commands.buttons import build_buttons
from bot.commands.dispatch import handle_message
from bot.commands.table import build_registry
from bot.context import AppContext
from bot.coordination.clock import now
from bot.outbox import Outbox
from bot.plugins import Parts, find_plugins
from bot.runners.local import LocalRunner
from council.budget import Budget
from council.budget_caps import Caps
from council.panel import Panel
from council.places import Place
from council.ports import Gateway
from council.registry import NO_PLUGINS, Registry
from tests.bot.rounds import words_of
from tests.builders import a_panel
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_key_value import MemoryKeyValueStore
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_outbox import MemoryOutbox
from tests.fakes.memory_store import MemoryStore
from tests.plugin_modules import modules_at

ANA, BEN = Asker("U1", "Ana", is_admin=True), Asker("U2", "Ben")
HERE = Place("slack", "T1", "C1")
OUTBOX_SPEED = 0.05  # seconds that an outbox waits for a second
PLUGINS = find_plugins()
COMMANDS, BUTTONS = build_registry(PLUGINS), build_buttons(PLUGINS)
PLUGIN_PARTS = modules_at("tests/bot/*/app_parts.py")


async def ready(_: Panel) -> None:
    """Every model is ready."""


def an_app(
    gateway: Gateway | None = None,
    store: MemoryStore | None = None,
    panels: Sequence[Panel] | None = None,
    registry: Registry = NO_PLUGINS,
) -> AppContext:
    """Return an app whose ids are 10 hexadecimal digits, counted up."""
    gateway, store = gateway or FakeGateway(), store or MemoryStore()
    known = {panel.name: panel for panel in panels or [a_panel()]}
    ids, key_values = count(1), MemoryKeyValueStore()
    app = AppContext(
        store,
        gateway,
        LocalRunner(store, gateway, ready),
        Outbox(MemoryOutbox(), now),
        known,
        next(iter(known)),
        ready,
        new_id=lambda: f"{next(ids):010x}",
        budget=Budget(MemoryLedger(), Caps(), now, chosen_caps=partial(chosen_caps, key_values)),
        key_values=key_values,
        registry=registry,
        plugins=find_plugins(),
        parts=Parts(COMMANDS, BUTTONS),
    )
    for plugin in PLUGIN_PARTS:
        plugin.add_parts(app, store)
    return app


@dataclass(slots=True)
class FakeChat(Chat):
    """Remembers what was said, and under which keys."""

    said: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        self.keys.append(key)
        self.said.append(words_of(post))
        return SentMessage(place, key)

    async def find(
        self, place: Place, key: str, age_seconds: float | None = None
    ) -> SentMessage | None:
        return SentMessage(place, key) if key in self.keys else None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        self.said.append(words_of(post))

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        self.said.append(words_of(post))


@dataclass(slots=True)
class Room(Chat):
    """A chat of many people, whose channel can be closed and whose messages can be deleted."""

    is_room = True
    accepts_files: bool = False
    posted: list[tuple[Place, str]] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)
    whispered: list[str] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    closed: bool = False
    deleted: bool = False

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        if self.closed and place.channel != "alone":
            raise PostingForbiddenError("The channel is archived: ask in another one.")
        self.keys.append(key)
        self.posted.append((place, words_of(post)))
        self.posts.append(post)
        return SentMessage(place, key)

    async def find(
        self, place: Place, key: str, age_seconds: float | None = None
    ) -> SentMessage | None:
        return SentMessage(place, key) if key in self.keys else None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        if self.closed or self.deleted:
            raise MessageGoneError("The message no longer exists.")
        self.edited.append(words_of(post))
        self.posts.append(post)

    async def show_progress(self, sent: SentMessage, post: Post) -> None:
        self.progress.append(words_of(post))

    def private_place(self, asker_id: str, place: Place) -> Place:
        return Place(place.chat, place.workspace, "alone")

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        self.whispered.append(words_of(post))
        self.posts.append(post)

    def said_in(self, channel: str) -> Sequence[str]:
        """Return what was posted in a channel."""
        return [words for place, words in self.posted if place.channel == channel]


async def replies_to(
    app: AppContext, text: str, asker: Asker = ANA, place: Place = HERE, key: str = "k"
) -> str:
    """Send a message; return all replies to it."""
    chat = FakeChat()
    await handle_message(app, chat, IncomingMessage(text, asker, place, key))
    return "\n".join(chat.said)


async def sleep_scaled(seconds: float) -> None:
    await asyncio.sleep(seconds * OUTBOX_SPEED)
