"""Runner of one machine: each round is a task of this process."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import structlog

from bot.observability import logs, metrics
from bot.observability.tracing import Trace, Tracing, no_tracing
from bot.ports import RoundClaims, RoundSnapshot, RoundSnapshots, RoundStoppedError
from council.answers import Call, Reply
from council.budget import GatewayWrapper
from council.errors import CouncilError
from council.panel import Panel
from council.pipeline.run import run_round
from council.pipeline.stages import RoundServices
from council.ports import Gateway, RoundQuery, Store
from council.prompts.synthesis import visible_draft
from council.rounds import Round, sort_by_panel

Prepare = Callable[[Panel], Awaitable[None]]
GatewayFactory = Callable[[Round, Gateway], AbstractAsyncContextManager[Gateway]]

MAX_ROUNDS = 50  # at once; others wait
# How long running calls may take when the program is stopped; most hosts kill it after ten.
GRACE_SECONDS = 6.0
DRAFT_SECONDS = 0.1  # between two drafts of a synthesis
SAVE_SECONDS = 0.05  # for a reply to reach the store
SERVED = (
    "Another process serves the same chats with this database: stop it, or give this one a "
    "COUNCIL_DATA_DIR of its own."
)


class RoundElsewhereError(CouncilError):
    """Another process runs the round."""


class FileClaims:
    """Named locks of the processes that share a lock file; open it only once per process."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self, name: str) -> bool:
        """Lock a name; return False if another process has it."""
        # Windows has no fcntl, and must still be able to import this package.
        import fcntl

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(name))
        except OSError:
            return False
        return True

    def take_all(self) -> bool:
        """Lock every name; return False if another process has any of them."""
        import fcntl

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def free(self, name: str) -> None:
        """Unlock a name."""
        import fcntl

        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _offset(name))

    def close(self) -> None:
        """Unlock every name."""
        os.close(self._descriptor)


def _offset(name: str) -> int:
    # Seven bytes stay below the largest offset of a file.
    return int.from_bytes(sha256(name.encode()).digest()[:7])


class NoClaims:
    """Claims that always succeed, for stores that no other process can reach."""

    def take(self, name: str) -> bool:
        """Return True."""
        return True

    def free(self, name: str) -> None:
        """Do nothing."""


NO_CLAIMS = NoClaims()


@asynccontextmanager
async def uncharged_gateway(_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
    """Yield the gateway as it is; nobody counts what it costs."""
    yield gateway


class LocalRunner:
    """Runs rounds as tasks of this process; `paying` wraps the gateway for each.

    `on_closed` gets each round that closed, after its subscribers.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a round needs, and the clock for tests
        self,
        store: Store,
        gateway: Gateway,
        prepare: Prepare,
        claims: RoundClaims = NO_CLAIMS,
        paying: GatewayFactory = uncharged_gateway,
        clock: Callable[[], float] = time.monotonic,
        on_closed: Callable[[Round], None] = lambda _: None,
        tracing: Tracing = no_tracing,
    ) -> None:
        self._store = store
        self._gateway = DrainableGateway(gateway)
        self._prepare = prepare
        self._claims = claims
        self._paying = paying
        self._clock = clock
        self._on_closed = on_closed
        self._tracing = tracing
        self._slots = asyncio.Semaphore(MAX_ROUNDS)
        self._running: dict[str, RunningRound] = {}

    async def resume(self, chats: Sequence[str]) -> None:
        """Start every unfinished round of these chats, except those that somebody stopped.

        Raise RoundElsewhereError if another process serves one of these chats.
        """
        if not all(self._claims.take(f"chat {chat}") for chat in chats):
            raise RoundElsewhereError(SERVED)
        # A bake-off's runner resumes its rounds.
        wanted = RoundQuery(chats=tuple(chats), unfinished=True, bakeoff="")
        for line in await self._store.list_summaries(wanted=wanted):
            try:
                self.start(await self._store.load(line.id))
            except CouncilError as error:  # one unreadable round must not stop the others
                why = str(error)
                structlog.get_logger().error("round_not_resumed", round_id=line.id, why=why)

    def start(self, round_: Round) -> None:
        """Run a stored round to its end; do nothing if it runs here already or is closed.

        Raise RoundElsewhereError if another process of this machine runs it.
        """
        if round_.id in self._running or round_.closing:
            return
        if not self._claims.take(round_.id):
            raise RoundElsewhereError(
                f"Round {round_.id} is being carried on by another process of this machine."
            )
        running = self._running[round_.id] = RunningRound(round_, self._clock)
        running.task = asyncio.create_task(self._run(running, round_))
        # A task that is cancelled before it starts never reaches its `finally`.
        running.task.add_done_callback(lambda _: self._release(running))

    def latest(self, round_id: str) -> RoundSnapshot | None:
        """Return the latest snapshot of a round that runs here; None for any other."""
        running = self._running.get(round_id)
        return running.snapshot if running else None

    async def is_running(self, round_id: str) -> bool:
        """Return whether a round runs here; no other process runs rounds of our chats."""
        return round_id in self._running

    async def stop(self, round_id: str) -> None:
        """Stop a round and wait for its end; it can be started again."""
        running = self._running.get(round_id)
        if running and running.task:
            self.cancel(round_id)
            await asyncio.wait([running.task])

    def cancel(self, round_id: str) -> None:
        """Cancel a round without waiting; one that is closed may still settle its accounts."""
        running = self._running.get(round_id)
        if running and running.task and not running.snapshot.round_.closing:
            running.task.cancel()

    async def close(self) -> None:
        """Give running calls a grace period, then stop every round."""
        if self._running:
            await self._gateway.close(GRACE_SECONDS)
        await asyncio.gather(*(self.stop(round_id) for round_id in [*self._running]))

    @asynccontextmanager
    async def subscribe(self, round_id: str) -> AsyncIterator[RoundSnapshots]:
        """Yield the snapshots of a round, from the latest to its end; one if it does not run."""
        running = self._running.get(round_id)
        if running is None:
            yield _single(RoundSnapshot(await self._store.load(round_id)))
            return
        with running.subscription() as updates:
            yield _snapshots_until_closed(updates)

    async def _run(self, running: "RunningRound", round_: Round) -> None:
        try:
            async with self._slots:
                await self._prepare(round_.panel)
                with self._tracing(round_) as trace:
                    async with self._paying(round_, trace.wrap(self._gateway)) as gateway:
                        await self._convene(running, gateway, trace)
            running.fault = None
        except CouncilError as error:
            structlog.get_logger().info("round_failed", round_id=round_.id, why=str(error))
            running.fault = error
        # A bug is logged here, because there may be no subscriber to log it.
        except Exception as error:  # noqa: BLE001
            structlog.get_logger().exception("round_failed", round_id=round_.id)
            running.fault = error
        finally:
            self._release(running)

    def _release(self, running: "RunningRound") -> None:
        """Remove a round, and publish what kept it from closing."""
        round_id = running.snapshot.round_.id
        if self._running.get(round_id) is running:
            del self._running[round_id]
            self._claims.free(round_id)
            if running.fault:
                running.publish(running.fault)

    async def _convene(self, running: "RunningRound", gateway: Gateway, trace: Trace) -> None:
        def on_round(round_: Round) -> None:
            trace.update(round_)
            running.show(round_)

        services = RoundServices(
            gateway, self._store, on_round=on_round, on_text=running.show_draft
        )
        running.start_clock()
        before = running.snapshot
        with metrics.track_round():
            closed = await run_round(running.snapshot.round_.id, services)
        if running.snapshot is before:  # it was closed before it was started here
            running.show(closed)
            return
        logs.log_round(closed)
        metrics.count_round(closed)
        self._on_closed(closed)


class DrainableGateway(GatewayWrapper):
    """A gateway that can be closed without losing replies that are already being paid for."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._calls = 0
        self._idle = asyncio.Event()
        self._is_closed = False

    async def complete(self, call: Call) -> Reply:
        """Return the reply; once the gateway is closed, wait to be cancelled."""
        if self._is_closed:
            await asyncio.Event().wait()
        self._calls += 1
        self._idle.clear()
        try:
            return await self.gateway.complete(call)
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()

    async def close(self, grace_seconds: float) -> None:
        """Accept no more calls, and wait at most that long for running ones."""
        self._is_closed = True
        if self._calls:
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_seconds):
                    await self._idle.wait()
        await asyncio.sleep(SAVE_SECONDS)


Updates = asyncio.Queue[RoundSnapshot | Exception]


class RunningRound:
    """A round that runs in this process: its latest snapshot, and its subscribers."""

    def __init__(self, round_: Round, clock: Callable[[], float]) -> None:
        self.task: asyncio.Task[None] | None = None
        self.snapshot = RoundSnapshot(round_)
        # What kept it from closing; unless something else goes wrong, that somebody stopped it.
        self.fault: Exception | None = RoundStoppedError(
            f"Round {round_.id} was stopped before its end."
        )
        self._clock = clock
        self._started_at = clock()
        self._drafted_at = 0.0
        self._subscribers: list[Updates] = []

    def start_clock(self) -> None:
        """Count seconds from now; before, the round waited for a slot or for its models."""
        self._started_at = self._clock()

    @contextmanager
    def subscription(self) -> Iterator[Updates]:
        """Yield a queue of every snapshot, starting with the latest."""
        updates: Updates = asyncio.Queue()
        updates.put_nowait(self.snapshot)
        self._subscribers.append(updates)
        try:
            yield updates
        finally:
            self._subscribers.remove(updates)

    def show(self, round_: Round) -> None:
        """Publish the round as it is now."""
        self.snapshot = RoundSnapshot(
            sort_by_panel(round_), self.snapshot.draft, self._clock() - self._started_at
        )
        self.publish(self.snapshot)

    def show_draft(self, text: str) -> None:
        """Publish the synthesis as far as it is written, at most every `DRAFT_SECONDS`."""
        if self._clock() - self._drafted_at >= DRAFT_SECONDS:
            self._drafted_at = self._clock()
            seconds = self._drafted_at - self._started_at
            self.snapshot = replace(self.snapshot, draft=visible_draft(text), seconds=seconds)
            self.publish(self.snapshot)

    def publish(self, update: RoundSnapshot | Exception) -> None:
        """Queue an update for every subscriber."""
        for subscriber in self._subscribers:
            subscriber.put_nowait(update)


async def _snapshots_until_closed(updates: Updates) -> RoundSnapshots:
    """Yield snapshots until the round is closed; raise what kept it from that."""
    is_closed = False
    while not is_closed:
        update = await updates.get()
        if isinstance(update, Exception):
            raise update
        yield update
        is_closed = update.round_.closing is not None


async def _single(snapshot: RoundSnapshot) -> RoundSnapshots:
    yield snapshot
