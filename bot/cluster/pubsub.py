"""The bus of a cluster: what one process says, all of them hear at once, through the database.

Words are lost while the database is away; listeners are told to look for themselves then.
"""

import asyncio
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import psycopg
import structlog
from psycopg import AsyncConnection, sql

from bot.cluster.connection import ConnectionMonitor
from bot.coordination.pubsub import Subscriptions
from bot.coordination.tasks import beside
from bot.observability import metrics

CHANNEL = "council"
MOST_BYTES = 7_999  # what Postgres takes
PLAIN_BYTES = 1_000  # longer ones are packed
QUIET_SECONDS = 10.0  # then the server is asked whether it is still there
ANSWER_SECONDS = 5.0
FLUSH_SECONDS = 1.0
SAY = "SELECT pg_notify(%s, word) FROM unnest(%s::text[]) AS word"


@dataclass(frozen=True, slots=True)
class Subscription:
    """What was said of a topic."""

    topic: str
    text: str


def written(topic: str, text: str) -> str:
    """Give what goes over the wire; a text that is too long is left out."""
    plain = json.dumps({"topic": topic, "text": text})
    if len(plain) <= PLAIN_BYTES:
        return plain
    packed = b64encode(zlib.compress(text.encode(errors="surrogatepass"))).decode()
    short = json.dumps({"topic": topic, "packed": packed})
    if len(short) <= MOST_BYTES:
        return short
    return json.dumps({"topic": topic})


def read(payload: str) -> Subscription | None:
    """Give what came over the wire; None for what is no word of ours."""
    try:
        said = json.loads(payload)
        packed = said.get("packed")
        text = _unpacked(packed) if packed else said.get("text", "")
        return Subscription(str(said["topic"]), str(text))
    except (ValueError, KeyError, AttributeError, TypeError, zlib.error):
        return None


def _unpacked(packed: str) -> str:
    return zlib.decompress(b64decode(packed)).decode(errors="surrogatepass")


class PostgresPubSub:
    """The bus of all processes that share a database server, as long as `running` lasts."""

    def __init__(
        self, conninfo: str, contact: ConnectionMonitor, pause_seconds: float = 1.0
    ) -> None:
        self._conninfo = conninfo
        self._contact = contact
        self._pause_seconds = pause_seconds
        self._ears = Subscriptions()
        self._unsaid: asyncio.Queue[str] = asyncio.Queue()
        self._saying: list[str] = []
        self._listens = asyncio.Event()
        self.subscription = self._ears.listening

    async def publish(self, topic: str, text: str = "") -> None:
        """Say something to every process; it is said a moment later."""
        self._unsaid.put_nowait(written(topic, text))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hear and say as long as the block lasts; what is still unsaid at its end is said."""
        async with beside(self._kept_up(self._hear), self._kept_up(self._say)):
            with suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._listens.wait()
            yield
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS):
                    await self._unsaid.join()

    async def _kept_up(self, act: Callable[[AsyncConnection], Awaitable[None]]) -> None:
        """Do something on a connection of its own, again and again where that breaks."""
        while True:
            try:
                async with await AsyncConnection.connect(
                    self._conninfo, autocommit=True
                ) as connection:
                    await act(connection)
            except (psycopg.Error, OSError, TimeoutError) as error:
                self._contact.stumbled()
                metrics.bus_reconnected()
                structlog.get_logger().debug("bus_reconnects", fault=type(error).__name__)
            await asyncio.sleep(self._pause_seconds)

    async def _hear(self, connection: AsyncConnection) -> None:
        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
        self._ears.may_have_missed()
        self._listens.set()
        while True:
            async for notified in connection.notifies(timeout=QUIET_SECONDS):
                if heard := read(notified.payload):
                    self._ears.hear(heard.topic, heard.text)
            async with asyncio.timeout(ANSWER_SECONDS):
                await connection.execute("SELECT 1")

    async def _say(self, connection: AsyncConnection) -> None:
        # A word is worth no wait for the disk: rows are the truth.
        await connection.execute("SET synchronous_commit TO off")
        while True:
            await self._take_words()
            async with asyncio.timeout(ANSWER_SECONDS):
                await connection.execute(SAY, (CHANNEL, self._saying))
            for _ in self._saying:
                self._unsaid.task_done()
            self._saying.clear()

    async def _take_words(self) -> None:
        """Have what is to be said next; what could not be said before comes first."""
        if not self._saying:
            self._saying.append(await self._unsaid.get())
        while not self._unsaid.empty():
            self._saying.append(self._unsaid.get_nowait())
