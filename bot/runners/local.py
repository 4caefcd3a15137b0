"""Claims: that no two processes of one machine carry the same round, or serve the same page."""

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
from bot.observability.tracing import Trace, Tracing, untraced
from bot.ports import RoundClaims, RoundSnapshot, RoundSnapshots, RoundStoppedError
from council.answers import Call, Reply
from council.budget import GatewayWrapper
from council.errors import CouncilError
from council.panel import Panel
from council.pipeline.run import convene
from council.pipeline.session import RoundServices
from council.ports import Gateway, RoundQuery, Store
from council.prompts.synthesis import draft_of
from council.rounds import Round, in_panel_order

# --- Claims: that no two processes of one machine carry the same round, or serve the same page.

_OFFSET_BYTES = 7  # below the greatest offset a file can have


class FileClaims:
    """Claims of the processes that share one file; it must be opened nowhere else in a process."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self, name: str) -> bool:
        """Take what nobody else has; give False if another process has it."""
        # Windows has no fcntl, and must still be able to import this package.
        import fcntl

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(name))
        except OSError:
            return False
        return True

    def take_all(self) -> bool:
        """Take everything there is; give False where another process has any of it."""
        import fcntl

        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def free(self, name: str) -> None:
        """Let go of it."""
        import fcntl

        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _offset(name))

    def close(self) -> None:
        """Let go of everything."""
        os.close(self._descriptor)


class NoClaims:
    """Everything may be taken: for stores that no other process can reach."""

    def take(self, name: str) -> bool:
        """Give True."""
        return True

    def free(self, name: str) -> None:
        """Do nothing."""


NO_CLAIMS = NoClaims()


def _offset(name: str) -> int:
    return int.from_bytes(sha256(name.encode()).digest()[:_OFFSET_BYTES])


# --- A tap on a gateway: once it is closed no new call begins, and those under way come to an end

_SAVING_SECONDS = 0.05  # what a reply takes from here to the store


class DrainableGateway(GatewayWrapper):
    """A gateway that can be closed without losing a reply that is being paid for."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._under_way = 0
        self._idle = asyncio.Event()
        self._closed = False

    async def complete(self, call: Call) -> Reply:
        """Give the reply; once the tap is closed, wait to be cancelled."""
        if self._closed:
            await asyncio.Event().wait()
        self._under_way += 1
        self._idle.clear()
        try:
            return await self.gateway.complete(call)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def close(self, grace_seconds: float) -> None:
        """Let no call begin, and wait for those under way, so long at most."""
        self._closed = True
        if self._under_way:
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_seconds):
                    await self._idle.wait()
        await asyncio.sleep(_SAVING_SECONDS)


# --- A round under way in this process, and everybody who watches it.

DRAFT_SECONDS = 0.1

News = asyncio.Queue[RoundSnapshot | Exception]


class RunningRound:
    """Holds the newest sight of a round, and tells every watcher each one, in order."""

    def __init__(self, round_: Round, clock: Callable[[], float]) -> None:
        self.task: asyncio.Task[None] | None = None
        self.sight = RoundSnapshot(round_)
        # What keeps it from its end: as long as it has none, that somebody stops it.
        self.fault: Exception | None = RoundStoppedError(
            f"Round {round_.id} was stopped before its end."
        )
        self._clock = clock
        self._started = clock()
        self._drafted = 0.0
        self._watchers: list[News] = []

    def begin(self) -> None:
        """Count time from now: before, the round waited for its turn or for its models."""
        self._started = self._clock()

    @contextmanager
    def watched(self) -> Iterator[News]:
        """Give a queue of every sight from the newest one on."""
        news: News = asyncio.Queue()
        news.put_nowait(self.sight)
        self._watchers.append(news)
        try:
            yield news
        finally:
            self._watchers.remove(news)

    def show(self, round_: Round) -> None:
        """Let every watcher see the round as it is now."""
        self.sight = RoundSnapshot(
            in_panel_order(round_), self.sight.draft, self._clock() - self._started
        )
        self.publish(self.sight)

    def show_draft(self, text: str) -> None:
        """Let every watcher see how far the synthesis is, some times a second."""
        if self._clock() - self._drafted >= DRAFT_SECONDS:
            self._drafted = self._clock()
            seconds = self._drafted - self._started
            self.sight = replace(self.sight, draft=draft_of(text), seconds=seconds)
            self.publish(self.sight)

    def publish(self, news: RoundSnapshot | Exception) -> None:
        """Let every watcher hear the news, in order."""
        for watcher in self._watchers:
            watcher.put_nowait(news)


async def sights_until_closed(news: News) -> RoundSnapshots:
    """Give sights as they come, until the round is closed; raise what stopped it before."""
    closed = False
    while not closed:
        new = await news.get()
        if isinstance(new, Exception):
            raise new
        yield new
        closed = new.round_.closing is not None


# --- The runner of one machine: each round is a task of this process.

Prepare = Callable[[Panel], Awaitable[None]]
Paying = Callable[[Round, Gateway], AbstractAsyncContextManager[Gateway]]

MOST_ROUNDS = 50  # under way at once; others wait their turn
# What calls under way are given when the program is told to stop; after ten most hosts kill.
GRACE_SECONDS = 6.0
SERVED = (
    "Another process serves the same chats with this database: stop it, or give this one a "
    "COUNCIL_DATA_DIR of its own."
)


class RoundElsewhereError(CouncilError):
    """Another process carries the round."""


@asynccontextmanager
async def unpaid(_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
    """Give the gateway as it is: nobody counts what it costs."""
    yield gateway


class LocalRunner:
    """Carries rounds in tasks of this process; `paying` gives each its own way to models.

    `on_closed` hears of each round that came to its end, after everybody who watches it.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a round needs, and the clock for tests
        self,
        store: Store,
        gateway: Gateway,
        prepare: Prepare,
        claims: RoundClaims = NO_CLAIMS,
        paying: Paying = unpaid,
        clock: Callable[[], float] = time.monotonic,
        on_closed: Callable[[Round], None] = lambda _: None,
        tracing: Tracing = untraced,
    ) -> None:
        self._store = store
        self._tap = DrainableGateway(gateway)
        self._prepare = prepare
        self._claims = claims
        self._paying = paying
        self._clock = clock
        self._on_closed = on_closed
        self._tracing = tracing
        self._turns = asyncio.Semaphore(MOST_ROUNDS)
        self._carried: dict[str, RunningRound] = {}

    async def resume(self, chats: Sequence[str]) -> None:
        """Go on with every unfinished round that these chats asked for, and nobody stopped.

        Raises RoundElsewhereError where another process serves one of these chats.
        """
        if not all(self._claims.take(f"chat {chat}") for chat in chats):
            raise RoundElsewhereError(SERVED)
        # Rounds of bake-offs are gone on with by whoever holds those.
        wanted = RoundQuery(chats=tuple(chats), unfinished=True, bakeoff="")
        for line in await self._store.recent(wanted=wanted):
            try:
                self.start(await self._store.load(line.id))
            except CouncilError as error:  # one round that cannot be read stops no other
                why = str(error)
                structlog.get_logger().error("round_not_resumed", round_id=line.id, why=why)

    def start(self, round_: Round) -> None:
        """Carry a stored round to its end; one that is carried, or closed, is left alone."""
        if round_.id in self._carried or round_.closing:
            return
        if not self._claims.take(round_.id):
            raise RoundElsewhereError(
                f"Round {round_.id} is being carried on by another process of this machine."
            )
        carried = self._carried[round_.id] = RunningRound(round_, self._clock)
        carried.task = asyncio.create_task(self._carry(carried, round_))
        # A task that is cancelled before it begins does not do so itself.
        carried.task.add_done_callback(lambda _: self._let_go(carried))

    def latest(self, round_id: str) -> RoundSnapshot | None:
        """Give the newest sight of a round that is being carried on here, None of any other."""
        carried = self._carried.get(round_id)
        return carried.sight if carried else None

    async def is_running(self, round_id: str) -> bool:
        """Say whether a round is being carried on here: no other process carries our chats'."""
        return round_id in self._carried

    async def stop(self, round_id: str) -> None:
        """Stop spending on a round; what there is stays, and it can be started again."""
        carried = self._carried.get(round_id)
        if carried and carried.task:
            if not carried.sight.round_.closing:  # else only its accounts are still open
                carried.task.cancel()
            await asyncio.wait([carried.task])

    def cut(self, round_id: str) -> None:
        """Stop a round before any of its tasks goes on, and do not wait for that."""
        carried = self._carried.get(round_id)
        if carried and carried.task and not carried.sight.round_.closing:
            carried.task.cancel()

    async def close(self) -> None:
        """Let calls under way end, for a while, and stop every round where it then stands."""
        if self._carried:
            await self._tap.close(GRACE_SECONDS)
        await asyncio.gather(*(self.stop(round_id) for round_id in [*self._carried]))

    @asynccontextmanager
    async def subscribe(self, round_id: str) -> AsyncIterator[RoundSnapshots]:
        """Give every sight of a round that is being carried, from the newest one to its end."""
        carried = self._carried.get(round_id)
        if carried is None:
            yield _only(RoundSnapshot(await self._store.load(round_id)))
            return
        with carried.watched() as news:
            yield sights_until_closed(news)

    async def _carry(self, carried: RunningRound, round_: Round) -> None:
        try:
            async with self._turns:
                await self._prepare(round_.panel)
                with self._tracing(round_) as trace:
                    async with self._paying(round_, trace.through(self._tap)) as gateway:
                        await self._convene(carried, gateway, trace)
            carried.fault = None
        except CouncilError as error:
            structlog.get_logger().info("round_failed", round_id=round_.id, why=str(error))
            carried.fault = error
        # Nobody may be watching, so what nobody foresaw is logged here as well.
        except Exception as error:  # noqa: BLE001
            structlog.get_logger().exception("round_failed", round_id=round_.id)
            carried.fault = error
        finally:
            self._let_go(carried)

    def _let_go(self, carried: RunningRound) -> None:
        """Carry a round no more, and tell whoever watches it what kept it from its end."""
        round_id = carried.sight.round_.id
        if self._carried.get(round_id) is carried:
            del self._carried[round_id]
            self._claims.free(round_id)
            if carried.fault:
                carried.publish(carried.fault)

    async def _convene(self, carried: RunningRound, gateway: Gateway, trace: Trace) -> None:
        def show(round_: Round) -> None:
            trace.show(round_)
            carried.show(round_)

        council = RoundServices(gateway, self._store, on_round=show, on_text=carried.show_draft)
        carried.begin()
        before = carried.sight
        with metrics.round_under_way():
            closed = await convene(carried.sight.round_.id, council)
        if carried.sight is before:  # it had come to its end since whoever started it looked
            carried.show(closed)
            return
        logs.round_closed(closed)
        metrics.round_closed(closed)
        self._on_closed(closed)


async def _only(sight: RoundSnapshot) -> RoundSnapshots:
    yield sight
