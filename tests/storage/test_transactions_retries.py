"""Operations on a server are retried after a lost connection, and take effect once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.budget_caps import Account
from council.errors import StoreError
from council.money import Spending
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.rounds import Closing, Stage
from storage.engine import POOL_OVERFLOW, POOL_SIZE, open_engine
from storage.ledger import SqlLedger
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from storage.transactions import (
    BUSY,
    NO_CONNECTION,
    UNREACHABLE,
    ConnectionLostError,
    retry_seconds,
)
from tests.builders import ASKED_AT, a_round, an_answer
from tests.fakes.gateway import FakeGateway
from tests.postgres import Server
from tests.storage.builders import a_closed_round, store_round, wait_until, without_artefacts

WAITS_FOR_COPY = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
ONE = Account("r1", date(2026, 11, 21), "U1")


@contextmanager
def short_retries() -> Iterator[None]:
    """Retry for a short time only."""
    token = retry_seconds.set(0.3)
    yield
    retry_seconds.reset(token)


@pytest.fixture
async def engine(migrated_url: str) -> AsyncIterator[AsyncEngine]:
    engine = open_engine(migrated_url)
    yield engine
    await engine.dispose()


async def terminate_all(postgres: Server, engine: AsyncEngine) -> None:
    await asyncio.to_thread(
        postgres.execute,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
        engine.url.database,
    )


def list_errors(engine: AsyncEngine) -> list[object]:
    """Return a list to which every error of the database will be added."""
    errors: list[object] = []
    event.listen(engine.sync_engine, "handle_error", errors.append)
    return errors


def lose_commits(engine: AsyncEngine, times: int) -> list[str]:
    """Commit so many transactions, but lose their answers."""
    lost: list[str] = []

    def lose(connection: object) -> None:
        if len(lost) < times:
            lost.append("commit")
            dbapi = connection.connection.dbapi_connection  # type: ignore[attr-defined]  # sync
            dbapi.commit()
            raise ConnectionLostError(UNREACHABLE)

    event.listen(engine.sync_engine, "commit", lose)
    return lost


async def test_a_round_continues_after_a_crash_of_the_server(
    postgres: Server, engine: AsyncEngine
) -> None:
    store = SqlRoundStore(engine)
    await store.open(a_round())
    await asyncio.to_thread(postgres.stop, "immediate")
    errors = list_errors(engine)

    running = asyncio.create_task(run_round("r1", RoundServices(FakeGateway(), store)))
    await wait_until(lambda: errors)
    await asyncio.to_thread(postgres.start)
    closed = await running

    assert closed.stage is Stage.CLOSED
    assert await store.load("r1") == closed
    assert len(closed.answers) == len(closed.panel.members)


async def test_a_server_that_stays_away_is_reported_as_unreachable(
    postgres: Server, engine: AsyncEngine
) -> None:
    await asyncio.to_thread(postgres.stop)

    cannot = pytest.raises(StoreError, match=r"^Can't reach the database server\. Check that")
    with short_retries(), cannot:
        await SqlRoundStore(engine).list_summaries()


async def test_a_cancelled_caller_waits_for_no_server(
    postgres: Server, engine: AsyncEngine
) -> None:
    await asyncio.to_thread(postgres.stop)
    errors = list_errors(engine)
    reading = asyncio.create_task(SqlRoundStore(engine).list_summaries())
    await wait_until(lambda: errors)

    reading.cancel()
    async with asyncio.timeout(20):
        await asyncio.gather(reading, return_exceptions=True)

    assert reading.cancelled()


async def test_many_rounds_lose_nothing_while_connections_are_ended(
    postgres: Server, engine: AsyncEngine
) -> None:
    store = SqlRoundStore(engine)
    rounds = [a_closed_round(f"r{number}") for number in range(12)]

    keeping = asyncio.gather(*(store_round(store, round_) for round_ in rounds))
    for _ in range(5):
        await terminate_all(postgres, engine)
    await keeping

    assert [await store.load(round_.id) for round_ in rounds] == rounds


async def test_costs_are_added_once_although_the_answer_was_lost(
    engine: AsyncEngine,
) -> None:
    ledger = SqlLedger(engine)
    lost = lose_commits(engine, 2)

    await ledger.settle(ONE, 7, None)
    await ledger.settle(ONE, 5)

    assert lost == ["commit", "commit"]
    assert await ledger.spent("r1") == Spending(12, 1)


async def test_open_returns_true_although_the_first_answer_was_lost(
    engine: AsyncEngine,
) -> None:
    lose_commits(engine, 1)

    assert await SqlRoundStore(engine).open(a_round())
    assert not await SqlRoundStore(engine).open(a_round(seed="another"))


async def test_a_claim_is_new_although_the_first_answer_was_lost(
    engine: AsyncEngine,
) -> None:
    outgoing = SqlOutbox(engine)
    lost = lose_commits(engine, 1)

    claim = await outgoing.claim("key", "r1", ASKED_AT)
    lost.clear()
    is_ours = await outgoing.reclaim(claim, claim.claimed_at.replace(year=2027))

    assert (claim.is_new, is_ours) == (True, True)
    assert not await outgoing.reclaim(claim, claim.claimed_at.replace(year=2028))


async def test_a_closing_whose_answer_was_lost_leaves_one_link(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await store.open(without_artefacts(a_closed_round()))
    lose_commits(engine, 1)

    await store.save("r1", Closing(3.0))

    seal = await store.seal("r1")
    assert seal is not None
    assert seal.link is not None
    assert seal.link.number == 1


async def test_a_full_pool_is_an_error_in_one_sentence(migrated_url: str) -> None:
    engine = open_engine(migrated_url)
    engine.sync_engine.pool._timeout = 0.05  # type: ignore[attr-defined]  # its own
    taken = [await engine.connect() for _ in range(POOL_SIZE + POOL_OVERFLOW)]

    with short_retries(), pytest.raises(StoreError) as refused:
        await SqlRoundStore(engine).list_summaries()

    for connection in taken:
        await connection.close()
    await engine.dispose()
    assert str(refused.value) == NO_CONNECTION


async def test_a_locked_row_is_waited_for_and_then_an_error(
    migrated_url: str, engine: AsyncEngine
) -> None:
    await SqlRoundStore(engine).open(a_round())
    hurried = open_engine(f"{migrated_url}?options=-c%20lock_timeout%3D50ms")

    async with engine.begin() as connection:
        await connection.execute(text("SELECT id FROM round FOR UPDATE"))
        with short_retries(), pytest.raises(StoreError) as refused:
            await SqlRoundStore(hurried).save("r1", an_answer())
    await SqlRoundStore(hurried).save("r1", an_answer())
    await hurried.dispose()

    assert str(refused.value) == BUSY


async def test_a_deadlock_is_resolved_by_a_retry(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await asyncio.gather(*(store.open(a_round(seed="s")) for _ in range(2)))
    await store.open(replace(a_round(), id="r2"))
    first_has = asyncio.Event()

    async def lock(first: str, second: str) -> None:
        async with engine.begin() as connection:
            for round_id in (first, second):
                own = text("SELECT id FROM round WHERE id = :id FOR UPDATE")
                await connection.execute(own, {"id": round_id})
                first_has.set()

    async def save() -> None:
        await first_has.wait()
        await store.save("r1", an_answer())
        await store.save("r2", an_answer())

    await asyncio.gather(lock("r2", "r1"), save())

    assert (await store.load("r2")).answers == (an_answer(),)


async def test_a_commit_that_hangs_for_a_while_is_waited_for(
    postgres: Server, engine: AsyncEngine
) -> None:
    store = SqlRoundStore(engine)
    await store.open(a_round())

    with postgres.setting("synchronous_standby_names", "nobody"):
        saving = asyncio.create_task(store.save("r1", an_answer()))
        await wait_until(lambda: postgres.execute(WAITS_FOR_COPY))
        waited = not saving.done()
    await saving

    assert waited
    assert (await store.load("r1")).answers == (an_answer(),)


async def test_a_failed_transaction_does_not_affect_later_ones(engine: AsyncEngine) -> None:
    with pytest.raises(StoreError):
        await SqlRoundStore(engine).save("nowhere", an_answer())

    await asyncio.gather(*(SqlRoundStore(engine).list_summaries() for _ in range(POOL_SIZE)))


async def test_a_frozen_process_loses_its_locks(migrated_url: str, engine: AsyncEngine) -> None:
    await SqlRoundStore(engine).open(a_round())
    frozen = open_engine(f"{migrated_url}?options=-c%20idle_in_transaction_session_timeout%3D200ms")
    connection = await frozen.connect()
    await connection.execute(text("SELECT id FROM round FOR UPDATE"))

    async with asyncio.timeout(20):
        await SqlRoundStore(engine).save("r1", an_answer())

    await connection.invalidate()
    await connection.close()
    await frozen.dispose()
