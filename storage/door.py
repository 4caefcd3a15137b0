"""The door of all processes on one Postgres: whoever comes in under a name comes in alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from council.errors import StoreError
from storage.acts import transaction
from storage.beside import connections_beside
from storage.faults import told_kindly
from storage.finishing import finished

WAIT_SECONDS = 10.0  # for a connection; for the lock as long as for any other
ADMITTED_SECONDS = 60  # by then whoever was let in is carried, or never will be
CROWDED = "Too many questions are coming in at this moment: ask again in a few seconds."
_CONNECTIONS = 4
_LOCK_BYTES = 8
_LOCK_NOT_AVAILABLE = "55P03"

_LOCK = text("SELECT pg_advisory_xact_lock(CAST(:lock AS bigint))")
_LET_IN = text(
    """
    INSERT INTO admitted (round_id, name, until)
    VALUES (:round_id, :name, statement_timestamp() + CAST(:lasts AS interval))
    ON CONFLICT (round_id) DO UPDATE SET until = excluded.until
    """
)
_CLEAR = text("DELETE FROM admitted WHERE until <= statement_timestamp()")
_INSIDE = text("SELECT round_id FROM admitted WHERE name = :name AND until > statement_timestamp()")


class SqlDoor:
    """Locks by name, in connections of their own: who holds one never waits for who waits for it.

    A connection is lost with its process, and the lock with the connection.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._beside = connections_beside(engine, _CONNECTIONS, WAIT_SECONDS)

    @asynccontextmanager
    async def alone(self, *names: str) -> AsyncIterator[None]:
        """Keep every other process from these names; StoreError where that takes too long."""
        held: list[AsyncConnection] = []
        try:
            await self._enter(names, held)
            yield
        finally:
            for connection in held:
                await _let_go(connection)

    @finished
    async def _enter(self, names: tuple[str, ...], held: list[AsyncConnection]) -> None:
        connection = self._beside.connect()
        try:
            await _lock(connection, names)
        except BaseException:
            await _let_go(connection)
            raise
        held.append(connection)

    @finished
    async def let_in(self, name: str, round_id: str) -> None:
        """Count a round under a name for a while, until it is seen to be carried."""
        lasts = f"{ADMITTED_SECONDS} seconds"
        async with transaction(self._engine) as connection:
            await connection.execute(_CLEAR)
            entry = {"round_id": round_id, "name": name, "lasts": lasts}
            await connection.execute(_LET_IN, entry)

    @finished
    async def inside(self, name: str) -> frozenset[str]:
        """Give the rounds that were let in under a name not long ago."""
        async with transaction(self._engine) as connection:
            return frozenset((await connection.execute(_INSIDE, {"name": name})).scalars())

    def see_out(self, round_id: str) -> None:
        """Do nothing: another process may be about to carry it, and its time runs out by itself."""

    async def close(self) -> None:
        """Let go of every connection."""
        await self._beside.dispose()


async def _lock(connection: AsyncConnection, names: tuple[str, ...]) -> None:
    with told_kindly():
        try:
            await connection.start()
            for name in sorted(set(names)):  # in one order, so that no two wait for each other
                await connection.execute(_LOCK, {"lock": _number(name)})
        except NoConnectionError:
            raise StoreError(CROWDED) from None
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
                raise StoreError(CROWDED) from None
            raise


async def _let_go(connection: AsyncConnection) -> None:
    # What was done inside is kept already; a connection that is gone holds no lock.
    with suppress(SQLAlchemyError):
        await connection.close()


def _number(name: str) -> int:
    digest = sha256(f"door {name}".encode()).digest()
    return int.from_bytes(digest[:_LOCK_BYTES], "big", signed=True)
