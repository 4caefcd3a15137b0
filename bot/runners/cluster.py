"""What whoever carries a round says of it to other processes; the round itself they read."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog

from bot.cluster.job_queue import ClusterJobQueue, JobStatus, JobTakenError
from bot.cluster.worker import Fault
from bot.coordination.clock import now
from bot.observability.tracing import Tracing, untraced
from bot.ports import Job, PubSub, RoundSnapshot, RoundSnapshots, RoundStoppedError
from bot.runners.local import (
    GRACE_SECONDS,
    MOST_ROUNDS,
    LocalRunner,
    Paying,
    Prepare,
    RoundElsewhereError,
    unpaid,
)
from council import errors
from council.answers import Call, Reply
from council.budget import GatewayWrapper
from council.errors import CouncilError, RoundNotFoundError, StoreError
from council.ports import Gateway, RoundQuery, Store
from council.rounds import Round
from storage.transactions import retried_and_shielded

# --- What whoever carries a round says of it to other processes; the round itself they read.

MOST_LETTERS = 8_000  # of a draft; how a longer one goes on is not told


class RoundFailedError(CouncilError):
    """A round came to no end in another process."""


@dataclass(frozen=True, slots=True)
class RoundEvent:
    """How many parts a round has, for how long it is carried, and how far its end is written.

    Without a draft, that is as it was before.
    """

    parts: int
    seconds: float
    draft: str | None

    def written(self) -> str:
        """Give it as it goes over the bus."""
        return json.dumps({"parts": self.parts, "seconds": self.seconds, "draft": self.draft})


def word_of(sight: RoundSnapshot) -> RoundEvent:
    """Give what is to be said of a sight."""
    draft = sight.draft if len(sight.draft) <= MOST_LETTERS else None
    return RoundEvent(parts_of(sight.round_), round(sight.seconds, 3), draft)


def read(text: str) -> RoundEvent | None:
    """Give the word that was said; None for what tells whoever hears it to look for himself."""
    try:
        said = json.loads(text)
        draft = said.get("draft")
        return RoundEvent(
            int(said["parts"]), float(said["seconds"]), None if draft is None else str(draft)
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def parts_of(round_: Round) -> int:
    """Count what a round has come to."""
    many = (round_.answers, round_.absences, round_.ballots, round_.spoiled)
    single = (round_.draw, round_.tally, round_.synthesis, round_.closing)
    return sum(map(len, many)) + sum(part is not None for part in single)


def fault_of(fault: Fault | None, round_id: str) -> CouncilError:
    """Give what kept a round from its end, as the error it was where that is known."""
    if not fault:
        return RoundStoppedError(f"Round {round_id} was stopped before its end.")
    kind = getattr(errors, fault.get("kind") or "", None)
    if isinstance(kind, type) and issubclass(kind, CouncilError):
        return kind(fault.get("why", ""))
    return RoundFailedError(fault.get("why", ""))


# --- A gateway that is open only as long as a round is this process' own to carry.


class FencedGateway(GatewayWrapper):
    """Makes calls as long as `may` says so; after that nothing more is spent through it."""

    def __init__(self, gateway: Gateway, may: Callable[[], bool]) -> None:
        self.gateway = gateway
        self._may = may
        self._under_way: set[asyncio.Task[Any]] = set()

    async def complete(self, call: Call) -> Reply:
        """Give the reply; where the round is not ours any more, wait to be cancelled."""
        task = asyncio.current_task()
        if task is None or not self._may():
            await asyncio.Event().wait()
            raise asyncio.CancelledError
        self._under_way.add(task)
        try:
            return await self.gateway.complete(call)
        finally:
            self._under_way.discard(task)

    def cut(self) -> None:
        """Cancel every call under way, as one that still waits for its turn."""
        for task in [*self._under_way]:
            task.cancel()


# --- A round watched from any process: what is said of it on the bus, and the rows behind that.

LOOK_SECONDS = 5.0  # without a word for so long, whoever watches looks for himself
GATHER_SECONDS = 0.2  # what is said together is read together: a look reads the whole round


class RoundWatch:
    """Watches one round; `standing` says how its work stands, `seen` what is seen of it here."""

    def __init__(
        self,
        round_id: str,
        store: Store,
        standing: Callable[[], Awaitable[JobStatus]],
        seen: Callable[[str], RoundSnapshot | None],
    ) -> None:
        self._round_id = round_id
        self._store = store
        self._standing = standing
        self._seen = seen

    async def sights(
        self, heard: asyncio.Queue[str], look_seconds: float, *, is_started: bool
    ) -> RoundSnapshots:
        """Give the newest sight, and every one after it while the round is carried.

        One that was started here a moment ago is carried, however it ended meanwhile.
        """
        standing = await self._standing()
        sight = await self._sight(standing)
        yield sight
        is_carried = standing.is_queued or is_started
        while is_carried and not sight.round_.closing:
            if not standing.is_queued:
                raise fault_of(standing.fault, self._round_id)
            word = read(await _next(heard, look_seconds))
            try:
                standing = standing if word else await self._standing()
                newer = await self._newer(sight, standing, word)
            except StoreError:  # the database is away for a while: what it says comes later
                continue
            if newer is not sight:
                sight = newer
                yield sight

    async def _sight(self, standing: JobStatus) -> RoundSnapshot:
        own = self._seen(self._round_id) if standing.is_queued else None
        return own or RoundSnapshot(await self._store.load(self._round_id), "", standing.seconds)

    async def _newer(
        self, before: RoundSnapshot, standing: JobStatus, word: RoundEvent | None
    ) -> RoundSnapshot:
        """Give what is seen after a word, or after a look; the same sight where nothing changed."""
        own = self._seen(self._round_id) if standing.is_queued else None
        if own:
            return own
        draft = word.draft if word and word.draft is not None else before.draft
        round_ = before.round_
        if word is None or word.parts > parts_of(round_):
            round_ = await self._store.load(self._round_id)
        if parts_of(round_) == parts_of(before.round_) and draft == before.draft:
            return before
        return RoundSnapshot(round_, draft, word.seconds if word else standing.seconds)


async def _next(heard: asyncio.Queue[str], seconds: float) -> str:
    """Give the newest of what was said; nothing where one has to look, as after a silence."""
    try:
        async with asyncio.timeout(seconds):
            said = [await heard.get()]
    except TimeoutError:
        return ""
    await asyncio.sleep(GATHER_SECONDS)
    while not heard.empty():
        said.append(heard.get_nowait())
    return said[-1] if all(said) else ""


# --- The runner of many machines: a round is a piece of work that whichever process takes carries

QUEUE = "rounds"
DRAFT_SECONDS = 0.3  # between two words of how far the synthesis is
PAUSE_SECONDS = 1.0
TRIES = 60  # to begin a round while the database is away; then it is left to the sweep
# Whoever hears a question begins its round; one that is as old as this has been forgotten.
UNBEGUN_SECONDS = 15


def work_of(round_id: str) -> Job:
    """Give the work of carrying a round."""
    return Job(QUEUE, round_id)


def topic_of(round_id: str) -> str:
    """Give what is said of a round on the bus."""
    return f"round {round_id}"


class ClusterRunner:
    """Carries rounds with all other processes of a cluster, as long as `carrying` lasts.

    `paying` and `on_closed` are asked and told by whichever process carries the round.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a round needs, and the clocks for tests
        self,
        store: Store,
        gateway: Gateway,
        prepare: Prepare,
        works: ClusterJobQueue,
        bus: PubSub,
        paying: Paying = unpaid,
        clock: Callable[[], float] = time.monotonic,
        on_closed: Callable[[Round], None] = lambda _: None,
        look_seconds: float = LOOK_SECONDS,
        tracing: Tracing = untraced,
        now: Callable[[], datetime] = now,
    ) -> None:
        self._store = store
        self._works, self._bus = works, bus
        self._paying = paying
        self._clock = clock
        self._look_seconds = look_seconds
        self._now = now
        self._own = LocalRunner(
            *(store, gateway, prepare),
            paying=self._fenced,
            clock=clock,
            on_closed=on_closed,
            tracing=tracing,
        )
        self.latest = self._own.latest
        self._chats: set[str] = set()
        self._beginning: dict[str, asyncio.Task[None]] = {}
        self._fences: dict[str, FencedGateway] = {}

    @asynccontextmanager
    async def carrying(self) -> AsyncIterator[None]:
        """Take rounds as long as the block lasts; then let calls end, and give the rest back."""
        self._works.when_lost(self._cut)
        async with self._works.serve_queue(
            *(QUEUE, self._carry, self._unfinished, MOST_ROUNDS),
            ended=self._look_again,
            grace_seconds=GRACE_SECONDS + PAUSE_SECONDS,
        ):
            try:
                yield
            finally:
                await self.close()

    async def resume(self, chats: Sequence[str]) -> None:
        """Have every unfinished round that these chats asked for, and nobody stopped, go on.

        From now on this process looks after them: what nobody carries is begun again.
        """
        self._chats |= {*chats}
        await self._works.try_again(QUEUE)
        await self._works.fill(QUEUE)

    def start(self, round_: Round) -> None:
        """Have a stored round carried to its end; one that is being carried is left alone."""
        if round_.id not in self._beginning:
            beginning = self._beginning[round_.id] = asyncio.create_task(self._begin(round_.id))
            beginning.add_done_callback(lambda _: self._beginning.pop(round_.id, None))

    async def is_running(self, round_id: str) -> bool:
        """Say whether a round is being carried on by any process, or about to be."""
        return round_id in self._beginning or await self._works.is_queued(work_of(round_id))

    async def stop(self, round_id: str) -> None:
        """Have whoever carries a round stop spending on it; it can be started again."""
        await self._begun(round_id)
        with self._bus.subscription(topic_of(round_id)) as heard:
            stopped = await self._works.stop(work_of(round_id))
            await self._look_again(round_id)
            while stopped and not await self._works.have_ended(stopped):
                with suppress(TimeoutError):
                    async with asyncio.timeout(PAUSE_SECONDS):
                        await heard.get()

    async def close(self) -> None:
        """Take no more rounds, let calls under way end, for a while, and stop the rest here."""
        self._works.leave(QUEUE)
        for beginning in [*self._beginning.values()]:
            beginning.cancel()
        await self._own.close()

    @asynccontextmanager
    async def subscribe(self, round_id: str) -> AsyncIterator[RoundSnapshots]:
        """Give every sight of a round that any process carries, from the newest to its end."""
        is_started = round_id in self._beginning
        standing = partial(self._works.standing, work_of(round_id))
        with self._bus.subscription(topic_of(round_id)) as heard:
            await self._begun(round_id)
            watch = RoundWatch(round_id, self._store, standing, self.latest)
            yield watch.sights(heard, self._look_seconds, is_started=is_started)

    async def _begin(self, round_id: str) -> None:
        why = ""
        for _ in range(TRIES):
            try:
                await self._works.begin(work_of(round_id))
            except StoreError as error:
                why = str(error)
            else:
                return
            await asyncio.sleep(PAUSE_SECONDS)
        structlog.get_logger().error("round_not_begun", round_id=round_id, why=why)

    async def _begun(self, round_id: str) -> None:
        """Wait until a round that is about to be begun here is."""
        if beginning := self._beginning.get(round_id):
            await asyncio.wait([beginning])

    async def _carry(self, round_id: str) -> None:
        """Carry a round to its end, or as far as it comes, and tell how it goes."""
        round_ = await self._to_carry(round_id)
        if round_ is None:
            return
        await self._own.stop(round_id)  # where this process had it before, and lost it
        self._own.start(round_)
        try:
            async with self._own.subscribe(round_id) as sights:
                await self._tell(round_id, sights)
        except RoundStoppedError:
            # Nobody stopped this work: the process is at its end, and another goes on.
            raise asyncio.CancelledError from None
        finally:
            await self._let_end(round_id)

    async def _to_carry(self, round_id: str) -> Round | None:
        """Give a round that is to be gone on with; None where there is nothing to do any more."""
        try:
            round_ = await self._store.load(round_id)
            line = await self._store.line(round_id)
        except RoundNotFoundError:  # deleted with its workspace
            return None
        # Whoever holds a bake-off decides about its rounds.
        is_stopped = line.paused and not round_.bakeoff
        return None if round_.closing or is_stopped else round_

    async def _tell(self, round_id: str, sights: RoundSnapshots) -> None:
        """Tell each change of a round, and now and then how far the synthesis is."""
        parts, told = -1, 0.0
        async for sight in sights:
            now, count = self._clock(), parts_of(sight.round_)
            if count != parts or now - told >= DRAFT_SECONDS:
                parts, told = count, now
                await self._bus.publish(topic_of(round_id), word_of(sight).written())

    @retried_and_shielded
    async def _let_end(self, round_id: str) -> None:
        """Stop a round where it stands, or wait for the accounts of one that is closed."""
        await self._own.stop(round_id)

    async def _look_again(self, round_id: str) -> None:
        """Have everybody who watches a round look how it stands."""
        await self._bus.publish(topic_of(round_id))

    async def _unfinished(self) -> Iterable[str]:
        if not self._chats:
            return ()
        old_enough = self._now() - timedelta(seconds=UNBEGUN_SECONDS)
        wanted = RoundQuery(
            chats=tuple(sorted(self._chats)), unfinished=True, bakeoff="", before=old_enough
        )
        return [line.id for line in await self._store.recent(wanted=wanted)]

    @asynccontextmanager
    async def _fenced(self, round_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
        """Have nothing spent on a round that may be another's."""
        may = partial(self._works.has, work_of(round_.id))
        fence = self._fences[round_.id] = FencedGateway(gateway, may)
        try:
            async with self._paying(round_, fence) as paid:
                yield paid
        finally:
            del self._fences[round_.id]

    def _cut(self, work: Job) -> None:
        """Do nothing any more for a round that was lost: it goes on elsewhere."""
        if work.queue == QUEUE:
            self._own.cut(work.name)
            if fence := self._fences.get(work.name):
                fence.cut()


# --- Rounds of a process that is no part of the cluster, such as one command of a person.


def apart(works: ClusterJobQueue, paying: Paying) -> Paying:
    """Have a process carry what the cluster does not, and the cluster not take it meanwhile.

    Whoever goes on with a round of the cluster's hears RoundElsewhereError; nothing is spent.
    """

    @asynccontextmanager
    async def paid_apart(round_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(works.lock(work_of(round_.id)))
            except JobTakenError:
                raise RoundElsewhereError(
                    f"Round {round_.id} is being carried on by another process: it can be seen "
                    "on the page and where it was asked, and stopped there."
                ) from None
            yield await stack.enter_async_context(paying(round_, gateway))

    return paid_apart
