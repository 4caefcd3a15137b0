"""Transactions, retries, error translation, advisory locks and write batching for all stores."""

import asyncio
import secrets
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache, wraps
from hashlib import sha256
from itertools import chain, repeat
from sqlite3 import Error as SqliteError
from typing import Any, Generic, ParamSpec, TypeVar

from sqlalchemy import func, literal_column, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import SQLModel

from council.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")

RETRY_SECONDS = 60.0
BACKOFF_SECONDS = (0.0, 0.1, 0.2, 0.5, 1.0)  # before each further attempt; the last one repeats
MAX_ATTEMPT_SECONDS = 15.0  # counted for one attempt at most: the process may have been frozen

# How long an operation is retried; 0 means a single attempt.
retry_seconds: ContextVar[float] = ContextVar("retry_seconds", default=RETRY_SECONDS)


# Waits while the disk is full, and returns whether to try again; without it, nothing waits.
WaitForRoom = Callable[[], Awaitable[bool]]
_wait_for_room: ContextVar[WaitForRoom | None] = ContextVar("wait_for_room", default=None)


class DiskFullError(StoreError):
    """There was no room for what was to be written; nothing of it was."""


class ConnectionLostError(StoreError):
    """The database server did not answer: the operation may or may not have been carried out."""


# --- Transactions and statements


@asynccontextmanager
async def transaction(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Yield a connection in a transaction: commit at the end, or roll back; raise StoreError.

    Inside a `shared_transaction` of the same database, that is the one, and its end commits.
    """
    with translate_errors():
        if shared := find_shared(engine):
            yield shared
            return
        async with engine.begin() as connection:
            yield connection


# The transaction that all operations of a task join, if there is one.
_shared: ContextVar[AsyncConnection | None] = ContextVar("shared", default=None)


def find_shared(engine: AsyncEngine) -> AsyncConnection | None:
    """Return the connection of the `shared_transaction` that surrounds this, on this database."""
    connection = _shared.get()
    return connection if connection and connection.engine.url == engine.url else None


@asynccontextmanager
async def shared_transaction(engine: AsyncEngine) -> AsyncIterator[None]:
    """Run all operations of the block, in any store of the database, in one transaction.

    They are stored together at its end, or none of them after an error.
    """
    async with transaction(engine) as connection:
        token = _shared.set(connection)
        try:
            yield
        finally:
            _shared.reset(token)


async def insert(connection: AsyncConnection, rows: Sequence[SQLModel]) -> bool:
    """Insert rows of one table, skip those whose key is taken; return whether any was inserted."""
    once = insert_once(type(rows[0]), connection.dialect.name)
    inserted = await connection.execute(once, [row.model_dump() for row in rows])
    return inserted.first() is not None


@cache
def insert_once(table: type[SQLModel], dialect: str) -> Any:  # noqa: ANN401
    """Return an insert that skips taken keys and returns a row for each row it inserts."""
    # Drivers report row counts differently; returned rows are the same everywhere.
    return insert_into(table, dialect).on_conflict_do_nothing().returning(literal_column("1"))


def insert_into(table: type[SQLModel], dialect: str) -> Any:  # noqa: ANN401
    """Return the dialect's insert, which supports `on_conflict_do_…`."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


async def fetch_rows(
    connection: AsyncConnection,
    query: Any,  # noqa: ANN401
    values: Mapping[str, object] | None = None,
) -> list[dict[str, Any]]:
    """Return the rows of a query with these values, each as a dictionary by column."""
    return [dict(row) for row in (await connection.execute(query, values)).mappings()]


async def is_own_write(connection: AsyncConnection, row: SQLModel, columns: Sequence[str]) -> bool:
    """Return whether an earlier attempt stored the row, with these values in the given columns."""
    if not current_attempt().is_retry:
        return False
    table = SQLModel.metadata.tables[str(row.__tablename__)]
    keys = [column == getattr(row, column.name) for column in table.primary_key]
    query = select(*(table.c[name] for name in columns)).where(*keys)
    stored = await fetch_rows(connection, query)
    return any(all(found[name] == getattr(row, name) for name in columns) for found in stored)


# --- Advisory locks: only on Postgres, because SQLite has one writer anyway


class Lock(IntEnum):
    """The keys of the advisory locks: arbitrary, but the same in every program."""

    REBUILDING = 20_261_121
    RESERVING = 20_261_122
    SUITES = 20_261_123
    SHARED_ROWS = 20_261_124
    LINKS = 20_261_125


async def lock_exclusive(connection: AsyncConnection, lock: Lock) -> None:
    """Hold the lock alone until the transaction ends."""
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(int(lock))))


async def lock_shared(connection: AsyncConnection, lock: Lock) -> None:
    """Hold the lock until the transaction ends, together with other shared holders only."""
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock_shared(int(lock))))


def lock_key(name: str) -> int:
    """Return the key of the advisory lock with a name."""
    return int.from_bytes(sha256(name.encode()).digest()[:8], "big", signed=True)


async def disable_timeouts(connection: AsyncConnection) -> None:
    """Let the statements of this transaction, and its waits for locks, take any time."""
    if connection.dialect.name == "postgresql":
        for limit in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            await connection.execute(text(f"SET LOCAL {limit} = 0"))


# --- Retries and batches


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt of an operation with a key; before a retry, an earlier one may have committed."""

    key: str = ""
    is_retry: bool = False


_attempt: ContextVar[Attempt] = ContextVar("attempt", default=Attempt())  # noqa: B039 - frozen


def current_attempt() -> Attempt:
    """Return the attempt that is running."""
    return _attempt.get()


@contextmanager
def waiting_for_room(wait: WaitForRoom | None) -> Iterator[None]:
    """Repeat operations of the block that find the disk full, as long as `wait` returns True."""
    token = _wait_for_room.set(wait)
    try:
        yield
    finally:
        _wait_for_room.reset(token)


def retried_and_shielded(
    operation: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, Coroutine[Any, Any, T]]:
    """Decorate a database operation: retry it after a lost connection, and shield it from a cancel.

    A cancelled caller waits for the end of the running attempt, because a connection that is
    abandoned in the middle keeps the database locked. The operation is retried for
    `retry_seconds`, but not after a cancel. It must have the same effect if it runs twice.
    Inside `waiting_for_room`, it is also repeated while the disk is full.
    """

    @wraps(operation)
    async def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        if _shared.get():  # the whole transaction is retried and shielded
            return await operation(*args, **kwargs)
        cancelled = asyncio.Event()
        task = asyncio.create_task(_retry(lambda: operation(*args, **kwargs), cancelled))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled.set()
            await _wait_for_end(task)
            raise

    return wrapper


async def _wait_for_end(task: "asyncio.Task[Any]") -> None:
    """Wait for a task to end, through any number of further cancels."""
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # retrieved, so that asyncio does not log it


async def _retry(operation: Callable[[], Coroutine[Any, Any, T]], cancelled: asyncio.Event) -> T:
    loop, remaining = asyncio.get_running_loop(), retry_seconds.get()
    pauses = chain(BACKOFF_SECONDS, repeat(BACKOFF_SECONDS[-1]))
    # Each operation runs in its own task, so this is seen by no other operation.
    _attempt.set(Attempt(secrets.token_hex(16)))
    while True:
        began = loop.time()
        try:
            return await operation()
        except ConnectionLostError:
            if remaining <= 0 or await _is_set_within(cancelled, next(pauses)):
                raise
        except DiskFullError:
            wait = _wait_for_room.get()
            if wait is None or not await wait() or cancelled.is_set():
                raise
            continue
        # The clock also runs while the process is frozen, and that is not time spent retrying.
        remaining -= min(loop.time() - began, MAX_ATTEMPT_SECONDS)
        _attempt.set(replace(current_attempt(), is_retry=True))


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return event.is_set()


class WriteBatcher(Generic[Item]):
    """Write items in the order they arrive; those that arrive during a write form the next batch.

    `write` stores the whole batch or nothing. If it fails for several items, each is written
    alone, so that none fails because of another; a lost connection fails the whole batch.
    An item is written even if the caller that added it is cancelled.
    """

    def __init__(self, write: Callable[[Sequence[Item]], Awaitable[None]]) -> None:
        self._write = write
        self._waiting: list[tuple[Item, asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def add(self, item: Item) -> None:
        """Return once the item is written; raise the error of its write."""
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((item, written))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all())
        await written

    async def _write_all(self) -> None:
        batch: list[tuple[Item, asyncio.Future[None]]] = []
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._write_batch(batch)
        except asyncio.CancelledError:
            _end_waits([*batch, *self._waiting], ConnectionLostError(NOT_WRITTEN))
            self._waiting = []
            raise

    async def _write_batch(self, batch: Sequence[tuple[Item, "asyncio.Future[None]"]]) -> None:
        items = [item for item, _ in batch]
        error: Exception | None = None
        try:
            await self._write(items)
        except Exception as failure:  # noqa: BLE001 - raised for each item
            error = failure
        if error and len(batch) > 1 and not isinstance(error, ConnectionLostError):
            for pair in batch:
                await self._write_batch([pair])
            return
        _end_waits(batch, error)


def _end_waits(
    batch: "Sequence[tuple[object, asyncio.Future[None]]]", error: BaseException | None
) -> None:
    for _, written in batch:
        if written.done():  # its caller was cancelled
            continue
        if error:
            written.set_exception(error)
        else:
            written.set_result(None)


# --- Errors: a sentence for people instead of the database's internals

UNREACHABLE = (
    "Can't reach the database server. Check that it is running, and its address in "
    "COUNCIL_DATABASE_URL. What was saved stays."
)
NO_CONNECTION = "The database has no free connections. Let fewer programs use it, or allow it more."
BUSY = "The database is busy. Try again."
NOT_WRITTEN = "The program is stopping, so this may not have been saved. Try again."
SLOW = "The database server took too long. Try again later."

# By SQLSTATE code, or the start of one.
_TRANSIENT = {
    "08": UNREACHABLE,
    "57P": UNREACHABLE,
    "25P03": UNREACHABLE,
    "53300": NO_CONNECTION,
    "40": BUSY,
    "55P03": BUSY,
    "57014": SLOW,
}
# A failed connection has no code; these are deliberate refusals.
_REFUSALS = ("password", "does not exist", "pg_hba", "permission denied", "not permitted")
_NO_SLOT = ("too many clients", "too many connections", "connection slots are reserved")

_FULL = "The disk is full. What was saved stays. Free some space and try again."
_NO_ROOM = (
    "The database's file can't grow: the disk or a quota may be full. What was saved stays. Free "
    "some space and try again."
)
CANNOT_OPEN = "The database file can't be opened. Check that its folder exists and is writable."
_READ_ONLY = "The database can't be written to. Check the permissions of its file and folder."
_NO_RIGHTS = "The database user lacks permissions. Grant it access to its tables."
_NO_TABLES = "The database has no tables yet. Run `council db upgrade`."
_NO_ROUND = "The round this belongs to is not stored, or was deleted."
_TOO_LARGE = "A number is too large for the database."
_NUL = "A text contains NUL, a character that Postgres can't store. Remove it."
_NO_ADDRESS = (
    "COUNCIL_DATABASE_URL has an option that Postgres does not know. Write "
    "postgresql://USER:PASSWORD@HOST:PORT/NAME."
)

# By words of SQLite's message, or by the name of psycopg's error class.
_SENTENCES = {
    "disk is full": _FULL,
    "diskfull": _FULL,
    "sqlite_ioerr_write": _NO_ROOM,
    "readonlysqltransaction": "The database server is read-only. Set COUNCIL_DATABASE_URL to "
    "the primary server.",
    "readonly": _READ_ONLY,
    "insufficientprivilege": _NO_RIGHTS,
    "is locked": "Another program is using the database and did not release it in time.",
    "no such table": _NO_TABLES,
    "undefinedtable": _NO_TABLES,
    "foreign key constraint failed": _NO_ROUND,
    "foreignkeyviolation": _NO_ROUND,
    "numericvalueoutofrange": _TOO_LARGE,
    "cannot contain nul": _NUL,
    "untranslatablecharacter": _NUL,
    "unable to open": CANNOT_OPEN,
    "not a database": "The database file is not a database. Name another in COUNCIL_DATABASE_URL.",
    "malformed": "The database file is damaged. Restore it from a backup.",
    "invalid connection option": _NO_ADDRESS,
    "in connection info string": _NO_ADDRESS,
    "connection failed": "The database server refused the login. Check the user, the password "
    "and the name of the database in COUNCIL_DATABASE_URL.",
}


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise StoreError for a database's error; ConnectionLostError if a retry may succeed."""
    try:
        yield
    except (SQLAlchemyError, SqliteError) as error:
        if message := transient_error_message(error):
            raise ConnectionLostError(message) from error
        cause = getattr(error, "orig", None) or error
        # Only the first line: the rest may quote the row.
        names = f"{type(cause).__name__} {getattr(cause, 'sqlite_errorname', '')}"
        first_line = f"{names}: {cause}".partition("\n")[0].lower()
        known = (sentence for words, sentence in _SENTENCES.items() if words in first_line)
        sentence = next(known, f"The database refused the request ({type(error).__name__}).")
        kind = DiskFullError if sentence in {_FULL, _NO_ROOM} else StoreError
        raise kind(sentence) from error
    except OverflowError as error:
        raise StoreError(_TOO_LARGE) from error
    except (ValueError, TypeError) as error:
        raise StoreError(f"The database can't store or return a value: {error}.") from error


def transient_error_message(error: BaseException) -> str | None:
    """Return the sentence for an error that a retry may overcome; None for any other error."""
    if isinstance(error, PoolTimeoutError):
        return NO_CONNECTION
    if not isinstance(error, DBAPIError):
        return None
    cause: Any = error.orig
    if code := getattr(cause, "sqlstate", None):
        messages = (message for start, message in _TRANSIENT.items() if code.startswith(start))
        return next(messages, UNREACHABLE if error.connection_invalidated else None)
    if error.connection_invalidated:
        return UNREACHABLE
    # By name: with SQLite alone, the driver for Postgres is not imported.
    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(cause).__mro__}
    message = str(cause).lower()
    if "psycopg.OperationalError" not in kinds or any(words in message for words in _REFUSALS):
        return None
    return NO_CONNECTION if any(words in message for words in _NO_SLOT) else UNREACHABLE
