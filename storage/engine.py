"""Open engines for SQLite and Postgres: connection pools, timeouts, pragmas."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from sqlite3 import Connection, OperationalError, connect
from typing import Any, TypeVar

from sqlalchemy import URL, event, literal_column, make_url, text
from sqlalchemy import Connection as SqlConnection
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool
from sqlalchemy.pool.base import _ConnectionRecord

from council.errors import StoreError
from storage import sqlite_cursor
from storage.transactions import (
    CANNOT_OPEN,
    Lock,
    disable_timeouts,
    fetch_rows,
    find_shared,
    lock_exclusive,
    retried_and_shielded,
    shared_transaction,
    transaction,
)

T = TypeVar("T")

POOL_SIZE, POOL_OVERFLOW, POOL_TIMEOUT_SECONDS = 10, 5, 10.0
BUSY_SECONDS = 10
PRAGMAS = (
    f"busy_timeout={BUSY_SECONDS * 1000}",
    "synchronous=FULL",
    "foreign_keys=ON",
    "secure_delete=ON",
)
READ_ONLY = "read_only"
_HOW_TO_INSTALL = {"psycopg": "Run pip install 'council-bot[postgres]'"}
# A process that is frozen or cut off blocks the others for at most this long.
SESSION_SETTINGS = {
    "timezone": "UTC",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "10s",
}
DRIVER_SETTINGS = {
    "application_name": "council",
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}
UNREADABLE_URL = (
    "COUNCIL_DATABASE_URL can't be read. Write postgresql://USER:PASSWORD@HOST:PORT/NAME, with "
    "special characters of the password as %XX."
)


class _Pool(AsyncAdaptedQueuePool):
    """A pool in which another caller tries if opening the connection fails, and none waits."""

    def _create_connection(self) -> _ConnectionRecord:
        return _ConnectionRecord(self, connect=False)


def open_engine(url: str) -> AsyncEngine:
    """Return the engine for a database URL; it connects on first use."""
    if not url.startswith("sqlite"):
        return open_server_engine(url)
    # One connection: SQLite has one writer, and waiting for it here is fairer than in the file.
    engine = create_async_engine(
        url,
        pool_size=1,
        max_overflow=0,
        poolclass=_Pool,
        json_deserializer=_load_sqlite_document,
    )
    event.listen(engine.sync_engine, "do_connect", sqlite_cursor.connect)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def open_server_engine(
    url: str | URL,
    size: int = POOL_SIZE,
    overflow: int = POOL_OVERFLOW,
    timeout_seconds: float = POOL_TIMEOUT_SECONDS,
) -> AsyncEngine:
    """Return the engine for a database server; it connects on first use.

    Callers wait `timeout_seconds` for a connection. Timeouts and other settings in the URL take
    precedence. Raise StoreError for a malformed URL or a missing driver.
    """
    try:
        from storage.postgres_types import load_document

        engine = create_async_engine(
            url,
            pool_size=size,
            max_overflow=overflow,
            pool_timeout=timeout_seconds,
            pool_pre_ping=True,
            # An error must not quote what people wrote.
            hide_parameters=True,
            json_deserializer=load_document,
            connect_args=_connect_args(make_url(url)),
        )
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise StoreError(
            f"The database in COUNCIL_DATABASE_URL needs the Python package {package!r}. "
            f"{_HOW_TO_INSTALL.get(package, 'Install it')}, or name an SQLite file."
        ) from error
    # The error would quote the URL, and with it perhaps the password.
    except (ArgumentError, ValueError):
        raise StoreError(UNREADABLE_URL) from None
    if engine.dialect.driver == "psycopg":
        event.listen(engine.sync_engine, "connect", _register_loaders)
    return engine


def open_separate_pool(engine: AsyncEngine, most: int, wait_seconds: float) -> AsyncEngine:
    """Return an engine for the same server with a separate pool of at most `most` connections."""
    return open_server_engine(engine.url, most, 0, wait_seconds)


def read_only_engine(engine: AsyncEngine) -> AsyncEngine:
    """Return the engine for read-only transactions: one snapshot of all tables, no locks."""
    if engine.dialect.name == "sqlite":
        return engine.execution_options(**{READ_ONLY: True})
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


class SqlStore:
    """The base of the stores: transactions that read one snapshot of all tables, or write."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self._readers = read_only_engine(engine)

    async def together(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do some work on stores of this database, on SQLite in one transaction.

        The work must be short, and must wait for no model and no task that uses the database. On
        Postgres, a transaction that holds the locks of several could deadlock with others.
        """
        if self.engine.dialect.name != "sqlite" or find_shared(self.engine):
            return await work()
        return await self._share(work)

    @retried_and_shielded
    async def _share(self, work: Callable[[], Awaitable[T]]) -> T:
        async with shared_transaction(self.engine):
            return await work()

    def _read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return transaction(self._readers)

    def _write(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return transaction(self.engine)

    async def _fetch(self, query: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        """Return the rows of a query, each as a dictionary by column."""
        async with self._read() as connection:
            return await fetch_rows(connection, query)

    async def _fetch_column(self, query: Any) -> Sequence[Any]:  # noqa: ANN401
        """Return the first column of the rows of a query."""
        async with self._read() as connection:
            return (await connection.execute(query)).scalars().all()

    async def _fetch_value(self, query: Any) -> Any:  # noqa: ANN401
        """Return the first value of a query; None without a row."""
        async with self._read() as connection:
            return (await connection.execute(query)).scalar()

    async def _execute(self, statement: Any, values: Mapping[str, object] | None = None) -> bool:  # noqa: ANN401
        """Update or delete rows; return whether there were any.

        A statement that is used with different values must return a row for each row it changes.
        """
        if values is None:
            statement = statement.returning(literal_column("1"))
        async with self._write() as connection:
            return (await connection.execute(statement, values)).first() is not None


@asynccontextmanager
async def schema_transaction(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Yield a transaction that may rebuild tables, without foreign keys; others wait for it."""
    async with engine.connect() as connection:
        # SQLite rebuilds a table by dropping it, which would delete every row that refers to it.
        await _switch_foreign_keys(connection, "OFF")
        try:
            async with connection.begin():
                await disable_timeouts(connection)
                await lock_exclusive(connection, Lock.REBUILDING)
                yield connection
        finally:
            await _switch_foreign_keys(connection, "ON")


def check_file_opens(file: Path) -> None:
    """Raise StoreError if SQLite cannot open the file; its driver might print the error later."""
    try:
        connect(file).close()
    except OperationalError:
        raise StoreError(CANNOT_OPEN) from None


async def check_encoding(connection: AsyncConnection) -> None:
    """Raise StoreError for a Postgres database that is not encoded in UTF-8."""
    if connection.dialect.name != "postgresql":
        return
    encoding = (await connection.execute(text("SHOW server_encoding"))).scalar_one()
    if encoding != "UTF8":
        raise StoreError(
            "The database does not store text as UTF-8. Create it again with CREATE DATABASE "
            "council ENCODING 'UTF8' TEMPLATE template0."
        )


def _connect_args(url: URL) -> dict[str, Any]:
    session = " ".join(f"-c {name}={value}" for name, value in SESSION_SETTINGS.items())
    given = url.query.get("options", "")
    options = f"{session} {given if isinstance(given, str) else ' '.join(given)}".rstrip()
    defaults = {name: value for name, value in DRIVER_SETTINGS.items() if name not in url.query}
    return {**defaults, "options": options}


def _register_loaders(connection: Any, _: object) -> None:  # noqa: ANN401
    from storage.postgres_types import UnescapingLoader

    for kind in ("text", "varchar"):
        connection.adapters.register_loader(kind, UnescapingLoader)


async def _switch_foreign_keys(connection: AsyncConnection, state: str) -> None:
    # SQLite ignores the pragma inside a transaction, and SQLAlchemy would begin one.
    if connection.dialect.name == "sqlite":
        driver: Any = (await connection.get_raw_connection()).driver_connection
        cursor = await driver.execute(f"PRAGMA foreign_keys={state}")
        await cursor.close()


def _load_sqlite_document(value: str) -> object:
    """Parse a JSON text; return a malformed one as it is, for validation to report its field."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def _prepare_sqlite(connection: Connection, _: object) -> None:
    connection.isolation_level = None  # the driver would begin late, and deferred
    # SQLite's own `lower` changes only A to Z.
    connection.create_function("lower", 1, str.lower, deterministic=True)
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    try:
        cursor.execute("PRAGMA journal_mode=WAL")
    except OperationalError as error:
        # Another program is creating the database right now, and switches the mode for all.
        if "locked" not in str(error):
            raise
    cursor.close()


def _begin(connection: SqlConnection) -> None:
    # A writer takes the lock at once; a reader does not wait for writers.
    read_only = connection.get_execution_options().get(READ_ONLY)
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")
