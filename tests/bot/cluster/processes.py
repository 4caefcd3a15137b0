"""Simulated processes of a cluster on a real server, each with a job queue and publish/subscribe.

A killed process is silent; a process that is cut off goes on and reaches nobody.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException
from psycopg_pool import AsyncConnectionPool

from bot.cluster.connection import ClusterTimings, ConnectionMonitor, build_conninfo
from bot.cluster.connection import clock as awake
from bot.cluster.job_queue import ClusterJobQueue
from bot.cluster.pubsub import PostgresPubSub
from bot.cluster.setup import configure_library_logging
from bot.ports import Job

TIMEOUT_SECONDS = 30.0
QUICK = ClusterTimings(
    heartbeat_seconds=0.1,
    stalled_seconds=1.0,
    sweep_seconds=0.1,
    settle_seconds=0.0,
    gap_seconds=10.0,
    ownership_check_seconds=0.1,
    poll_seconds=0.2,
    max_takeovers=3,
)
Q = "rounds"


class Clock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class CuttableConnector(PsycopgConnector):
    """A connector to the server that can be cut."""

    is_cut = False

    @property
    def pool(self) -> AsyncConnectionPool:
        if self.is_cut:
            raise ConnectorException from psycopg.OperationalError("the connection is cut")
        return super().pool


@dataclass(slots=True)
class Process:
    """One process of a cluster."""

    job_queue: ClusterJobQueue
    pubsub: PostgresPubSub
    connector: CuttableConnector
    monitor: ConnectionMonitor

    def kill(self) -> None:
        """Cut the connection and abandon every job."""
        self.connector.is_cut = True
        self.job_queue.worker.abandon_all(0)


@asynccontextmanager
async def start_process(
    url: str, timings: ClusterTimings = QUICK, clock: Callable[[], float] = awake
) -> AsyncIterator[Process]:
    """Start a process on a server."""
    configure_library_logging()
    monitor = ConnectionMonitor(clock)
    connector = CuttableConnector(
        conninfo=build_conninfo(url, "council works"),
        min_size=1,
        max_size=4,
        timeout=2.0,
        reconnect_timeout=0.2,
    )
    pubsub = PostgresPubSub(build_conninfo(url, "council bus"), monitor, retry_seconds=0.05)
    job_queue = ClusterJobQueue(connector, monitor, timings, clock)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(connector.close_async)
        await connector.open_async()
        await stack.enter_async_context(pubsub.running())
        await stack.enter_async_context(job_queue.running())
        yield Process(job_queue, pubsub, connector, monitor)


@dataclass(slots=True)
class RecordingJobs:
    """Records the jobs it runs; each waits for `may_end`, and `error` fails the next one."""

    name: str = ""
    error: Exception | None = None
    begun: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    ended: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    done: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    unfinished: list[str] = field(default_factory=list)

    async def do(self, name: str) -> None:
        self.begun.put_nowait(name)
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
        error, self.error = self.error, None
        if error:
            raise error
        self.done.append(name)

    async def names(self) -> list[str]:
        return self.unfinished


@asynccontextmanager
async def serve(
    process: Process, *, at_once: int = 5, queue: str = Q
) -> AsyncIterator[RecordingJobs]:
    """Serve a queue with a process; yield the record of its jobs."""
    recorder = RecordingJobs()
    async with process.job_queue.serve_queue(
        queue, recorder.do, recorder.names, at_once, on_ended=recorder.ended.put
    ):
        yield recorder


async def next_item(coming: asyncio.Queue[str]) -> str:
    """Return the next item, within the timeout."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        return await coming.get()


async def wait_until(holds: Callable[[], bool]) -> None:
    """Poll until a condition holds."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def wait_until_ended(process: Process, work: Job) -> None:
    """Wait until a job is neither queued nor running."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while await process.job_queue.is_queued(work):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
