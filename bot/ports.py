"""Protocols between the parts of the bot: runner, job queue, publish/subscribe, claims, locks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from council.errors import CouncilError, StoreError
from council.places import LOCAL_CHATS, Place
from council.rounds import Round


class RoundStoppedError(CouncilError):
    """A round was stopped before its end."""


@dataclass(frozen=True, slots=True, eq=False)
class RoundSnapshot:
    """A round at one moment of its run; `draft` is the synthesis as far as it is written.

    `seconds` have passed since its models are ready; None before.
    """

    round_: Round
    draft: str = ""
    seconds: float | None = None


RoundSnapshots = AsyncIterator[RoundSnapshot]


class Runner(Protocol):
    """Runs rounds in the background, independently of who asked and who watches."""

    async def resume(self, chats: Sequence[str]) -> None:
        """Start every unfinished round of these chats, except those that somebody stopped.

        Raise CouncilError if another process serves one of these chats.
        """

    def start(self, round_: Round) -> None:
        """Start a stored round; do nothing if it is running."""

    def latest(self, round_id: str) -> RoundSnapshot | None:
        """Return the newest snapshot of a round that runs in this process, else None."""

    async def is_running(self, round_id: str) -> bool:
        """Return whether a round is running, in this process or another."""

    async def stop(self, round_id: str) -> None:
        """Stop a round; its results so far stay stored, and it can be started again."""

    def subscribe(self, round_id: str) -> AbstractAsyncContextManager[RoundSnapshots]:
        """Yield the snapshots of a running round, from the newest to the closed round.

        The iterator raises RoundStoppedError if the round is stopped, or the error it failed with.
        """


@dataclass(frozen=True, slots=True)
class Job:
    """A job that any process of a cluster may run: its queue, and its name in that queue.

    A queue is served by the processes that can run its jobs.
    """

    queue: str
    name: str


RunJob = Callable[[str], Awaitable[None]]
ListUnfinished = Callable[[], Awaitable[Iterable[str]]]


class JobQueue(Protocol):
    """Distributes jobs among the processes of a cluster; one process at a time runs a job.

    When a process dies or misses its heartbeats for some seconds, another takes over its jobs. A
    sweep finds jobs that rows imply and nobody runs.
    """

    async def enqueue(self, work: Job) -> None:
        """Enqueue a job for whichever process takes it first; do nothing if it is queued."""

    async def is_queued(self, work: Job) -> bool:
        """Return whether a job is running or waits for a process."""

    def serve_queue(
        self, queue: str, do: RunJob, unfinished: ListUnfinished, at_once: int
    ) -> AbstractAsyncContextManager[None]:
        """Run the jobs of a queue, `at_once` at a time, for the duration of the block.

        `do` runs the job with the given name to its end. If it raises a CouncilError, the job is
        over until somebody enqueues it again or a process starts; if it is cancelled, because the
        block ends or the job was taken from this process, another process runs it.
        `unfinished` returns the names of all jobs that should exist, for the sweep.
        """


class PubSub(Protocol):
    """Publishes short messages to every process; delivery is not guaranteed, rows are the truth."""

    async def publish(self, topic: str, text: str = "") -> None:
        """Publish a message; a text that is too long is dropped and only the topic published."""

    def subscription(self, topic: str) -> AbstractContextManager["asyncio.Queue[str]"]:
        """Yield a queue of the messages of a topic, including those of this process.

        "" is also put in whenever messages may have been missed.
        """


class RoundClaims(Protocol):
    """Exclusive claims among the processes of one machine."""

    def take(self, name: str) -> bool:
        """Claim a name; return False if another process has it."""

    def free(self, name: str) -> None:
        """Release a claim."""


class NamedLocks(Protocol):
    """Locks by name, and the rounds admitted under a name but not running yet."""

    def lock(self, *names: str) -> AbstractAsyncContextManager[None]:
        """Hold the named locks for the duration of the block, across all processes.

        Raise StoreError, which says to ask again, if that takes too long.
        """

    async def admit(self, name: str, round_id: str) -> None:
        """Count a round under a name until it is dismissed, or for a minute."""

    async def admitted(self, name: str) -> frozenset[str]:
        """Return the ids of the rounds that count under a name."""

    def dismiss(self, round_id: str) -> None:
        """Stop counting a round, if only this process counts it."""


@dataclass(frozen=True, slots=True)
class LocalModels:
    """The local models; `address` starts their server if need be, and returns address and key."""

    address: Callable[[], Awaitable[tuple[str, str]]]


# --- Names of job queues: one for each chat, or each connection of one, for each kind of job.

SHOW, BAKEOFFS = "show", "bakeoffs"  # deliver rounds where they were asked, run bake-offs
PAGE = "web"


class PlaceQueues:
    """Job queues of the places of one chat, which has several connections; a part."""

    chat: str

    def queue_for(self, place: Place) -> str:
        """Return the queue of the connection that serves a place."""
        raise NotImplementedError


def job_for(kind: str, place: Place, name: str, queues: Iterable[PlaceQueues] = ()) -> Job:
    """Return the job of a kind that reports to a place."""
    return Job(f"{kind} {queue_for(place, queues)}", name)


def queue_for(place: Place, queues: Iterable[PlaceQueues] = ()) -> str:
    """Return which processes report to a place: a chat's, one connection's or the page's."""
    if place.chat in LOCAL_CHATS:
        return PAGE
    return next((one.queue_for(place) for one in queues if one.chat == place.chat), place.chat)


async def is_probably_queued(job_queue: JobQueue, job: Job) -> bool:
    """Return whether a job is queued; True while the database cannot be reached."""
    try:
        return await job_queue.is_queued(job)
    except StoreError:
        return True
