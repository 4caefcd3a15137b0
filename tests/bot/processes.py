"""Several processes on one Postgres: an app and connections each."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from functools import partial

from bot.access import Access
from bot.context import AppContext
from bot.coordination.clock import SharedClock, now
from bot.coordination.locks import LocalLocks
from bot.outbox import Outbox
from bot.runners.local import LocalRunner
from council.budget import Budget
from council.budget_caps import Caps
from council.ports import Gateway
from storage.engine import open_engine
from storage.ledger import SqlLedger
from storage.locks import SqlLocks, server_time
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from tests.bot.app_fakes import an_app, ready
from tests.fakes.gateway import FakeGateway

OPEN = Access()


@asynccontextmanager
async def apps_on(
    url: str,
    access: Access = OPEN,
    gateway: Gateway | None = None,
    ahead_seconds: Sequence[float] = (0.0, 0.0, 0.0),
) -> AsyncIterator[list[AppContext]]:
    """Yield one app for each process; each machine's clock is ahead by so much."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(_app(url, access, gateway, seconds))
            for seconds in ahead_seconds
        ]


@asynccontextmanager
async def _app(
    url: str, access: Access, gateway: Gateway | None, ahead_seconds: float
) -> AsyncIterator[AppContext]:
    def wrong() -> datetime:
        return now() + timedelta(seconds=ahead_seconds)

    engine, app = open_engine(url), an_app(gateway)
    door, clock = SqlLocks(engine), SharedClock(partial(server_time, engine), wrong)
    await clock.sync()
    store = SqlRoundStore(engine)
    app.store, app.access, app.locks, app.now = store, access, LocalLocks(door), clock.now
    app.runner = LocalRunner(store, gateway or FakeGateway(), ready)
    app.outbox = Outbox(SqlOutbox(engine), clock.now)
    app.budget = Budget(SqlLedger(engine), Caps(), clock.now)
    try:
        yield app
    finally:
        await app.runner.close()
        await door.close()
        await engine.dispose()
