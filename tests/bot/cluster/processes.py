"""Processes of a cluster in one test, on a real server: each with works and a bus of its own.

A process that is killed says nothing any more; one that is cut off goes on and reaches nobody.
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

PATIENCE_SECONDS = 10.0
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
    """A process' own clock, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Cable(PsycopgConnector):
    """A way to the server that can be cut."""

    is_cut = False

    @property
    def pool(self) -> AsyncConnectionPool:
        if self.is_cut:
            raise ConnectorException from psycopg.OperationalError("the cable is cut")
        return super().pool


@dataclass(slots=True)
class Process:
    """One process of a cluster."""

    job_queue: ClusterJobQueue
    pubsub: PostgresPubSub
    cable: Cable
    monitor: ConnectionMonitor

    def kill(self) -> None:
        """Have it reach nobody any more, and do nothing."""
        self.cable.is_cut = True
        self.job_queue.worker.abandon_all()


@asynccontextmanager
async def a_process(
    url: str, timings: ClusterTimings = QUICK, clock: Callable[[], float] = awake
) -> AsyncIterator[Process]:
    """Start a process on a server."""
    configure_library_logging()
    monitor = ConnectionMonitor(clock)
    cable = Cable(
        conninfo=build_conninfo(url, "council works"),
        min_size=1,
        max_size=4,
        timeout=2.0,
        reconnect_timeout=0.2,
    )
    bus = PostgresPubSub(build_conninfo(url, "council bus"), monitor, retry_seconds=0.05)
    works = ClusterJobQueue(cable, monitor, timings, clock)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(cable.close_async)
        await cable.open_async()
        await stack.enter_async_context(bus.running())
        await stack.enter_async_context(works.running())
        yield Process(works, bus, cable, monitor)


@dataclass(slots=True)
class Doer:
    """Does work by noting it; each piece lasts until all may end, the next one in an error."""

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
async def serving(process: Process, *, at_once: int = 5, queue: str = Q) -> AsyncIterator[Doer]:
    """Have a process serve a queue."""
    doer = Doer()
    async with process.job_queue.serve_queue(
        queue, doer.do, doer.names, at_once, on_ended=doer.ended.put
    ):
        yield doer


async def soon(coming: asyncio.Queue[str]) -> str:
    """Give what comes next, which must come soon."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await coming.get()


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds that nobody tells of."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def until_over(process: Process, work: Job) -> None:
    """Wait until a piece of work is neither done nor waiting any more."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await process.job_queue.is_queued(work):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
