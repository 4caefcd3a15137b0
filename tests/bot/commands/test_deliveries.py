"""A platform delivers an event again and again, late and out of order: it makes one round."""

import asyncio
import random
from dataclasses import dataclass, field

from bot.chat import Asker, Post, Said, Sent
from bot.commands.hearing import hear
from council.answers import Role
from council.places import Place
from tests.bot.web.visiting import a_desk
from tests.fakes import FakeGateway

EVENTS, DELIVERIES = 10, 1000
ASKER, PLACE = Asker("u1", "Ann"), Place("fake", "team", "general")


@dataclass
class FakeChat:
    """Remembers the key of every message it was given."""

    keys: list[str] = field(default_factory=list)

    async def send(self, place: Place, post: Post, key: str) -> Sent:
        self.keys.append(key)
        return Sent(place, key)

    async def find(self, place: Place, key: str) -> Sent | None:
        return None

    async def edit(self, sent: Sent, post: Post) -> None: ...

    async def whisper(self, said: Said, post: Post) -> None: ...


async def test_a_thousand_deliveries_of_ten_events_make_ten_rounds() -> None:
    gateway, chat = FakeGateway(), FakeChat()
    desk = a_desk(gateway)
    deliveries = [f"team:general:{i % EVENTS}" for i in range(DELIVERIES)]
    random.Random(3).shuffle(deliveries)

    await asyncio.gather(
        *(hear(desk, chat, Said("Which queue?", ASKER, PLACE, key)) for key in deliveries)
    )

    members = len(desk.panel(None, PLACE).members)
    assert len(await desk.store.recent()) == EVENTS
    assert len(gateway.of(Role.ANSWER)) == EVENTS * members
    assert len(chat.keys) == len(set(chat.keys)) == EVENTS * (3 + members)  # root, two tables
