"""Publish/subscribe within one process, and the sync of provider state across processes."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from secrets import token_hex

from pydantic import TypeAdapter

from bot.coordination.tasks import BackgroundTasks
from bot.ports import PubSub
from council.errors import CouncilError
from council.providers import ProviderHint

TURNS, PAUSE = "turns", "pause"  # topics
HINT = TypeAdapter(ProviderHint)


class Subscriptions:
    """The subscribers of this process, by topic."""

    def __init__(self) -> None:
        self._queues: defaultdict[str, list[asyncio.Queue[str]]] = defaultdict(list)

    @contextmanager
    def subscription(self, topic: str) -> Iterator[asyncio.Queue[str]]:
        """Yield a queue of a topic's messages, filled until the block ends."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._queues[topic].append(queue)
        try:
            yield queue
        finally:
            self._queues[topic].remove(queue)
            if not self._queues[topic]:
                del self._queues[topic]

    def deliver(self, topic: str, text: str) -> None:
        """Pass a message to every subscriber of its topic."""
        for queue in self._queues.get(topic, ()):
            queue.put_nowait(text)

    def deliver_gap(self) -> None:
        """Pass "" to every subscriber: messages may have been lost."""
        for topic in [*self._queues]:
            self.deliver(topic, "")


class LocalPubSub:
    """Publish/subscribe of a process that is alone."""

    def __init__(self) -> None:
        self._subscriptions = Subscriptions()
        self.subscription = self._subscriptions.subscription

    async def publish(self, topic: str, text: str = "") -> None:
        """Publish a message to the subscribers of this process."""
        self._subscriptions.deliver(topic, text)


class ProviderSync:
    """Shares the state of providers between processes: free slots, pauses, circuit breakers."""

    def __init__(self, pubsub: PubSub) -> None:
        self._pubsub = pubsub
        self._sender = token_hex(4)
        self._tasks = BackgroundTasks()

    def publish_free_slot(self, gate: str) -> None:
        """Make other processes that wait for a slot of a provider gate look at once."""
        self._tasks.start(self._publish(TURNS, gate))

    def publish(self, hint: ProviderHint) -> None:
        """Publish what was learnt about a model."""
        message = asdict(hint) | {"by": self._sender, "seconds": round(hint.seconds, 3)}
        self._tasks.start(self._publish(PAUSE, json.dumps(message)))

    async def listen(
        self, on_free_slot: Callable[[str], None], on_hint: Callable[[ProviderHint], None]
    ) -> None:
        """Report free slots, and the hints of other processes, until cancelled."""

        def on_pause(text: str) -> None:
            if hint := _parse_hint(text, ignored_sender=self._sender):
                on_hint(hint)

        with (
            self._pubsub.subscription(TURNS) as turns,
            self._pubsub.subscription(PAUSE) as pauses,
        ):
            async with asyncio.TaskGroup() as group:
                group.create_task(_consume(turns, on_free_slot))
                group.create_task(_consume(pauses, on_pause))

    async def close(self) -> None:
        """Cancel the messages that are not published yet."""
        await self._tasks.close()

    async def _publish(self, topic: str, text: str) -> None:
        with suppress(CouncilError):
            await self._pubsub.publish(topic, text)


async def _consume(queue: "asyncio.Queue[str]", on_message: Callable[[str], None]) -> None:
    while True:
        on_message(await queue.get())


def _parse_hint(text: str, ignored_sender: str) -> ProviderHint | None:
    """Parse a hint of another process; None for our own and for what cannot be parsed."""
    try:
        message = json.loads(text)
        hint = HINT.validate_python(message)
    except ValueError:
        return None
    return None if message.get("by") == ignored_sender else hint
