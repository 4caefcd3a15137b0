"""An app over fakes, and a fake chat that records what it is given."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from bot.bakeoffs.bias_report import bias_report
from bot.bakeoffs.parts import BakeoffSettings
from bot.bakeoffs.registry import BakeoffRegistry
from bot.bakeoffs.service import BakeoffService
from bot.chat import Asker, Chat, IncomingMessage, Post, SentMessage
from bot.commands.buttons import build_buttons
from bot.commands.dispatch import handle_message
from bot.commands.table import build_registry
from bot.context import AppContext
from bot.coordination.clock import now
from bot.outbox import Outbox
from bot.plugins import Parts, find_plugins
from bot.research.services import ResearchService, ResearchStores, WeightedBoards
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
from tests.fakes.memory_bakeoffs import memory_bench
from tests.fakes.memory_experiments import MemoryExperiments
from tests.fakes.memory_key_value import MemoryKeyValueStore
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_outbox import MemoryOutbox
from tests.fakes.memory_store import MemoryStore

ANA, BEN = Asker("U1", "Ana", is_admin=True), Asker("U2", "Ben")
HERE = Place("slack", "T1", "C1")
PLUGINS = find_plugins()
COMMANDS, BUTTONS = build_registry(PLUGINS), build_buttons(PLUGINS)


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
    ids = count(1)
    app = AppContext(
        store,
        gateway,
        LocalRunner(store, gateway, ready),
        Outbox(MemoryOutbox(), now),
        known,
        next(iter(known)),
        ready,
        new_id=lambda: f"{next(ids):010x}",
        budget=Budget(MemoryLedger(), Caps(), now),
        key_values=MemoryKeyValueStore(),
        registry=registry,
        plugins=find_plugins(),
        parts=Parts(
            memory_bench(store),
            BakeoffRegistry(),
            BakeoffSettings(bias_report),
            ResearchStores(MemoryExperiments()),
            WeightedBoards(),
            COMMANDS,
            BUTTONS,
        ),
    )
    app.parts.add(BakeoffService(app))
    app.parts.add(ResearchService(app))
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

    async def find(self, place: Place, key: str) -> SentMessage | None:
        return SentMessage(place, key) if key in self.keys else None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        self.said.append(words_of(post))

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        self.said.append(words_of(post))


async def replies_to(
    app: AppContext, text: str, asker: Asker = ANA, place: Place = HERE, key: str = "k"
) -> str:
    """Send a message; return all replies to it."""
    chat = FakeChat()
    await handle_message(app, chat, IncomingMessage(text, asker, place, key))
    return "\n".join(chat.said)
