"""The engine: one way to open a database, whichever it is."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from sqlite3 import Connection, OperationalError, connect
from typing import Any

from sqlalchemy import Connection as SqlConnection
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from council.errors import StoreError
from storage.faults import UNOPENED
from storage.locks import Lock, take_time, wait_in_line
from storage.servers import open_server

BUSY_SECONDS = 10
PRAGMAS = (
    "synchronous=FULL",
    f"busy_timeout={BUSY_SECONDS * 1000}",
    "foreign_keys=ON",
    "secure_delete=ON",
)
READS_ONLY = "reads_only"


def open_engine(url: str) -> AsyncEngine:
    """Give the engine for a database address; nothing is connected yet."""
    if not url.startswith("sqlite"):
        return open_server(url)
    # One connection: SQLite has one writer, and waiting for it here is fairer than in the file.
    engine = create_async_engine(
        url,
        pool_size=1,
        max_overflow=0,
        poolclass=AsyncAdaptedQueuePool,
        json_deserializer=_document,
    )
    event.listen(engine.sync_engine, "connect", _prepare)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def check_opens(file: Path) -> None:
    """Raise StoreError where SQLite cannot open the file, before a connection tries to.

    The driver's thread would complain of it on stderr, now and then, once the loop has ended.
    """
    try:
        connect(file).close()
    except OperationalError:
        raise StoreError(UNOPENED) from None


def for_reading(engine: AsyncEngine) -> AsyncEngine:
    """Give the engine for transactions that only read: one view of all tables, no lock."""
    if engine.dialect.name == "sqlite":
        return engine.execution_options(**{READS_ONLY: True})
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


@asynccontextmanager
async def rebuilding(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Give a transaction in which tables may be rebuilt; one program at a time has it.

    SQLite rebuilds a table by dropping it, and would drop every row that points at it as well.
    """
    async with engine.connect() as connection:
        await _foreign_keys(connection, "OFF")
        try:
            async with connection.begin():
                await take_time(connection)
                await wait_in_line(connection, Lock.REBUILDING)
                yield connection
        finally:
            await _foreign_keys(connection, "ON")


async def _foreign_keys(connection: AsyncConnection, switch: str) -> None:
    # SQLite ignores the switch inside a transaction, so it goes past SQLAlchemy, which begins one.
    if connection.dialect.name == "sqlite":
        driver: Any = (await connection.get_raw_connection()).driver_connection
        cursor = await driver.execute(f"PRAGMA foreign_keys={switch}")
        await cursor.close()


def _document(text: str) -> object:
    """Give what a JSON text says; a broken one as it stands, for the reader to refuse by name."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _prepare(connection: Connection, _: object) -> None:
    connection.isolation_level = None  # the driver would begin late, and deferred
    # SQLite's own knows no capitals but A to Z.
    connection.create_function("lower", 1, str.lower, deterministic=True)
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    try:
        cursor.execute("PRAGMA journal_mode=WAL")
    except OperationalError as error:
        # Another program that makes the same database at this moment switches it for all.
        if "locked" not in str(error):
            raise
    cursor.close()


def _begin(connection: SqlConnection) -> None:
    # Whoever writes takes the lock at once; whoever reads waits for no writer.
    reads_only = connection.get_execution_options().get(READS_ONLY)
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")
