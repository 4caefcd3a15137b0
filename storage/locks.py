"""The database's clock, which all processes on it share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from council.errors import StoreError
from storage.engine import connections_beside
from storage.transactions import retried_and_shielded, transaction, translate_errors

# --- The database's clock, which all processes on it share.


class SqlClock:
    """Tells the time of the server."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @retried_and_shielded
    async def moment(self) -> datetime:
        """Give the moment it is there; StoreError where it cannot be asked."""
        async with transaction(self._engine) as connection:
            found: datetime = (
                await connection.execute(text("SELECT clock_timestamp()"))
            ).scalar_one()
        return found.astimezone(UTC)


# --- The door of all processes on one Postgres: whoever comes in under a name comes in alone.

WAIT_SECONDS = 10.0  # for a connection; for the lock as long as for any other
ADMITTED_SECONDS = 60  # by then whoever was let in is carried, or never will be
CROWDED = "Too many questions are coming in at this moment: ask again in a few seconds."
_CONNECTIONS = 4
_LOCK_BYTES = 8
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
    """Locks by name, in connections of their own: who holds one never waits for who waits for it.

    A connection is lost with its process, and the lock with the connection.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._beside = connections_beside(engine, _CONNECTIONS, WAIT_SECONDS)

    @asynccontextmanager
    async def lock(self, *names: str) -> AsyncIterator[None]:
        """Keep every other process from these names; StoreError where that takes too long."""
        held: list[AsyncConnection] = []
        try:
            await self._enter(names, held)
            yield
        finally:
            for connection in held:
                await _release(connection)

    @retried_and_shielded
    async def _enter(self, names: tuple[str, ...], held: list[AsyncConnection]) -> None:
        connection = self._beside.connect()
        try:
            await _acquire(connection, names)
        except BaseException:
            await _release(connection)
            raise
        held.append(connection)

    @retried_and_shielded
    async def admit(self, name: str, round_id: str) -> None:
        """Count a round under a name for a while, until it is seen to be carried."""
        lasts = f"{ADMITTED_SECONDS} seconds"
        async with transaction(self._engine) as connection:
            await connection.execute(_CLEAR)
            entry = {"round_id": round_id, "name": name, "lasts": lasts}
            await connection.execute(_ADMIT, entry)

    @retried_and_shielded
    async def admitted(self, name: str) -> frozenset[str]:
        """Give the rounds that were let in under a name not long ago."""
        async with transaction(self._engine) as connection:
            return frozenset((await connection.execute(_ADMITTED, {"name": name})).scalars())

    def dismiss(self, round_id: str) -> None:
        """Do nothing: another process may be about to carry it, and its time runs out by itself."""

    async def close(self) -> None:
        """Let go of every connection."""
        await self._beside.dispose()


async def _acquire(connection: AsyncConnection, names: tuple[str, ...]) -> None:
    with translate_errors():
        try:
            await connection.start()
            for name in sorted(set(names)):  # in one order, so that no two wait for each other
                await connection.execute(_LOCK, {"lock": _lock_key(name)})
        except NoConnectionError:
            raise StoreError(CROWDED) from None
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
                raise StoreError(CROWDED) from None
            raise


async def _release(connection: AsyncConnection) -> None:
    # What was done inside is kept already; a connection that is gone holds no lock.
    with suppress(SQLAlchemyError):
        await connection.close()


def _lock_key(name: str) -> int:
    digest = sha256(f"door {name}".encode()).digest()
    return int.from_bytes(digest[:_LOCK_BYTES], "big", signed=True)


# --- Being the one process, of all that share a database server, that does something.


class SqlLeaderLock:
    """Locks of the server's own: one is free again as soon as its holder is gone."""

    def __init__(self, engine: AsyncEngine) -> None:
        # Nothing else may be in a transaction for as long as the lock is held.
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")

    @asynccontextmanager
    async def __call__(self, name: str) -> AsyncIterator[bool]:
        """Keep every other process from what goes by a name; False where one of them has it."""
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
    """Let go of a lock; a connection that is lost has let go of it."""
    with suppress(DBAPIError):
        if await _fetch_bool(connection, func.pg_advisory_unlock(key)):
            return
    await connection.invalidate()


async def _fetch_bool(connection: AsyncConnection, asked: Any) -> bool:  # noqa: ANN401
    return bool((await connection.execute(select(asked))).scalar())
