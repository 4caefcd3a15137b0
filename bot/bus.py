"""The bus of one process: whoever listens hears at once what is said."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class Ears:
    """Everybody in this process who listens, by topic."""

    def __init__(self) -> None:
        self._heard: defaultdict[str, list[asyncio.Queue[str]]] = defaultdict(list)

    @contextmanager
    def listening(self, topic: str) -> Iterator[asyncio.Queue[str]]:
        """Give what is said of a topic as long as the block lasts."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._heard[topic].append(queue)
        try:
            yield queue
        finally:
            self._heard[topic].remove(queue)
            if not self._heard[topic]:
                del self._heard[topic]

    def hear(self, topic: str, text: str) -> None:
        """Let everybody who listens to a topic hear a text."""
        for queue in self._heard.get(topic, ()):
            queue.put_nowait(text)

    def may_have_missed(self) -> None:
        """Let everybody look for themselves."""
        for topic in [*self._heard]:
            self.hear(topic, "")


class OwnBus:
    """A bus that no other process is on."""

    def __init__(self) -> None:
        self._ears = Ears()
        self.heard = self._ears.listening

    async def tell(self, topic: str, text: str = "") -> None:
        """Say something to whoever listens here."""
        self._ears.hear(topic, text)
