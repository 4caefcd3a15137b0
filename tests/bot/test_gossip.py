"""What processes tell each other of providers arrives, and nobody minds what is lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.coordination.pubsub import PAUSE, TURNS, LocalPubSub, ProviderSync
from council.errors import StoreError
from council.providers import HintKind, ProviderHint
from tests.council.gateways.throttling.manual_clock import settled

HINT = ProviderHint("openai", "openai/a", HintKind.PAUSE, 7.0)


class Listener:
    """Remembers what it hears."""

    def __init__(self) -> None:
        self.rang: list[str] = []
        self.heeded: list[ProviderHint] = []

    @asynccontextmanager
    async def at(self, gossip: ProviderSync) -> AsyncIterator[None]:
        task = asyncio.create_task(gossip.listen(self.rang.append, self.heeded.append))
        await settled()
        yield
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_others_hear_what_one_has_learnt_and_it_does_not_hear_itself() -> None:
    bus, here, there = LocalPubSub(), Listener(), Listener()
    ours, theirs = ProviderSync(bus), ProviderSync(bus)

    async with here.at(ours), there.at(theirs):
        ours.publish(HINT)
        await settled()

    assert (here.heeded, there.heeded) == ([], [HINT])


async def test_turns_that_came_free_are_told_by_address() -> None:
    bus, there = LocalPubSub(), Listener()

    async with there.at(ProviderSync(bus)):
        ProviderSync(bus).has_room("openai")
        await settled()
        await bus.publish(TURNS)  # something may have been missed
        await settled()

    assert there.rang == ["openai", ""]


async def test_words_that_nobody_knows_are_passed_over() -> None:
    bus, there = LocalPubSub(), Listener()

    async with there.at(ProviderSync(bus)):
        for text in ("", "{", "[]", '{"lesson": "sing"}', '{"by": 1}'):
            await bus.publish(PAUSE, text)
        ProviderSync(bus).publish(HINT)
        await settled()

    assert there.heeded == [HINT]


class Broken(LocalPubSub):
    """A bus that cannot be reached."""

    async def publish(self, topic: str, text: str = "") -> None:
        raise StoreError("The database is away.")


async def test_a_bus_that_is_away_is_nobodys_trouble() -> None:
    gossip = ProviderSync(Broken())

    gossip.publish(HINT)
    gossip.has_room("openai")

    await settled()
    await gossip.close()
