"""The engine: one way to open a database, whichever it is."""

from sqlite3 import Connection

from sqlalchemy import Connection as SqlConnection
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

BUSY_SECONDS = 10
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    f"busy_timeout={BUSY_SECONDS * 1000}",
    "foreign_keys=ON",
)


def open_engine(url: str) -> AsyncEngine:
    """Give the engine for a database address; nothing is connected yet."""
    if not url.startswith("sqlite"):
        return create_async_engine(url, pool_pre_ping=True)
    # One connection: SQLite has one writer, and waiting for it here is fairer than in the file.
    engine = create_async_engine(url, pool_size=1, max_overflow=0, poolclass=AsyncAdaptedQueuePool)
    event.listen(engine.sync_engine, "connect", _prepare)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _prepare(connection: Connection, _: object) -> None:
    connection.isolation_level = None  # the driver would begin late, and deferred
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: SqlConnection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
