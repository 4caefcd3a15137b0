"""Locks that all processes on one Postgres share: named locks, the leader lock, and the clock."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from council.errors import StoreError
from storage.engine import open_separate_pool
from storage.transactions import lock_key, retried_and_shielded, transaction, translate_errors

WAIT_SECONDS = 10.0  # for a connection; the wait for a lock has the usual limit
ADMITTED_SECONDS = 60  # after that, an admitted round is running or never will be
CROWDED = "Too many questions are coming in right now. Ask again in a few seconds."
_CONNECTIONS = 4
_LOCK_NOT_AVAILABLE = "55P03"

_LOCK = text("SELECT pg_advisory_xact_lock(CAST(:lock AS bigint))")
_ADMIT = text(
    """
    INSERT INTO admitted (round_id, name, until)
    VALUES (:round_id, :name, statement_timestamp() + CAST(:lasts AS interval))
    ON CONFLICT (round_id) DO UPDATE SET until = excluded.until
    """
)
_CLEAR = text("DELETE FROM admitted WHERE until <= statement_timestamp()")
_ADMITTED = text(
    "SELECT round_id FROM admitted WHERE name = :name AND until > statement_timestamp()"
)


class SqlLocks:
    """Named locks, with their own connections so that a holder never waits for a waiter."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._separate_pool = open_separate_pool(engine, _CONNECTIONS, WAIT_SECONDS)

    @asynccontextmanager
    async def lock(self, *names: str) -> AsyncIterator[None]:
        """Hold the locks with these names; raise StoreError if the wait is too long."""
        held: list[AsyncConnection] = []
        try:
            await self._enter(names, held)
            yield
        finally:
            for connection in held:
                await _release(connection)

    @retried_and_shielded
    async def _enter(self, names: tuple[str, ...], held: list[AsyncConnection]) -> None:
        connection = self._separate_pool.connect()
        try:
            await _acquire(connection, names)
        except BaseException:
            await _release(connection)
            raise
        held.append(connection)

    @retried_and_shielded
    async def admit(self, name: str, round_id: str) -> None:
        """Count a round under a name for a while, until it is known to be running."""
        entry = {"round_id": round_id, "name": name, "lasts": f"{ADMITTED_SECONDS} seconds"}
        async with transaction(self._engine) as connection:
            await connection.execute(_CLEAR)
            await connection.execute(_ADMIT, entry)

    @retried_and_shielded
    async def admitted(self, name: str) -> frozenset[str]:
        """Return the rounds that were admitted under a name recently."""
        async with transaction(self._engine) as connection:
            return frozenset((await connection.execute(_ADMITTED, {"name": name})).scalars())

    def dismiss(self, round_id: str) -> None:
        """Do nothing: another process may be about to run the round, and its entry expires."""

    async def close(self) -> None:
        """Close all connections."""
        await self._separate_pool.dispose()


async def _acquire(connection: AsyncConnection, names: tuple[str, ...]) -> None:
    with translate_errors():
        try:
            await connection.start()
            for name in sorted(set(names)):  # sorted, so that no two processes deadlock
                await connection.execute(_LOCK, {"lock": lock_key(f"door {name}")})
        except NoConnectionError:
            raise StoreError(CROWDED) from None
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
                raise StoreError(CROWDED) from None
            raise


async def _release(connection: AsyncConnection) -> None:
    # The caller has committed its work, and a lost connection holds no lock.
    with suppress(SQLAlchemyError):
        await connection.close()


class SqlLeaderLock:
    """The leader lock: one process at a time holds a name; it is freed when the process dies."""

    def __init__(self, engine: AsyncEngine) -> None:
        # Autocommit, because a lock held in an open transaction would time out.
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")

    @asynccontextmanager
    async def __call__(self, name: str) -> AsyncIterator[bool]:
        """Try to hold the lock of a name; yield False if another process holds it."""
        key = func.hashtextextended(f"sole {name}", 0)
        with translate_errors():
            connection = await self._engine.connect()
        try:
            with translate_errors():
                is_ours = await _fetch_bool(connection, func.pg_try_advisory_lock(key))
            try:
                yield is_ours
            finally:
                if is_ours:
                    await _unlock(connection, key)
        finally:
            await connection.close()


async def _unlock(connection: AsyncConnection, key: Any) -> None:  # noqa: ANN401
    """Release a lock; a lost connection holds none."""
    with suppress(DBAPIError):
        if await _fetch_bool(connection, func.pg_advisory_unlock(key)):
            return
    await connection.invalidate()


async def _fetch_bool(connection: AsyncConnection, call: Any) -> bool:  # noqa: ANN401
    return bool((await connection.execute(select(call))).scalar())


@retried_and_shielded
async def server_time(engine: AsyncEngine) -> datetime:
    """Return the time of the database server, which all its processes share; raise StoreError."""
    async with transaction(engine) as connection:
        now = await connection.execute(text("SELECT clock_timestamp()"))
        moment: datetime = now.scalar_one()
    return moment.astimezone(UTC)
