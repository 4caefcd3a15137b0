"""The bus of one process: whoever listens hears at once what is said."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex

from bot.coordination.tasks import BackgroundTasks
from bot.ports import PubSub
from council.errors import CouncilError
from council.providers import HintKind, ProviderHint

# --- The bus of one process: whoever listens hears at once what is said.


class Subscriptions:
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


class LocalPubSub:
    """A bus that no other process is on."""

    def __init__(self) -> None:
        self._ears = Subscriptions()
        self.subscription = self._ears.listening

    async def publish(self, topic: str, text: str = "") -> None:
        """Say something to whoever listens here."""
        self._ears.hear(topic, text)


# --- What processes tell each other of providers: turns that came free, pauses, and breakers.

TURNS, PAUSE = "turns", "pause"


class ProviderSync:
    """Tells other processes what is learnt here, and hears what they have learnt."""

    def __init__(self, bus: PubSub) -> None:
        self._bus = bus
        self._by = token_hex(4)
        self._doing = BackgroundTasks()

    def has_room(self, gate: str) -> None:
        """Have whoever waits for a turn at an address look at once."""
        self._doing.begin(self._tell(TURNS, gate))

    def publish(self, hint: ProviderHint) -> None:
        """Tell what was learnt of a model."""
        word = {
            "by": self._by,
            "gate": hint.gate,
            "model": hint.model,
            "lesson": hint.lesson.value,
            "seconds": round(hint.seconds, 3),
        }
        self._doing.begin(self._tell(PAUSE, json.dumps(word)))

    async def listen(
        self, ring: Callable[[str], None], heed: Callable[[ProviderHint], None]
    ) -> None:
        """Ring where turns came free, and heed what others have learnt, until cancelled."""
        with self._bus.subscription(TURNS) as turns, self._bus.subscription(PAUSE) as pauses:
            async with asyncio.TaskGroup() as group:
                group.create_task(_each(turns, ring))
                group.create_task(_each(pauses, lambda text: self._heed(text, heed)))

    async def close(self) -> None:
        """Tell nothing more."""
        await self._doing.close()

    def _heed(self, text: str, heed: Callable[[ProviderHint], None]) -> None:
        hint = _hint(text, but=self._by)
        if hint:
            heed(hint)

    async def _tell(self, topic: str, text: str) -> None:
        with suppress(CouncilError):
            await self._bus.publish(topic, text)


async def _each(heard: "asyncio.Queue[str]", act: Callable[[str], None]) -> None:
    while True:
        act(await heard.get())


def _hint(text: str, but: str) -> ProviderHint | None:
    """Read what another process told; None for our own words, and for those we do not know."""
    try:
        word = json.loads(text)
        hint = ProviderHint(
            word["gate"], word["model"], HintKind(word["lesson"]), float(word["seconds"])
        )
    except (ValueError, KeyError, TypeError):
        return None
    return None if word.get("by") == but else hint
