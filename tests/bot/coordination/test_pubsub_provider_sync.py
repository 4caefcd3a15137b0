"""Sync of provider state: hints arrive at other processes, and lost ones do no harm."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.coordination.pubsub import PAUSE, TURNS, LocalPubSub, ProviderSync
from council.errors import StoreError
from council.providers import HintKind, ProviderHint
from tests.council.gateways.throttling.manual_clock import settled

HINT = ProviderHint("openai", "openai/a", HintKind.PAUSE, 7.0)


class Listener:
    """Records what one process receives."""

    def __init__(self) -> None:
        self.free_slots: list[str] = []
        self.hints: list[ProviderHint] = []

    @asynccontextmanager
    async def listening(self, sync: ProviderSync) -> AsyncIterator[None]:
        task = asyncio.create_task(sync.listen(self.free_slots.append, self.hints.append))
        await settled()
        yield
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_hint_reaches_other_processes_but_not_its_sender() -> None:
    pubsub, here, there = LocalPubSub(), Listener(), Listener()
    ours, theirs = ProviderSync(pubsub), ProviderSync(pubsub)

    async with here.listening(ours), there.listening(theirs):
        ours.publish(HINT)
        await settled()

    assert (here.hints, there.hints) == ([], [HINT])


async def test_a_free_slot_is_published_with_its_gate() -> None:
    pubsub, there = LocalPubSub(), Listener()

    async with there.listening(ProviderSync(pubsub)):
        ProviderSync(pubsub).publish_free_slot("openai")
        await settled()
        await pubsub.publish(TURNS)  # something may have been missed
        await settled()

    assert there.free_slots == ["openai", ""]


async def test_messages_that_cannot_be_parsed_are_ignored() -> None:
    pubsub, there = LocalPubSub(), Listener()

    async with there.listening(ProviderSync(pubsub)):
        for text in ("", "{", "[]", '{"lesson": "sing"}', '{"by": 1}'):
            await pubsub.publish(PAUSE, text)
        ProviderSync(pubsub).publish(HINT)
        await settled()

    assert there.hints == [HINT]


class FailingPubSub(LocalPubSub):
    """Publish/subscribe whose database is away."""

    async def publish(self, topic: str, text: str = "") -> None:
        raise StoreError("The database is away.")


async def test_errors_of_publishing_are_ignored() -> None:
    sync = ProviderSync(FailingPubSub())

    sync.publish(HINT)
    sync.publish_free_slot("openai")

    await settled()
    await sync.close()
