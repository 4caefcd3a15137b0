"""The runner of many machines: a round is a piece of work that whichever process takes carries.

Rows say how a round stands, the bus that it has changed. A process that dies, or that cannot be
heard of, loses its rounds to the others, which go on from the rows.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.cluster.works import ClusterWorks
from bot.coordination.clock import now
from bot.observability.tracing import Tracing, untraced
from bot.ports import Bus, RoundStoppedError, Sights, Work
from bot.runners.fenced import Fenced
from bot.runners.local import GRACE_SECONDS, MOST_ROUNDS, LocalRunner, Paying, Prepare, unpaid
from bot.runners.watch import LOOK_SECONDS, Watch
from bot.runners.words import parts_of, word_of
from council.errors import RoundNotFoundError, StoreError
from council.ports import Gateway, Store, Wanted
from council.rounds import Round
from storage.transactions import finished

QUEUE = "rounds"
DRAFT_SECONDS = 0.3  # between two words of how far the synthesis is
PAUSE_SECONDS = 1.0
TRIES = 60  # to begin a round while the database is away; then it is left to the sweep
# Whoever hears a question begins its round; one that is as old as this has been forgotten.
UNBEGUN_SECONDS = 15


def work_of(round_id: str) -> Work:
    """Give the work of carrying a round."""
    return Work(QUEUE, round_id)


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
        works: ClusterWorks,
        bus: Bus,
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
        self.seen = self._own.seen
        self._chats: set[str] = set()
        self._beginning: dict[str, asyncio.Task[None]] = {}
        self._fences: dict[str, Fenced] = {}

    @asynccontextmanager
    async def carrying(self) -> AsyncIterator[None]:
        """Take rounds as long as the block lasts; then let calls end, and give the rest back."""
        self._works.when_lost(self._cut)
        async with self._works.serving(
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

    async def is_carried(self, round_id: str) -> bool:
        """Say whether a round is being carried on by any process, or about to be."""
        return round_id in self._beginning or await self._works.is_begun(work_of(round_id))

    async def stop(self, round_id: str) -> None:
        """Have whoever carries a round stop spending on it; it can be started again."""
        await self._begun(round_id)
        with self._bus.heard(topic_of(round_id)) as heard:
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
    async def watching(self, round_id: str) -> AsyncIterator[Sights]:
        """Give every sight of a round that any process carries, from the newest to its end."""
        is_started = round_id in self._beginning
        standing = partial(self._works.standing, work_of(round_id))
        with self._bus.heard(topic_of(round_id)) as heard:
            await self._begun(round_id)
            watch = Watch(round_id, self._store, standing, self.seen)
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
            async with self._own.watching(round_id) as sights:
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

    async def _tell(self, round_id: str, sights: Sights) -> None:
        """Tell each change of a round, and now and then how far the synthesis is."""
        parts, told = -1, 0.0
        async for sight in sights:
            now, count = self._clock(), parts_of(sight.round_)
            if count != parts or now - told >= DRAFT_SECONDS:
                parts, told = count, now
                await self._bus.tell(topic_of(round_id), word_of(sight).written())

    @finished
    async def _let_end(self, round_id: str) -> None:
        """Stop a round where it stands, or wait for the accounts of one that is closed."""
        await self._own.stop(round_id)

    async def _look_again(self, round_id: str) -> None:
        """Have everybody who watches a round look how it stands."""
        await self._bus.tell(topic_of(round_id))

    async def _unfinished(self) -> Iterable[str]:
        if not self._chats:
            return ()
        old_enough = self._now() - timedelta(seconds=UNBEGUN_SECONDS)
        wanted = Wanted(
            chats=tuple(sorted(self._chats)), unfinished=True, bakeoff="", before=old_enough
        )
        return [line.id for line in await self._store.recent(wanted=wanted)]

    @asynccontextmanager
    async def _fenced(self, round_: Round, gateway: Gateway) -> AsyncIterator[Gateway]:
        """Have nothing spent on a round that may be another's."""
        may = partial(self._works.has, work_of(round_.id))
        fence = self._fences[round_.id] = Fenced(gateway, may)
        try:
            async with self._paying(round_, fence) as paid:
                yield paid
        finally:
            del self._fences[round_.id]

    def _cut(self, work: Work) -> None:
        """Do nothing any more for a round that was lost: it goes on elsewhere."""
        if work.queue == QUEUE:
            self._own.cut(work.name)
            if fence := self._fences.get(work.name):
                fence.cut()
