"""Runner of one machine: each round is a task of this process."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from statistics import quantiles
from typing import TYPE_CHECKING

import structlog

from bot.coordination.tasks import RoundTask, TaskRegistry, run_until_first, states
from bot.observability import logs, metrics
from bot.observability.tracing import Tracing
from bot.ports import RoundClaims, RoundSnapshot, RoundSnapshots, RoundStoppedError
from council.answers import Call, Reply
from council.budget import GatewayWrapper
from council.errors import CouncilError
from council.panel import Panel
from council.pipeline.run import run_round
from council.pipeline.session import CHAIRMAN_SECONDS, LateCalls, RoundServices
from council.ports import Gateway, RoundQuery, Store
from council.rounds import Round
from storage.transactions import waiting_for_room

if TYPE_CHECKING:
    from bot.observability.spans import RoundTrace

Prepare = Callable[[Panel], Awaitable[None]]
GatewayFactory = Callable[[Round, Gateway], AbstractAsyncContextManager[Gateway]]

MAX_ROUNDS = 50  # at once; others wait
# How long running calls may take when the program is stopped; most hosts kill it after ten.
GRACE_SECONDS = 6.0
LATE_SECONDS = 1.0  # for late replies, once every answer is out
SAVE_SECONDS = 0.05  # for a reply to reach the store
ROOM_SECONDS = 1.0  # between two tries to save while the disk is full
KNOWN_CALLS = 30  # from which a chairman's own usual time counts
SERVED = (
    "Another process already serves the same chats with this database. Stop it, or set another "
    "COUNCIL_DATA_DIR for this one."
)


OnClosed = Callable[[Round], Awaitable[None]]


class RoundElsewhereError(CouncilError):
    """Another process runs the round."""


class LocalRunner:
    """Runs rounds as tasks of this process; `on_closed` gets each round that closed.

    If it `waits_for_room`, a round that finds the disk full continues once there is room.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a round needs, and the clock for tests
        self,
        store: Store,
        gateway: Gateway,
        prepare: Prepare,
        claims: RoundClaims | None = None,
        paying: GatewayFactory = lambda _, gateway: nullcontext(gateway),
        clock: Callable[[], float] = time.monotonic,
        on_closed: OnClosed | None = None,
        tracing: Tracing | None = None,
        *,
        waits_for_room: bool = False,
    ) -> None:
        self._store = store
        self._waits_for_room = waits_for_room
        self._gateway = DrainableGateway(gateway)
        self._prepare = prepare
        self._claims = claims
        self._paying = paying
        self._clock = clock
        self._on_closed = on_closed
        self._tracing = tracing
        self._slots = asyncio.Semaphore(MAX_ROUNDS)
        self._chair_seconds = defaultdict[str, deque[float]](lambda: deque(maxlen=200))
        self._tasks = TaskRegistry[RunningRound](_log_failure, claims)

    async def resume(self, chats: Sequence[str]) -> None:
        """Start these chats' unfinished rounds; raise RoundElsewhereError if others serve them."""
        if self._claims and not all(self._claims.take(f"chat {chat}") for chat in chats):
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
        """Run a stored round to its end; raise RoundElsewhereError if another process does."""
        if round_.closing:
            return
        if not self._tasks.start(RunningRound(round_, self._clock), self._run):
            raise RoundElsewhereError(
                f"Round {round_.id} is already running in another process on this machine."
            )

    def latest(self, round_id: str) -> RoundSnapshot | None:
        """Return the latest snapshot of a round that runs here; None for any other."""
        running = self._tasks.get(round_id)
        return running.newest() if running else None

    async def is_running(self, round_id: str) -> bool:
        """Return whether a round runs here; no other process runs rounds of our chats."""
        return self._tasks.get(round_id) is not None

    async def stop(self, round_id: str) -> None:
        """Stop a round and wait for its end; it can be started again."""
        running = self._tasks.get(round_id)
        if running and running.task:
            self.cancel(round_id)
            await asyncio.wait([running.task])

    def cancel(self, round_id: str) -> None:
        """Cancel a round without waiting; one that is closed gives up its late calls."""
        running = self._tasks.get(round_id)
        if running and running.task:
            running.is_stopping.set()
            if not running.state.round_.closing:
                running.task.cancel()

    async def close(self) -> None:
        """Wait for running calls, only briefly if all are late, then stop every round."""
        if running := self._tasks.all():
            is_late = all(one.state.round_.closing for one in running)
            await self._gateway.close(LATE_SECONDS if is_late else GRACE_SECONDS)
        await asyncio.gather(*(self.stop(running.id) for running in self._tasks.all()))

    @asynccontextmanager
    async def subscribe(self, round_id: str) -> AsyncIterator[RoundSnapshots]:
        """Yield the snapshots of a round, from the latest to its end; one if it does not run."""
        running = self._tasks.get(round_id)
        if running is None:
            yield _single(RoundSnapshot(await self._store.load(round_id)))
            return
        with running.subscription() as updates:
            yield _until_closed(states(updates))

    async def _run(self, running: "RunningRound") -> None:
        with waiting_for_room(running.wait_for_room if self._waits_for_room else None):
            await self._run_in_slot(running)

    async def _run_in_slot(self, running: "RunningRound") -> None:
        round_ = running.state.round_
        async with AsyncExitStack() as slot:
            await slot.enter_async_context(self._slots)
            await self._prepare(round_.panel)
            with self._tracing(round_) if self._tracing else nullcontext() as trace:
                gateway = trace.wrap(self._gateway) if trace else self._gateway
                async with AsyncExitStack() as account:

                    async def begin() -> tuple[Gateway, Round]:
                        paid = await account.enter_async_context(self._paying(round_, gateway))
                        return paid, await self._store.load(round_.id)

                    paid, stored = await self._store.together(begin)
                    await self._convene(running, paid, stored, trace)
                    await slot.aclose()
                    if running.late.has_any:  # else the round is over in the same step
                        await run_until_first(running.late.wait(), running.is_stopping.wait())
            # Outside, where what still runs has been booked at the most that it can cost.
            running.late.cancel()
            await running.late.wait()

    async def _convene(
        self,
        running: "RunningRound",
        gateway: Gateway,
        stored: Round,
        trace: "RoundTrace | None",
    ) -> None:
        def on_round(round_: Round) -> None:
            if trace:
                trace.update(round_)
            running.show(round_)

        services = RoundServices(
            gateway,
            self._store,
            clock=lambda: self._clock() - running.waited_seconds,
            on_round=on_round,
            on_text=running.show_draft,
            patience=self._patience,
            late=running.late,
        )
        running.start_clock()
        before = running.state
        with metrics.ROUNDS_UNDER_WAY.track_inprogress():
            closed = await run_round(stored.id, services, stored)
        if running.state is before:  # it was closed before it was started here
            running.show(closed)
            return
        if (synthesis := closed.synthesis) and synthesis.chairman and synthesis.reply:
            self._chair_seconds[synthesis.chairman].append(synthesis.reply.seconds)
        logs.log_round(closed)
        metrics.count_round(closed)
        if self._on_closed:
            await self._on_closed(closed)

    def _patience(self, chairman: str) -> float:
        """Return how long a chairman may send nothing: its 95th percentile of seconds, if known."""
        known = self._chair_seconds[chairman]
        return quantiles(known, n=20)[-1] if len(known) >= KNOWN_CALLS else CHAIRMAN_SECONDS


class DrainableGateway(GatewayWrapper):
    """A gateway that can be closed without losing replies that are already being paid for."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._calls: set[asyncio.Future[None]] = set()
        self._is_closed = False

    async def complete(self, call: Call) -> Reply:
        """Return the reply; once the gateway is closed, wait to be cancelled."""
        if self._is_closed:
            await asyncio.Event().wait()
        end = asyncio.get_running_loop().create_future()
        self._calls.add(end)
        try:
            return await self.gateway.complete(call)
        finally:
            self._calls.discard(end)
            end.set_result(None)

    async def close(self, grace_seconds: float) -> None:
        """Accept no more calls, and wait at most that long for running ones."""
        self._is_closed = True
        if self._calls:
            await asyncio.wait(self._calls, timeout=grace_seconds)
        await asyncio.sleep(SAVE_SECONDS)


def _log_failure(round_id: str, error: Exception) -> None:
    log = structlog.get_logger()
    if isinstance(error, CouncilError):
        log.info("round_failed", round_id=round_id, why=str(error))
    else:
        log.error("round_failed", round_id=round_id, exc_info=error)


class RunningRound(RoundTask):
    """A round that runs in this process; it may wait for room on the disk."""

    def __init__(self, round_: Round, clock: Callable[[], float]) -> None:
        stopped = RoundStoppedError(f"Round {round_.id} was stopped before it finished.")
        super().__init__(round_, stopped, clock)
        self.late = LateCalls()
        self.is_stopping = asyncio.Event()
        self.waited_seconds = 0.0  # for room on the disk; not part of the round's time
        self._waited_until = 0.0

    @property
    def seconds(self) -> float | None:
        """How long it has been running, without the time that it waited for room."""
        passed = super().seconds
        return None if passed is None else passed - self.waited_seconds

    async def wait_for_room(self) -> bool:
        """Wait before the next try to save on a full disk; return False if the round is stopped."""
        if not self._waited_until:
            self._waited_until = self._clock()
            structlog.get_logger().warning("round_waits_for_room", round_id=self.id)
        began = self._clock()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.is_stopping.wait(), ROOM_SECONDS)
        # Several saves may wait at the same time.
        ended = self._clock()
        self.waited_seconds += ended - max(began, self._waited_until)
        self._waited_until = ended
        return not self.is_stopping.is_set()


async def _until_closed(snapshots: RoundSnapshots) -> RoundSnapshots:
    """Yield snapshots until the round is closed, though it may still settle its accounts."""
    async for snapshot in snapshots:
        yield snapshot
        if snapshot.round_.closing:
            return


async def _single(snapshot: RoundSnapshot) -> RoundSnapshots:
    yield snapshot
