"""Runner of a cluster: each round is a job of one process; the others get events and read rows."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
from pydantic import TypeAdapter, ValidationError

from bot.cluster.job_queue import ClusterJobQueue, JobStatus, JobTakenError
from bot.cluster.worker import JobFault
from bot.coordination.clock import now
from bot.observability.tracing import Tracing
from bot.ports import Job, PubSub, RoundSnapshot, RoundSnapshots, RoundStoppedError
from bot.runners.local import (
    GRACE_SECONDS,
    MAX_ROUNDS,
    GatewayFactory,
    LocalRunner,
    OnClosed,
    Prepare,
    RoundElsewhereError,
)
from council import errors
from council.answers import Call, Reply
from council.budget import GatewayWrapper
from council.errors import CouncilError, RoundNotFoundError, StoreError
from council.ports import Gateway, RoundQuery, Store
from council.rounds import Round
from storage.transactions import retried_and_shielded

QUEUE = "rounds"
DRAFT_SECONDS = 0.3  # between two drafts of a synthesis
RETRY_SECONDS = 1.0
MAX_TRIES = 60  # to enqueue a round while the database is away; then the sweep does it
# The process that gets a question enqueues its round; an older round was forgotten by a crash.
UNQUEUED_SECONDS = 15
POLL_SECONDS = 5.0  # without an event for that long, a subscriber reads the store
BATCH_SECONDS = 0.2  # events that come together cause one read of the whole round
MAX_DRAFT_CHARACTERS = 8_000  # a longer draft is not sent any more


class RoundFailedError(CouncilError):
    """A round failed in another process."""


class ClusterRunner:
    """Runs rounds with all processes of a cluster; the one that runs a round also pays for it."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a round needs, and the clocks for tests
        self,
        store: Store,
        gateway: Gateway,
        prepare: Prepare,
        job_queue: ClusterJobQueue,
        pubsub: PubSub,
        paying: GatewayFactory = lambda _, gateway: nullcontext(gateway),
        clock: Callable[[], float] = time.monotonic,
        on_closed: OnClosed | None = None,
        poll_seconds: float = POLL_SECONDS,
        tracing: Tracing | None = None,
        now: Callable[[], datetime] = now,
    ) -> None:
        self._store = store
        self._job_queue, self._pubsub = job_queue, pubsub
        self._paying = paying
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._now = now
        self._local = LocalRunner(
            store=store,
            gateway=gateway,
            prepare=prepare,
            paying=self._fenced,
            clock=clock,
            on_closed=on_closed,
            tracing=tracing,
            waits_for_room=True,
        )
        self.latest = self._local.latest
        self._chats: set[str] = set()
        self._enqueuing: dict[str, asyncio.Task[None]] = {}
        self._fences: dict[str, FencedGateway] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Take rounds while the block lasts; then let calls end and requeue the rest."""
        self._job_queue.on_job_lost(self._on_job_lost)
        async with self._job_queue.serve_queue(
            QUEUE,
            do=self._run,
            unfinished=self._unfinished,
            at_once=MAX_ROUNDS,
            on_ended=self._notify,
            grace_seconds=GRACE_SECONDS + RETRY_SECONDS,
        ):
            try:
                yield
            finally:
                await self.close()

    async def resume(self, chats: Sequence[str]) -> None:
        """Enqueue the unfinished rounds of these chats, now and at each of this process' sweeps."""
        self._chats |= {*chats}
        await self._job_queue.forget_failures(QUEUE)
        await self._job_queue.fill(QUEUE)

    def start(self, round_: Round) -> None:
        """Enqueue a stored round, unless it is queued or running already."""
        if round_.id not in self._enqueuing:
            task = self._enqueuing[round_.id] = asyncio.create_task(self._enqueue(round_.id))
            task.add_done_callback(lambda _: self._enqueuing.pop(round_.id, None))

    async def is_running(self, round_id: str) -> bool:
        """Return whether a round runs in any process, or is about to."""
        return round_id in self._enqueuing or await self._job_queue.is_queued(job_of(round_id))

    async def stop(self, round_id: str) -> None:
        """Stop a round in whichever process runs it; it can be started again."""
        await self._enqueued(round_id)
        with self._pubsub.subscription(topic_of(round_id)) as messages:
            stopped = await self._job_queue.stop(job_of(round_id))
            await self._notify(round_id)
            while stopped and not await self._job_queue.are_stopped(stopped):
                with suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_SECONDS):
                        await messages.get()

    async def close(self) -> None:
        """Take no more rounds, give running calls a grace period, and stop the rest here."""
        self._job_queue.stop_serving(QUEUE)
        for task in [*self._enqueuing.values()]:
            task.cancel()
        await self._local.close()

    @asynccontextmanager
    async def subscribe(self, round_id: str) -> AsyncIterator[RoundSnapshots]:
        """Yield the snapshots of a round that any process runs, from the latest to its end."""
        was_started = round_id in self._enqueuing
        with self._pubsub.subscription(topic_of(round_id)) as messages:
            await self._enqueued(round_id)
            yield self._snapshots(round_id, messages, was_started=was_started)

    async def _snapshots(
        self, round_id: str, messages: asyncio.Queue[str], *, was_started: bool
    ) -> RoundSnapshots:
        """Yield the snapshots; if it `was_started` here just now, a missing job has ended."""
        status = await self._job_queue.status(job_of(round_id))
        local = self.latest(round_id) if status.is_queued else None
        snapshot = local or RoundSnapshot(await self._store.load(round_id), "", status.seconds)
        yield snapshot
        is_running = status.is_queued or was_started
        while is_running and not snapshot.round_.closing:
            if not status.is_queued:
                raise error_of(status.fault, round_id)
            event = decode_event(await _next_message(messages, self._poll_seconds))
            try:
                status = status if event else await self._job_queue.status(job_of(round_id))
                newer = await self._newer(snapshot, status, event)
            except StoreError:  # the database is away: the next event or poll tries again
                continue
            if newer is not snapshot:
                snapshot = newer
                yield snapshot

    async def _newer(
        self, before: RoundSnapshot, status: JobStatus, event: "RoundEvent | None"
    ) -> RoundSnapshot:
        """Return the snapshot after an event or a poll; `before` itself if nothing changed."""
        round_ = before.round_
        if status.is_queued and (local := self.latest(round_.id)):
            return before if _show_the_same(before, local) else local
        draft = event.draft if event and event.draft is not None else before.draft
        if event is None or event.parts > count_parts(round_):
            round_ = await self._store.load(round_.id)
        if count_parts(round_) == count_parts(before.round_):
            round_ = before.round_
        after = RoundSnapshot(round_, draft, event.seconds if event else status.seconds)
        return before if _show_the_same(before, after) else after

    async def _enqueue(self, round_id: str) -> None:
        why = ""
        for _ in range(MAX_TRIES):
            try:
                await self._job_queue.enqueue(job_of(round_id))
            except StoreError as error:
                why = str(error)
            else:
                return
            await asyncio.sleep(RETRY_SECONDS)
        structlog.get_logger().error("round_not_begun", round_id=round_id, why=why)

    async def _enqueued(self, round_id: str) -> None:
        """Wait until `start` has enqueued a round."""
        if task := self._enqueuing.get(round_id):
            await asyncio.wait([task])

    async def _run(self, round_id: str) -> None:
        """Run the job of a round, and publish its events."""
        round_ = await self._round_to_run(round_id)
        if round_ is None:
            return
        await self._local.stop(round_id)  # if this process ran it before, and lost it
        self._local.start(round_)
        try:
            async with self._local.subscribe(round_id) as snapshots:
                await self._publish_events(round_id, snapshots)
        except RoundStoppedError:
            # Nobody stopped the job: this process is closing, and another continues the round.
            raise asyncio.CancelledError from None
        finally:
            # Stop it, or wait until a closed one has settled its accounts.
            await retried_and_shielded(self._local.stop)(round_id)

    async def _round_to_run(self, round_id: str) -> Round | None:
        """Load a round; return None if there is nothing left to run."""
        try:
            round_ = await self._store.load(round_id)
            line = await self._store.load_summary(round_id)
        except RoundNotFoundError:  # deleted with its workspace
            return None
        # The runner of a bake-off decides about its rounds.
        is_stopped = line.paused and not round_.bakeoff
        return None if round_.closing or is_stopped else round_

    async def _publish_events(self, round_id: str, snapshots: RoundSnapshots) -> None:
        """Publish each change of a round, and a draft every `DRAFT_SECONDS`."""
        last_parts, published_at = (-1, False), 0.0
        async for snapshot in snapshots:
            moment = self._clock()
            parts = count_parts(snapshot.round_), snapshot.seconds is not None
            if parts != last_parts or moment - published_at >= DRAFT_SECONDS:
                last_parts, published_at = parts, moment
                await self._pubsub.publish(topic_of(round_id), encode_event(snapshot))

    async def _notify(self, round_id: str) -> None:
        await self._pubsub.publish(topic_of(round_id))  # subscribers then read its status

    async def _unfinished(self) -> Iterable[str]:
        if not self._chats:
            return ()
        before = self._now() - timedelta(seconds=UNQUEUED_SECONDS)
        wanted = RoundQuery(
            chats=tuple(sorted(self._chats)), unfinished=True, bakeoff="", before=before
        )
        return [line.id for line in await self._store.list_summaries(wanted=wanted)]

    @asynccontextmanager
    async def _fenced(self, round_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
        """Yield a gateway that spends nothing once another process may run the round."""
        is_ours = partial(self._job_queue.is_running_here, job_of(round_.id))
        fence = self._fences[round_.id] = FencedGateway(gateway, is_ours)
        try:
            async with self._paying(round_, fence) as paid:
                yield paid
        finally:
            del self._fences[round_.id]

    def _on_job_lost(self, work: Job) -> None:
        """Cancel a round that another process runs now."""
        if work.queue == QUEUE:
            self._local.cancel(work.name)
            if fence := self._fences.get(work.name):
                fence.cancel_calls()


def locked_in_cluster(job_queue: ClusterJobQueue, paying: GatewayFactory) -> GatewayFactory:
    """Wrap `paying` for a process outside the cluster, such as `council ask`.

    While it pays for a round, no process of the cluster takes it. For a round that the cluster
    runs, it raises RoundElsewhereError and nothing is spent.
    """

    @asynccontextmanager
    async def paying_under_lock(round_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(job_queue.lock(job_of(round_.id)))
            except JobTakenError:
                raise RoundElsewhereError(
                    f"Round {round_.id} is running in another process. Follow or stop it on the "
                    "page, or where it was asked."
                ) from None
            yield await stack.enter_async_context(paying(round_, gateway))

    return paying_under_lock


job_of = partial(Job, QUEUE)  # of a round's id


def topic_of(round_id: str) -> str:
    """Return the topic of a round's events."""
    return f"round {round_id}"


class FencedGateway(GatewayWrapper):
    """A gateway that calls models only while `is_ours` says so."""

    def __init__(self, gateway: Gateway, is_ours: Callable[[], bool]) -> None:
        self.gateway = gateway
        self._is_ours = is_ours
        self._calls: set[asyncio.Task[Any]] = set()

    async def complete(self, call: Call) -> Reply:
        """Return the reply; if the round is not ours any more, wait to be cancelled."""
        task = asyncio.current_task()
        if task is None or not self._is_ours():
            await asyncio.Event().wait()
            raise asyncio.CancelledError
        self._calls.add(task)
        try:
            return await self.gateway.complete(call)
        finally:
            self._calls.discard(task)

    def cancel_calls(self) -> None:
        """Cancel every running call, even one that still waits for the rate limiter."""
        for task in [*self._calls]:
            task.cancel()


def _show_the_same(one: RoundSnapshot, other: RoundSnapshot) -> bool:
    """Return whether two snapshots differ in nothing but the time that has passed."""
    has_begun = one.seconds is not None, other.seconds is not None
    return one.round_ is other.round_ and one.draft == other.draft and has_begun[0] == has_begun[1]


async def _next_message(messages: asyncio.Queue[str], timeout_seconds: float) -> str:
    """Return the latest message; "" if the subscriber must poll, as after a timeout."""
    try:
        async with asyncio.timeout(timeout_seconds):
            batch = [await messages.get()]
    except TimeoutError:
        return ""
    await asyncio.sleep(BATCH_SECONDS)
    while not messages.empty():
        batch.append(messages.get_nowait())
    return batch[-1] if all(batch) else ""


@dataclass(frozen=True, slots=True)
class RoundEvent:
    """The parts and seconds of a round; a draft of None means that it is as before."""

    parts: int
    seconds: float | None
    draft: str | None = None


EVENT = TypeAdapter(RoundEvent)


def encode_event(snapshot: RoundSnapshot) -> str:
    """Return a snapshot's event as a message; a draft that is too long is left out."""
    draft = snapshot.draft if len(snapshot.draft) <= MAX_DRAFT_CHARACTERS else None
    seconds = None if snapshot.seconds is None else round(snapshot.seconds, 3)
    event = RoundEvent(count_parts(snapshot.round_), seconds, draft)
    return json.dumps(asdict(event))


def decode_event(text: str) -> RoundEvent | None:
    """Parse a message; return None for "" and for what is no event."""
    try:
        return EVENT.validate_json(text)
    except ValidationError:
        return None


def count_parts(round_: Round) -> int:
    """Return how many parts a round has; it grows with each change."""
    votes = (round_.ballots, round_.spoiled)
    many = (round_.answers, round_.absences, round_.late, round_.exchanges, *votes)
    single = (round_.draw, round_.tally, round_.synthesis, round_.closing)
    return sum(map(len, many)) + sum(part is not None for part in single)


def error_of(fault: JobFault | None, round_id: str) -> CouncilError:
    """Return the error that a job failed with, as its own class if that is known."""
    if not fault:
        return RoundStoppedError(f"Round {round_id} was stopped before it finished.")
    kind = getattr(errors, fault.get("kind") or "", None)
    if isinstance(kind, type) and issubclass(kind, CouncilError):
        return kind(fault.get("why", ""))
    return RoundFailedError(fault.get("why", ""))
