"""Fake of a cluster in one process: several AppContexts over the same stores and a job queue.

The fake keeps the promises of `bot.ports.JobQueue`: each job runs in one context at a time, and in
another once that one has stopped.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bot.context import AppContext
from bot.coordination.clock import now
from bot.coordination.pubsub import LocalPubSub
from bot.outbox import Outbox
from bot.ports import Job, ListUnfinished, RunJob
from council.errors import CouncilError
from council.ports import Gateway
from tests.bot.app_fakes import PLUGIN_PARTS, an_app
from tests.fakes.memory_outbox import MemoryOutbox

SHARED = ("store", "key_values", "budget", "pubsub", "runner")


@dataclass(eq=False)
class Server:
    """A block in which one process serves a queue."""

    queue: str
    do: RunJob
    unfinished: ListUnfinished
    at_once: int
    tasks: dict[Job, asyncio.Task[None]] = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        return len(self.tasks) < self.at_once


@dataclass(eq=False)
class Board:
    """The job queue that all processes share."""

    waiting: list[Job] = field(default_factory=list)
    failed: set[Job] = field(default_factory=set)
    servers: list[Server] = field(default_factory=list)
    begun: list[Job] = field(default_factory=list)  # each job, every time a process took it

    def is_queued(self, work: Job) -> bool:
        return work in self.waiting or any(work in server.tasks for server in self.servers)

    def begin(self, work: Job) -> None:
        self.failed.discard(work)
        if not self.is_queued(work):
            self.waiting.append(work)
            self.share_out()

    async def sweep(self, servers: Sequence[Server] | None = None) -> None:
        """Enqueue every unfinished job, except those that failed."""
        for server in [*(self.servers if servers is None else servers)]:
            for name in await server.unfinished():
                work = Job(server.queue, name)
                if work not in self.failed:
                    self.begin(work)

    def share_out(self) -> None:
        """Return each waiting job to the process that runs the fewest."""
        for work in [*self.waiting]:
            free = [one for one in self.servers if one.queue == work.queue and one.is_free]
            if free:
                server = min(free, key=lambda one: len(one.tasks))
                self.waiting.remove(work)
                self.begun.append(work)
                server.tasks[work] = asyncio.create_task(self._do(server, work))

    async def _do(self, server: Server, work: Job) -> None:
        try:
            await server.do(work.name)
        except asyncio.CancelledError:
            self.waiting.append(work)
            raise
        except CouncilError:
            self.failed.add(work)
        finally:
            del server.tasks[work]
            self.share_out()


@dataclass(eq=False)
class SharedWorks:
    """The job queue as one process sees it."""

    board: Board

    async def enqueue(self, work: Job) -> None:
        self.board.begin(work)

    async def is_queued(self, work: Job) -> bool:
        return self.board.is_queued(work)

    @asynccontextmanager
    async def serve_queue(
        self, queue: str, do: RunJob, unfinished: ListUnfinished, at_once: int
    ) -> AsyncIterator[None]:
        board, server = self.board, Server(queue, do, unfinished, at_once)
        board.servers.append(server)
        board.failed -= {work for work in board.failed if work.queue == queue}
        await board.sweep([server])
        board.share_out()
        try:
            yield
        finally:
            board.servers.remove(server)
            tasks = [*server.tasks.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def quickly(seconds: float) -> None:
    await asyncio.sleep(seconds / 1000)


def processes(count: int, gateway: Gateway | None = None) -> tuple[Board, Sequence[AppContext]]:
    """Return AppContexts over the same stores, like the processes of a cluster.

    They share one runner, as if each followed rounds through publish/subscribe.
    """
    board, rows, bus = Board(), MemoryOutbox(), LocalPubSub()
    first = an_app(gateway)
    first.pubsub, first.job_queue = bus, SharedWorks(board)
    first.outbox = Outbox(rows, now, quickly)
    return board, [first, *_others(first, rows, count - 1)]


def _others(first: AppContext, rows: MemoryOutbox, count: int) -> Iterator[AppContext]:
    assert isinstance(first.job_queue, SharedWorks)
    for _ in range(count):
        other = an_app(first.gateway)
        other.new_id = first.new_id
        for part in SHARED:
            setattr(other, part, getattr(first, part))
        for plugin in PLUGIN_PARTS:
            other.parts.add(first.parts.get(plugin.STORES))
        other.job_queue = SharedWorks(first.job_queue.board)
        other.outbox = Outbox(rows, now, quickly)
        yield other
