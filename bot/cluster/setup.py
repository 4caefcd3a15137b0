"""Open the job queue and the publish/subscribe of a cluster on a database server."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import psycopg
from procrastinate import PsycopgConnector

from bot.cluster.connection import (
    DEFAULT_TIMINGS,
    UNREACHABLE,
    ClusterTimings,
    ConnectionMonitor,
    build_conninfo,
    clock,
    is_connection_error,
    translated_errors,
)
from bot.cluster.job_queue import ClusterJobQueue
from bot.cluster.pubsub import PostgresPubSub
from bot.observability.logs import redirect_library_log
from council.errors import StoreError

MAX_CONNECTIONS = 6  # of the job queue; each queue that is served listens on one more
CONNECT_TIMEOUT_SECONDS = 5.0
WAIT_FOR_SERVER_SECONDS = 120.0
RETRY_SECONDS = 1.0
WAITING = "The database server cannot be reached yet: waiting for it."
# Errors of a server that waiting does not fix.
PERMANENT_ERRORS = (
    "authentication failed",
    "does not exist",
    "no pg_hba.conf entry",
    "not permitted",
)


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the processes of a cluster share."""

    job_queue: ClusterJobQueue
    pubsub: PostgresPubSub


@asynccontextmanager
async def opened_cluster(
    url: str, timings: ClusterTimings = DEFAULT_TIMINGS, clock: Callable[[], float] = clock
) -> AsyncIterator[Cluster]:
    """Yield what all processes on a server share; raise StoreError if it has no tables for it."""
    configure_library_logging()
    monitor = ConnectionMonitor(clock)
    conninfo = build_conninfo(url, "council works")
    connector = _connector(conninfo, MAX_CONNECTIONS)
    heartbeat_connector = _connector(conninfo, 1)
    async with AsyncExitStack() as stack:
        for one in (connector, heartbeat_connector):
            stack.push_async_callback(one.close_async)
            with translated_errors():
                await one.open_async()
        pubsub = PostgresPubSub(build_conninfo(url, "council bus"), monitor)
        job_queue = ClusterJobQueue(connector, monitor, timings, clock, heartbeat_connector)
        await stack.enter_async_context(pubsub.running())
        await stack.enter_async_context(job_queue.running())
        yield Cluster(job_queue, pubsub)


def _connector(conninfo: str, connections: int) -> PsycopgConnector:
    return PsycopgConnector(
        conninfo=conninfo,
        min_size=1,
        max_size=connections,
        timeout=CONNECT_TIMEOUT_SECONDS,
        # Then our own retries decide; the pool's backoff would grow ever longer.
        reconnect_timeout=RETRY_SECONDS,
    )


async def wait_for_server(
    url: str, report: Callable[[str], None], timeout_seconds: float = WAIT_FOR_SERVER_SECONDS
) -> None:
    """Wait until a server accepts a connection; report once that it does not yet.

    Raise StoreError after the timeout, and at once for an error that waiting does not fix.
    """
    conninfo = build_conninfo(url, "council start")
    loop = asyncio.get_running_loop()
    deadline, has_reported = loop.time() + timeout_seconds, False
    while refusal := await _refusal(conninfo):
        if loop.time() >= deadline or any(words in refusal for words in PERMANENT_ERRORS):
            raise StoreError(UNREACHABLE)
        if not has_reported:
            report(WAITING)
            has_reported = True
        await asyncio.sleep(RETRY_SECONDS)


async def _refusal(conninfo: str) -> str:
    """Return why a server refuses a connection; "" if it accepts one."""
    try:
        async with await psycopg.AsyncConnection.connect(conninfo) as connection:
            await connection.execute("SELECT 1")
    except psycopg.Error as error:
        if not is_connection_error(error):
            raise
        return str(error) or type(error).__name__
    return ""


def configure_library_logging() -> None:
    """Send only the libraries' errors to our log; the job queue itself logs how jobs end."""
    for name in ("procrastinate", "psycopg"):
        logger = redirect_library_log(name, logging.ERROR, "works_trouble")
        logger.handlers[0].addFilter(
            lambda record: not str(getattr(record, "action", "")).startswith("job_")
        )
