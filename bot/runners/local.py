"""The runner of one machine: each round is a task of this process.

Knows no chat: whoever wants to see a round watches it, and leaving off watching stops nothing.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import structlog

from bot.observability import logs, metrics
from bot.observability.tracing import Trace, Tracing, untraced
from bot.ports import Claims, Sight, Sights
from bot.runners.carried import Carried, sights_until_closed
from bot.runners.claims import NO_CLAIMS
from bot.runners.tap import Tap
from council.errors import CouncilError
from council.panel import Panel
from council.pipeline.run import convene
from council.pipeline.session import Council
from council.ports import Gateway, Store, Wanted
from council.rounds import Round

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
        claims: Claims = NO_CLAIMS,
        paying: Paying = unpaid,
        clock: Callable[[], float] = time.monotonic,
        on_closed: Callable[[Round], None] = lambda _: None,
        tracing: Tracing = untraced,
    ) -> None:
        self._store = store
        self._tap = Tap(gateway)
        self._prepare = prepare
        self._claims = claims
        self._paying = paying
        self._clock = clock
        self._on_closed = on_closed
        self._tracing = tracing
        self._turns = asyncio.Semaphore(MOST_ROUNDS)
        self._carried: dict[str, Carried] = {}

    async def resume(self, chats: Sequence[str]) -> None:
        """Go on with every unfinished round that these chats asked for, and nobody stopped.

        Raises RoundElsewhereError where another process serves one of these chats.
        """
        if not all(self._claims.take(f"chat {chat}") for chat in chats):
            raise RoundElsewhereError(SERVED)
        # Rounds of bake-offs are gone on with by whoever holds those.
        wanted = Wanted(chats=tuple(chats), unfinished=True, bakeoff="")
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
        carried = self._carried[round_.id] = Carried(round_, self._clock)
        carried.task = asyncio.create_task(self._carry(carried, round_))
        # A task that is cancelled before it begins does not do so itself.
        carried.task.add_done_callback(lambda _: self._let_go(carried))

    def seen(self, round_id: str) -> Sight | None:
        """Give the newest sight of a round that is being carried on here, None of any other."""
        carried = self._carried.get(round_id)
        return carried.sight if carried else None

    async def is_carried(self, round_id: str) -> bool:
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
    async def watching(self, round_id: str) -> AsyncIterator[Sights]:
        """Give every sight of a round that is being carried, from the newest one to its end."""
        carried = self._carried.get(round_id)
        if carried is None:
            yield _only(Sight(await self._store.load(round_id)))
            return
        with carried.watched() as news:
            yield sights_until_closed(news)

    async def _carry(self, carried: Carried, round_: Round) -> None:
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

    def _let_go(self, carried: Carried) -> None:
        """Carry a round no more, and tell whoever watches it what kept it from its end."""
        round_id = carried.sight.round_.id
        if self._carried.get(round_id) is carried:
            del self._carried[round_id]
            self._claims.free(round_id)
            if carried.fault:
                carried.tell(carried.fault)

    async def _convene(self, carried: Carried, gateway: Gateway, trace: Trace) -> None:
        def show(round_: Round) -> None:
            trace.show(round_)
            carried.show(round_)

        council = Council(gateway, self._store, on_round=show, on_text=carried.show_draft)
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


async def _only(sight: Sight) -> Sights:
    yield sight
