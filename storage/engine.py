"""The one character that no text of Postgres can hold, kept in texts of Postgres all the same."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection, OperationalError, connect
from typing import TYPE_CHECKING, Any

from psycopg.types.string import StrDumperUnknown, TextLoader
from sqlalchemy import URL, event, make_url, text
from sqlalchemy import Connection as SqlConnection
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from council.errors import StoreError
from storage.transactions import UNOPENED, Lock, take_time, wait_in_line

if TYPE_CHECKING:
    from psycopg.abc import Buffer
    from psycopg.adapt import AdaptersMap


# --- The one character that no text of Postgres can hold, kept in texts of Postgres all the same.

MARK = "\uffff"
_NUL, _MARK = f"{MARK}0", f"{MARK}1"


def kept(text: str) -> str:
    """Give the text as Postgres can hold it."""
    if "\0" in text or MARK in text:
        return text.replace(MARK, _MARK).replace("\0", _NUL)
    return text


def given_back(text: str) -> str:
    """Give the text that was kept so."""
    if MARK in text:
        return text.replace(_NUL, "\0").replace(_MARK, MARK)
    return text


def kept_document(document: object) -> str:
    """Give a JSON document as Postgres can hold it."""
    return json.dumps(_each(document, kept), ensure_ascii=False)


def document_given_back(said: bytes | str) -> object:
    """Give the JSON document that was kept so."""
    found = json.loads(said)
    # Most have none, and looking is quicker than taking them apart.
    marked = MARK.encode() if isinstance(said, bytes) else MARK
    return _each(found, given_back) if marked in said else found  # type: ignore[operator]


def _each(value: Any, change: Any) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _each(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_each(one, change) for one in value]
    return value


# --- How psycopg sends texts and reads them: with what Postgres cannot hold.


class EncodedText(StrDumperUnknown):
    """Sends a text as Postgres can hold it."""

    def dump(self, obj: str) -> "Buffer | None":
        """Give the bytes to send."""
        return super().dump(kept(obj))


class DecodedText(TextLoader):
    """Reads a text as it was before it was sent."""

    def load(self, data: "Buffer") -> bytes | str:
        """Give the text; bytes where the database does not say how its letters are written."""
        found = super().load(data)
        return given_back(found) if isinstance(found, str) else found


def register(adapters: "AdaptersMap") -> None:
    """Have a connection send and read texts so."""
    adapters.register_dumper(str, EncodedText)
    for kind in ("text", "varchar"):
        adapters.register_loader(kind, DecodedText)


# --- The engine for a database server: bounded, and never waiting for ever.

POOL_SIZE, POOL_OVERFLOW, POOL_SECONDS = 10, 5, 10.0


@dataclass(frozen=True, slots=True)
class Pool:
    """How many connections there are, how many more for a while, and how long one is waited for."""

    size: int = POOL_SIZE
    overflow: int = POOL_OVERFLOW
    seconds: float = POOL_SECONDS


USUAL = Pool()
# A process that is frozen, or cut off, holds up the others for so long at most.
SESSION = {
    "timezone": "UTC",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "10s",
}
DRIVER = {
    "application_name": "council",
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}
UNREADABLE = (
    "COUNCIL_DATABASE_URL cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/NAME, with "
    "what is no letter or digit of the password as %XX."
)


def open_server(url: str | URL, pool: Pool = USUAL) -> AsyncEngine:
    """Give the engine for a server's address; nothing is connected yet.

    What the address itself says of timeouts and the like stands.
    """
    try:
        engine = create_async_engine(
            url,
            pool_size=pool.size,
            max_overflow=pool.overflow,
            pool_timeout=pool.seconds,
            pool_pre_ping=True,
            # An error must not quote what people wrote.
            hide_parameters=True,
            json_serializer=kept_document,
            json_deserializer=document_given_back,
            connect_args=_connect_args(make_url(url)),
        )
    except ModuleNotFoundError as error:
        raise StoreError(
            f"The database in COUNCIL_DATABASE_URL needs the Python package {error.name!r}: "
            "install it, or name an SQLite file."
        ) from error
    # What cannot be read is not quoted either: it may be the password.
    except (ArgumentError, ValueError):
        raise StoreError(UNREADABLE) from None
    if engine.dialect.driver == "psycopg":
        event.listen(engine.sync_engine, "connect", _prepare)
    return engine


def _connect_args(url: URL) -> dict[str, Any]:
    session = " ".join(f"-c {name}={value}" for name, value in SESSION.items())
    said = url.query.get("options", "")
    options = f"{session} {said if isinstance(said, str) else ' '.join(said)}".rstrip()
    own = {name: value for name, value in DRIVER.items() if name not in url.query}
    return {**own, "options": options}


def _prepare(connection: Any, _: object) -> None:  # noqa: ANN401
    # Whoever keeps all in SQLite does not wait for the driver.

    register(connection.adapters)


async def check_letters(connection: AsyncConnection) -> None:
    """Raise StoreError for a server's database that cannot hold the letters of every language."""
    if connection.dialect.name != "postgresql":
        return
    encoding = (await connection.execute(text("SHOW server_encoding"))).scalar_one()
    if encoding != "UTF8":
        raise StoreError(
            "The database keeps its texts in another way than UTF-8: make it anew with "
            "CREATE DATABASE council ENCODING 'UTF8' TEMPLATE template0."
        )


# --- The engine: one way to open a database, whichever it is.

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
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
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


def _prepare_sqlite(connection: Connection, _: object) -> None:
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


# --- Connections beside those that rounds are stored by, for acts that must not wait for them.


def connections_beside(engine: AsyncEngine, most: int, wait_seconds: float) -> AsyncEngine:
    """Give a few connections of their own to the same server; whoever needs one waits so long."""
    return open_server(engine.url, Pool(most, 0, wait_seconds))
