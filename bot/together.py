"""What all processes on one Postgres share beside the rows: turns, the door, and the time.

On SQLite there is one process, and each part is its own.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import datetime

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.coordination.clock import SharedClock, now
from bot.coordination.locks import OwnDoor
from bot.coordination.pubsub import Gossip
from bot.coordination.tasks import beside
from bot.observability import metrics
from bot.ports import Bus, Door
from council.ports import Turnstile
from council.providers import Hint
from storage.engine import connections_beside
from storage.locks import SqlClock, SqlDoor
from storage.rate_limiter import SqlTurnstile

_CONNECTIONS, _WAIT_SECONDS = 4, 2.0


class Together:
    """What is shared; as it stands, by nobody."""

    def __init__(self) -> None:
        self.turnstile: Turnstile | None = None
        self.door: Door = OwnDoor()

    def now(self) -> datetime:
        """Give this moment, by the clock that all share."""
        return now()

    def tell(self, hint: Hint) -> None:
        """Tell other processes what was learnt of a model."""

    def heeding(self, heed: Callable[[Hint], None]) -> AbstractAsyncContextManager[object]:
        """Heed what other processes tell as long as the block lasts."""
        return AsyncExitStack()


class _OnPostgres(Together):
    def __init__(
        self, turnstile: SqlTurnstile, door: Door, clock: SharedClock, gossip: Gossip
    ) -> None:
        super().__init__()
        self.turnstile = self._turns = turnstile
        self.door = OwnDoor(door)
        self._clock = clock
        self._gossip = gossip

    def now(self) -> datetime:
        return self._clock.now()

    def tell(self, hint: Hint) -> None:
        self._gossip.tell(hint)

    def heeding(self, heed: Callable[[Hint], None]) -> AbstractAsyncContextManager[object]:
        return beside(self._gossip.listen(self._turns.ring, heed))


@asynccontextmanager
async def together(engine: AsyncEngine, bus: Bus) -> AsyncIterator[Together]:
    """Give what the processes on a database share, as long as the block lasts."""
    if engine.dialect.name != "postgresql":
        yield Together()
        return
    async with AsyncExitStack() as stack:
        counting = connections_beside(engine, _CONNECTIONS, _WAIT_SECONDS)
        stack.push_async_callback(counting.dispose)
        gossip = Gossip(bus)
        stack.push_async_callback(gossip.close)
        turnstile = SqlTurnstile(counting, gossip.has_room, _counted)
        stack.push_async_callback(turnstile.close)
        door = SqlDoor(engine)
        stack.push_async_callback(door.close)
        clock = SharedClock(SqlClock(engine).moment)
        await clock.set()
        stack.enter_context(metrics.clock_watched(lambda: clock.behind_seconds))
        await stack.enter_async_context(beside(clock.keep()))
        yield _OnPostgres(turnstile, door, clock, gossip)


def _counted(counts: bool) -> None:
    """Say once that limits hold for each process alone, and once that they hold for all again."""
    metrics.turns_counted(together=counts)
    log = structlog.get_logger()
    if counts:
        log.info("turns_counted_together")
    else:
        log.warning("turns_counted_alone", why="the database that counts them did not answer")
