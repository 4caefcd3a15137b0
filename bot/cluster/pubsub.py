"""Publish/subscribe on Postgres' LISTEN and NOTIFY; after an outage subscribers get ""."""

import asyncio
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import psycopg
import structlog
from psycopg import AsyncConnection, sql

from bot.cluster.connection import ConnectionMonitor
from bot.coordination.pubsub import Subscriptions
from bot.coordination.tasks import running_alongside
from bot.observability import metrics

CHANNEL = "council"
MAX_PAYLOAD_BYTES = 7_999  # the limit of NOTIFY
MAX_PLAIN_BYTES = 1_000  # longer payloads are compressed
KEEPALIVE_SECONDS = 10.0
ANSWER_TIMEOUT_SECONDS = 5.0
FLUSH_TIMEOUT_SECONDS = 1.0
NOTIFY = "SELECT pg_notify(%s, payload) FROM unnest(%s::text[]) AS payload"


class PostgresPubSub:
    """Publish/subscribe of all processes on one database server, while `running` lasts."""

    def __init__(
        self, conninfo: str, monitor: ConnectionMonitor, retry_seconds: float = 1.0
    ) -> None:
        self._conninfo = conninfo
        self._monitor = monitor
        self._retry_seconds = retry_seconds
        self._subscriptions = Subscriptions()
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._batch: list[str] = []
        self._is_listening = asyncio.Event()
        self.subscription = self._subscriptions.subscription

    async def publish(self, topic: str, text: str = "") -> None:
        """Queue a message to every process; it is sent a moment later."""
        self._outgoing.put_nowait(encode(topic, text))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Receive and send while the block lasts, and send what is still queued at its end."""
        async with running_alongside(
            self._on_connection(self._receive), self._on_connection(self._send)
        ):
            with suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
                    await self._is_listening.wait()
            yield
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_TIMEOUT_SECONDS):
                    await self._outgoing.join()

    async def _on_connection(self, work: Callable[[AsyncConnection], Awaitable[None]]) -> None:
        """Run something on a separate connection, and again on a new one when that breaks."""
        while True:
            try:
                async with await AsyncConnection.connect(
                    self._conninfo, autocommit=True
                ) as connection:
                    await work(connection)
            except (psycopg.Error, OSError, TimeoutError) as error:
                self._monitor.mark_troubled()
                metrics.RECONNECTS.inc()
                structlog.get_logger().debug("bus_reconnects", fault=type(error).__name__)
            await asyncio.sleep(self._retry_seconds)

    async def _receive(self, connection: AsyncConnection) -> None:
        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
        self._subscriptions.deliver_gap()
        self._is_listening.set()
        while True:
            async for notify in connection.notifies(timeout=KEEPALIVE_SECONDS):
                if message := decode(notify.payload):
                    topic, text = message
                    self._subscriptions.deliver(topic, text)
            async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
                await connection.execute("SELECT 1")

    async def _send(self, connection: AsyncConnection) -> None:
        # A message need not wait for the disk: the rows are the truth.
        await connection.execute("SET synchronous_commit TO off")
        while True:
            if not self._batch:  # otherwise one that could not be sent is still there
                self._batch.append(await self._outgoing.get())
            while not self._outgoing.empty():
                self._batch.append(self._outgoing.get_nowait())
            async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
                await connection.execute(NOTIFY, (CHANNEL, self._batch))
            for _ in self._batch:
                self._outgoing.task_done()
            self._batch.clear()


def encode(topic: str, text: str) -> str:
    """Return the payload for NOTIFY, compressed if it is long, without the text if too long."""
    plain = json.dumps({"topic": topic, "text": text})
    if len(plain) <= MAX_PLAIN_BYTES:
        return plain
    packed = b64encode(zlib.compress(text.encode(errors="surrogatepass"))).decode()
    compressed = json.dumps({"topic": topic, "packed": packed})
    if len(compressed) <= MAX_PAYLOAD_BYTES:
        return compressed
    return json.dumps({"topic": topic})


def decode(payload: str) -> tuple[str, str] | None:
    """Return the topic and the text of a payload; None if it is not ours."""
    try:
        message = json.loads(payload)
        text = message.get("text", "")
        if packed := message.get("packed"):
            text = zlib.decompress(b64decode(packed)).decode(errors="surrogatepass")
        return str(message["topic"]), str(text)
    except (ValueError, KeyError, AttributeError, TypeError, zlib.error):
        return None
