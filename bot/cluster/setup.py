"""Works and bus of a cluster opened on a database server, and closed with the block."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import psycopg
import structlog
from procrastinate import PsycopgConnector

from bot.cluster.connection import (
    AWAY,
    PACE,
    ClusterTimings,
    ConnectionMonitor,
    clock,
    conninfo_of,
    is_away,
    told_kindly,
)
from bot.cluster.job_queue import ClusterJobQueue
from bot.cluster.pubsub import PostgresPubSub
from council.errors import StoreError

CONNECTIONS = 6  # for the work's own rows; each queue that is served listens on one more
CONNECTION_SECONDS = 5.0
WAITING_SECONDS = 120.0
LOOK_SECONDS = 1.0
WAITING = "The database server cannot be reached yet: waiting for it."
# What a server says that no waiting mends.
FOR_GOOD = ("authentication failed", "does not exist", "no pg_hba.conf entry", "not permitted")


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the processes of a cluster share."""

    job_queue: ClusterJobQueue
    pubsub: PostgresPubSub


@asynccontextmanager
async def opened_cluster(
    url: str, pace: ClusterTimings = PACE, clock: Callable[[], float] = clock
) -> AsyncIterator[Cluster]:
    """Give works and bus of all processes on a server.

    Raises StoreError where it cannot be reached, or its tables are missing.
    """
    quieten()
    contact = ConnectionMonitor(clock)
    conninfo = conninfo_of(url, "council works")
    connector, pulse = _connector(conninfo, CONNECTIONS), _connector(conninfo, 1)
    async with AsyncExitStack() as stack:
        for one in (connector, pulse):
            stack.push_async_callback(one.close_async)
            with told_kindly():
                await one.open_async()
        bus = PostgresPubSub(conninfo_of(url, "council bus"), contact)
        works = ClusterJobQueue(connector, contact, pace, clock, pulse)
        await stack.enter_async_context(bus.running())
        await stack.enter_async_context(works.running())
        yield Cluster(works, bus)


def _connector(conninfo: str, connections: int) -> PsycopgConnector:
    return PsycopgConnector(
        conninfo=conninfo,
        min_size=1,
        max_size=connections,
        timeout=CONNECTION_SECONDS,
        # Then whoever wants one tries again at once; the pool itself would wait ever longer.
        reconnect_timeout=LOOK_SECONDS,
    )


async def wait_for_server(
    url: str, say: Callable[[str], None], seconds: float = WAITING_SECONDS
) -> None:
    """Wait until a server lets the program in, for so long at most; say so once.

    Raises StoreError after that, and at once for what no waiting mends.
    """
    conninfo = conninfo_of(url, "council start")
    loop = asyncio.get_running_loop()
    until, has_said = loop.time() + seconds, False
    while why := await _refusal(conninfo):
        if loop.time() >= until or any(words in why for words in FOR_GOOD):
            raise StoreError(AWAY)
        if not has_said:
            say(WAITING)
            has_said = True
        await asyncio.sleep(LOOK_SECONDS)


async def _refusal(conninfo: str) -> str:
    """Give what a server says where it does not let the program in; nothing where it does."""
    try:
        async with await psycopg.AsyncConnection.connect(conninfo) as connection:
            await connection.execute("SELECT 1")
    except psycopg.Error as error:
        if not is_away(error):
            raise
        return str(error) or type(error).__name__
    return ""


class _ToLog(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write what went wrong, without the details: how work ended is told by the works."""
        if str(getattr(record, "action", "")).startswith("job_"):
            return
        fault = record.exc_info[0] if record.exc_info else None
        structlog.get_logger().warning(
            "works_trouble",
            what=record.getMessage().partition(":")[0],
            fault=fault.__name__ if fault else "",
        )


def quieten() -> None:
    """Have the libraries tell our log what is an error, in one line, and nothing else."""
    for name in ("procrastinate", "psycopg"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.ERROR)
        logger.handlers, logger.propagate = [_ToLog()], False
