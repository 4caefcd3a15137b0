"""What the parts of the bot need of each other, and of the other processes of a cluster."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from council.errors import CouncilError, StoreError
from council.places import HOUSE, Place
from council.rounds import Round

# --- What the parts of the bot need of each other, and of the other processes of a cluster.


class RoundStoppedError(CouncilError):
    """A round was stopped before its end."""


@dataclass(frozen=True, slots=True, eq=False)
class RoundSnapshot:
    """A round as it stands now; `draft` is the synthesis as far as it is written."""

    round_: Round
    draft: str = ""
    seconds: float = 0.0


RoundSnapshots = AsyncIterator[RoundSnapshot]


class Runner(Protocol):
    """Who carries rounds on, whoever watches and whether anybody does."""

    async def resume(self, chats: Sequence[str]) -> None:
        """Go on with every unfinished round that these chats asked for, and nobody stopped.

        Raises CouncilError where another process serves one of these chats.
        """
        ...

    def start(self, round_: Round) -> None:
        """Carry a stored round to its end; one that is being carried already is left alone."""
        ...

    def latest(self, round_id: str) -> RoundSnapshot | None:
        """Give the newest sight of a round that this process carries on now, None of any other."""
        ...

    async def is_running(self, round_id: str) -> bool:
        """Say whether a round is being carried on, in this process or another."""
        ...

    async def stop(self, round_id: str) -> None:
        """Stop spending on a round; what there is stays, and it can be started again."""
        ...

    def subscribe(self, round_id: str) -> AbstractAsyncContextManager[RoundSnapshots]:
        """Give every sight of a round that is being carried, from the newest one to its end.

        The sights end with the closed round. They raise RoundStoppedError when the round is
        stopped, and what stopped it where that was an error.
        """
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work that any process of a cluster may do: what it is of, and its name there.

    A queue is served by those processes that can do its work.
    """

    queue: str
    name: str


Do = Callable[[str], Awaitable[None]]
Unfinished = Callable[[], Awaitable[Iterable[str]]]


class JobQueue(Protocol):
    """Work shared out among the processes of a cluster: each piece is done by one at a time.

    What a process was doing when it died, or could not be heard of for some seconds, is done by
    another from then on, and work that rows tell of and nobody does is found by a sweep.
    """

    async def begin(self, work: Job) -> None:
        """Have it done by whichever process comes first; what is begun already is left alone."""
        ...

    async def is_queued(self, work: Job) -> bool:
        """Say whether it is being done, or waits for a process."""
        ...

    def serve_queue(
        self, queue: str, do: Do, unfinished: Unfinished, at_once: int
    ) -> AbstractAsyncContextManager[None]:
        """Do the work of a queue, so many pieces at once, as long as the block lasts.

        `do` is given a name and comes to the work's end. One that raises a CouncilError leaves the
        work until somebody begins it again or a process starts; one that is cancelled, as at the
        end of the block or when the work was taken from this process, leaves it to another.
        `unfinished` gives the names of all work there is to do, for the sweep.
        """
        ...


class PubSub(Protocol):
    """Short words that every process hears at once; those that are lost are made up for by rows."""

    async def publish(self, topic: str, text: str = "") -> None:
        """Say something; a text that is too long for it is left out, and only the topic said."""
        ...

    def subscription(self, topic: str) -> AbstractContextManager["asyncio.Queue[str]"]:
        """Give what is said of a topic from now on, by this process too.

        A "" is put in as well whenever something may have been missed.
        """
        ...


class RoundClaims(Protocol):
    """Who carries what, among the processes of one machine."""

    def take(self, name: str) -> bool:
        """Take what nobody else has; give False if another process has it."""
        ...

    def free(self, name: str) -> None:
        """Let go of it."""
        ...


class NamedLocks(Protocol):
    """Where questions come in, under the names of who asks and of where.

    A round that was let in counts under a name before anybody carries it.
    """

    def lock(self, *names: str) -> AbstractAsyncContextManager[None]:
        """Keep everybody else from these names as long as the block lasts, in every process.

        Raises StoreError, which says to ask again, where that takes too long.
        """
        ...

    async def admit(self, name: str, round_id: str) -> None:
        """Count a round under a name: until it is seen out, or for a minute."""
        ...

    async def admitted(self, name: str) -> frozenset[str]:
        """Give the rounds that count under a name."""
        ...

    def dismiss(self, round_id: str) -> None:
        """Count a round no more, where this process alone would carry it."""
        ...


# --- Which queue of a cluster a piece of work waits in: that of the chat it is told in.

SHOW, BAKEOFFS = "show", "bakeoffs"  # rounds shown where they were asked, bake-offs held
GATEWAY = "discord gateway"  # whose names are the shards, "K/N"
DISCORD, PAGE = "discord", "web"


def job_of(kind: str, place: Place, name: str, shards: int) -> Job:
    """Give the work that is told in a place; there are so many shards of Discord."""
    return Job(f"{kind} {queue_of_place(place, shards)}", name)


def queue_of_place(place: Place, shards: int) -> str:
    """Give who tells a place: a chat, one shard of Discord, or the page for all of the house."""
    if place.chat in HOUSE:
        return PAGE
    if place.chat == DISCORD:
        return f"{DISCORD} {shard_of(place.workspace, shards)}/{shards}"
    return place.chat


def shard_of(server: str, shards: int) -> int:
    """Give the shard that hears of a server; direct messages, which have none, go to the first."""
    return (int(server) >> 22) % shards if server.isdigit() else 0


async def seems_queued(works: JobQueue, work: Job) -> bool:
    """Say whether a work is begun; as long as the database is away, nobody knows that it is not."""
    try:
        return await works.is_queued(work)
    except StoreError:
        return True
