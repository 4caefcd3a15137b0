"""What a database server could not do at this moment, and may do when it is asked again."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import wraps
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

# --- What a database server could not do at this moment, and may do when it is asked again.

UNREACHABLE = (
    "The database server cannot be reached: check that it runs, and its address in "
    "COUNCIL_DATABASE_URL; what was saved stays."
)
NO_CONNECTION = (
    "The database has no connection left to give: let fewer programs use it, or let it have more "
    "of them."
)
BUSY = "The database is in use by others and did not come free in time: try again."
SLOW = "The database server took too long over what was asked: try again later."

# By the code of the standard, or the start of one.
_PASSING = {
    "08": UNREACHABLE,
    "57P": UNREACHABLE,
    "25P03": UNREACHABLE,
    "53300": NO_CONNECTION,
    "40": BUSY,
    "55P03": BUSY,
    "57014": SLOW,
}
# A server that cannot be connected to names no code, and it may have good reasons.
_REFUSALS = ("password", "does not exist", "pg_hba", "permission denied", "not permitted")
_NO_SLOT = ("too many clients", "too many connections", "connection slots are reserved")


class ConnectionLostError(StoreError):
    """What was asked of a database server did not happen now, or it cannot be known if it did."""


def lost(error: BaseException) -> str | None:
    """Give the sentence for what may go well when it is asked again; None for anything else."""
    if isinstance(error, PoolTimeoutError):
        return NO_CONNECTION
    if not isinstance(error, DBAPIError):
        return None
    cause: Any = error.orig
    if code := getattr(cause, "sqlstate", None):
        return _by_code(code, is_gone=error.connection_invalidated)
    if error.connection_invalidated:
        return UNREACHABLE
    return _unanswered(cause)


def _by_code(code: str, *, is_gone: bool) -> str | None:
    found = (sentence for start, sentence in _PASSING.items() if code.startswith(start))
    return next(found, UNREACHABLE if is_gone else None)


def _unanswered(cause: Any) -> str | None:  # noqa: ANN401
    """Tell a server that did not answer from one that refused; SQLite's errors are neither."""
    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(cause).__mro__}
    if "psycopg.OperationalError" not in kinds:
        return None
    said = str(cause).lower()
    if any(words in said for words in _NO_SLOT):
        return NO_CONNECTION
    return None if any(words in said for words in _REFUSALS) else UNREACHABLE


# --- Acts on the database that are never left half done. Knows nothing of what they do.

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_SECONDS = 60.0
PAUSES_SECONDS = (0.0, 0.1, 0.2, 0.5, 1.0)  # before each further try; the last goes on
TRY_SECONDS = 15.0  # what one try takes at most, where nothing stands still

patience: ContextVar[float] = ContextVar("patience", default=PATIENCE_SECONDS)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try of an act: the act's own key, the same for all its tries, and whether there was one.

    One before may have arrived although nobody heard so.
    """

    key: str = ""
    again: bool = False


_NONE = Attempt()
_try: ContextVar[Attempt] = ContextVar("try", default=_NONE)


def this_try() -> Attempt:
    """Give the try that is under way."""
    return _try.get()


def retried_and_shielded(
    act: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, Coroutine[Any, Any, T]]:
    """Give the act so that, once begun, it comes to its end before whoever cancels it goes on.

    A connection that loses its caller in the middle keeps the database locked. An act that is lost
    on the way to a server is done again until it arrives, or patience is at its end; one that was
    cancelled meanwhile is not. So it must come to the same whether it arrives once or twice.
    """

    @wraps(act)
    async def whole(*args: P.args, **kwargs: P.kwargs) -> T:
        cancelled = asyncio.Event()
        task = asyncio.create_task(_until_done(lambda: act(*args, **kwargs), cancelled))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled.set()
            await _ended(task)
            raise

    return whole


async def _ended(task: "asyncio.Task[Any]") -> None:
    """Wait for a task's end, however often one is told not to; one's cancellation goes on."""
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # its own error, if any, is read so that nobody prints it


async def _until_done(act: Callable[[], Coroutine[Any, Any, T]], cancelled: asyncio.Event) -> T:
    loop, left = asyncio.get_running_loop(), patience.get()
    pauses = chain(PAUSES_SECONDS, repeat(PAUSES_SECONDS[-1]))
    # The task is this act's own, so no other act is told of its tries.
    _try.set(Attempt(secrets.token_hex(16)))
    while True:
        began = loop.time()
        try:
            return await act()
        except ConnectionLostError:
            if left <= 0 or await _came(cancelled, next(pauses)):
                raise
        # A process that was frozen has not waited all that while.
        left -= min(loop.time() - began, TRY_SECONDS)
        _try.set(replace(this_try(), again=True))


async def _came(event: asyncio.Event, within_seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), within_seconds)
    except TimeoutError:
        return event.is_set()
    return True


# --- Turn what a database complains of into one sentence for people.

_FULL = "The disk is full: what was saved stays. Free some space and try again."
UNOPENED = "The database file cannot be opened: check that its folder exists and may be written to."
_READ_ONLY = "The database cannot be written to: check the rights of its file and folder."
_NO_RIGHTS = "The database server lets this user not do that: give it the rights to its tables."
_NO_TABLES = "The database has no tables yet: run `council db upgrade`."
_NO_ROUND = "The round this belongs to is not stored, or no longer."
_TOO_LARGE = "A number is larger than the database can keep."
_NO_ADDRESS = (
    "COUNCIL_DATABASE_URL says something that Postgres' driver does not know: write "
    "postgresql://USER:PASSWORD@HOST:PORT/NAME."
)

# What SQLite says, or what Postgres' driver calls its errors.
_SENTENCES = {
    "disk is full": _FULL,
    "diskfull": _FULL,
    "readonlysqltransaction": "The database server takes no changes: name the one that does in "
    "COUNCIL_DATABASE_URL.",
    "readonly": _READ_ONLY,
    "insufficientprivilege": _NO_RIGHTS,
    "is locked": "The database is in use by another program and did not come free in time.",
    "no such table": _NO_TABLES,
    "undefinedtable": _NO_TABLES,
    "foreign key constraint failed": _NO_ROUND,
    "foreignkeyviolation": _NO_ROUND,
    "numericvalueoutofrange": _TOO_LARGE,
    "unable to open": UNOPENED,
    "not a database": "The file named as the database is not one: name another in "
    "COUNCIL_DATABASE_URL.",
    "malformed": "The database file is damaged: restore it from a backup.",
    "invalid connection option": _NO_ADDRESS,
    "in connection info string": _NO_ADDRESS,
    "connection failed": "The database server does not let the program in: check the user, the "
    "password and the name of the database in COUNCIL_DATABASE_URL.",
}


@contextmanager
def told_kindly() -> Iterator[None]:
    """Raise what the database complains of as a StoreError, without its internals.

    It is a ConnectionLostError where the same may go well when it is asked again.
    """
    try:
        yield
    except (SQLAlchemyError, SqliteError) as error:
        if why := lost(error):
            raise ConnectionLostError(why) from error
        cause = getattr(error, "orig", None) or error
        # Only the first line: what follows may quote the row.
        said = f"{type(cause).__name__}: {cause}".partition("\n")[0].lower()
        known = (sentence for words, sentence in _SENTENCES.items() if words in said)
        kind = type(error).__name__
        raise StoreError(next(known, f"The database refused what was asked ({kind}).")) from error
    except OverflowError as error:
        raise StoreError(_TOO_LARGE) from error
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"The database can neither keep nor give back a value: {error}."
        ) from error


# --- The few acts on a database that every store is made of.


@asynccontextmanager
async def transaction(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Give a connection whose changes are kept together or not at all; StoreError if it fails."""
    with told_kindly():
        async with engine.begin() as connection:
            yield connection


async def insert(connection: AsyncConnection, rows: Sequence[SQLModel]) -> bool:
    """Insert rows of one table unless their keys are taken; say whether any was inserted."""
    once = insert_once(type(rows[0]), connection.dialect.name)
    inserted = await connection.execute(once, [row.model_dump() for row in rows])
    return inserted.first() is not None


def insert_once(table: type[SQLModel], dialect: str) -> Any:  # noqa: ANN401
    """Give the insert that passes over a taken key, and returns a row for each one it inserts."""
    # Row counts differ between drivers; what is returned does not.
    return insert_into(table, dialect).on_conflict_do_nothing().returning(literal_column("1"))


def insert_into(table: type[SQLModel], dialect: str) -> Any:  # noqa: ANN401
    """Give the insert that can say what to do where a key is taken."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


async def rows_of(connection: AsyncConnection, query: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Give what a query finds, a dictionary a row."""
    return [dict(row) for row in (await connection.execute(query)).mappings()]


# --- Whether what is there already is what this act wrote itself, in a try that was lost.


async def is_own(connection: AsyncConnection, row: SQLModel, telling: Sequence[str]) -> bool:
    """Say whether the row under this one's key is as this one in all that tells it from others."""
    if not this_try().again:
        return False
    table = SQLModel.metadata.tables[str(row.__tablename__)]
    keys = [column == getattr(row, column.name) for column in table.primary_key]
    stored = await rows_of(connection, select(*(table.c[name] for name in telling)).where(*keys))
    return any(all(found[name] == getattr(row, name) for name in telling) for found in stored)


# --- What is done by one program at a time on a server. SQLite has one writer anyway.


class Lock(IntEnum):
    """What is waited for; any numbers, as long as every program locks the same."""

    REBUILDING = 20_261_121
    RESERVING = 20_261_122
    SUITES = 20_261_123
    SHARED_ROWS = 20_261_124
    LINKS = 20_261_125


async def wait_in_line(connection: AsyncConnection, lock: Lock) -> None:
    """Have this to oneself to the end of the transaction."""
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(int(lock))))


async def wait_for_those_alone(connection: AsyncConnection, lock: Lock) -> None:
    """Share this with others like us, to the end of the transaction, but with nobody in line."""
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock_shared(int(lock))))


async def take_time(connection: AsyncConnection) -> None:
    """Let what this transaction does, and waits for, take as long as it takes."""
    if connection.dialect.name == "postgresql":
        for limit in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            await connection.execute(text(f"SET LOCAL {limit} = 0"))


# --- Acts that come together are done together: one transaction, and one write to the disk.

Act = TypeVar("Act")


class WriteBatcher(Generic[Act]):
    """Does acts in the order they come; those that came while others were done share a turn.

    `do` does all it is given or nothing. Where it fails for several, each is done alone, so that
    none fails for another's fault; but for what a server lost, which is the same for all.
    """

    def __init__(self, do: Callable[[Sequence[Act]], Awaitable[None]]) -> None:
        self._do = do
        self._waiting: list[tuple[Act, asyncio.Future[None]]] = []
        self._turns = asyncio.Lock()

    async def done(self, act: Act) -> None:
        """Return once the act is done; raise what it failed with."""
        ended = asyncio.get_running_loop().create_future()
        self._waiting.append((act, ended))
        async with self._turns:
            if not ended.done():
                waiting, self._waiting = self._waiting, []
                await self._all(waiting)
        await ended

    async def _all(self, waiting: Sequence[tuple[Act, "asyncio.Future[None]"]]) -> None:
        acts = [act for act, _ in waiting]
        (error,) = await asyncio.gather(self._do(acts), return_exceptions=True)
        # What the server lost is lost for all of them, and nobody's own fault.
        if error and len(waiting) > 1 and not isinstance(error, ConnectionLostError):
            for one in waiting:
                await self._all([one])
            return
        for _, ended in waiting:
            if error:
                ended.set_exception(error)
            else:
                ended.set_result(None)
