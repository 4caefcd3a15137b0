"""A database server's address, as its driver takes it."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
import structlog
from procrastinate.exceptions import ConnectorException
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from council.errors import StoreError

# --- A database server's address, as its driver takes it.

DRIVER = "postgresql+psycopg://"
# Nobody waits for ever on a connection whose other end is gone.
PATIENCE = {
    "connect_timeout": "5",
    "keepalives": "1",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",  # milliseconds
}
# A process that is frozen, or cut off, holds up the others for so long at most.
SESSION = {
    "statement_timeout": "15s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "10s",
}


def conninfo_of(url: str, name: str) -> str:
    """Give what connects to a server under a name it shows; the address' own wishes stand."""
    try:
        said = conninfo_to_dict(url.replace(DRIVER, "postgresql://", 1))
    # What cannot be read is not quoted: it may be the password.
    except Exception:  # noqa: BLE001
        raise StoreError(
            "COUNCIL_DATABASE_URL cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/NAME, "
            "with what is no letter or digit of the password as %XX."
        ) from None
    session = " ".join(f"-c {key}={value}" for key, value in SESSION.items())
    options = f"{session} {said.get('options', '')}".rstrip()
    return make_conninfo("", **{"application_name": name, **PATIENCE, **said, "options": options})


# --- What a database server complains of to the engine of a cluster, as one sentence for people.

AWAY = (
    "The database server cannot be reached, or does not let the program in: check "
    "COUNCIL_DATABASE_URL."
)
NO_TABLES = "The database has no tables for a cluster yet: run `council db upgrade`."


class DatabaseUnavailableError(StoreError):
    """The database server does not answer."""


def is_away(error: BaseException) -> bool:
    """Say whether an error means that the server does not answer, or broke off."""
    cause = error.__cause__ if isinstance(error, ConnectorException) else error
    return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)


@contextmanager
def told_kindly() -> Iterator[None]:
    """Raise what the server complains of as a StoreError, without its internals."""
    try:
        yield
    except (ConnectorException, psycopg.Error) as error:
        if is_away(error):
            raise DatabaseUnavailableError(AWAY) from error
        cause = error.__cause__ or error
        if isinstance(cause, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedFunction):
            raise StoreError(NO_TABLES) from error
        kind = type(cause).__name__
        raise StoreError(f"The database refused what was asked ({kind}).") from error


# --- How often processes of a cluster are heard of, and when others do without them.


@dataclass(frozen=True, slots=True)
class ClusterTimings:
    """Seconds, the same in every process of a cluster; so many takeovers at most.

    Each process is heard of every `heartbeat_seconds`, and its work is free after
    `stalled_seconds` of silence; every `sweep_seconds` one looks for such. It waits with that for
    `settle_seconds` after the database was away, until all that live can be heard of again. Whoever
    finds that it stood still for more than `gap_seconds` lets go of its work by itself, and so does
    whoever sees, every `own_seconds`, that it is not its own any more. `poll_seconds` is how often
    new work is looked for that nobody told of.
    """

    heartbeat_seconds: float = 5.0
    stalled_seconds: float = 15.0
    sweep_seconds: float = 5.0
    settle_seconds: float = 20.0
    gap_seconds: float = 10.0
    own_seconds: float = 3.0
    poll_seconds: float = 2.0
    most_takeovers: int = 5


PACE = ClusterTimings()


def _awake() -> Callable[[], float]:
    """Give a clock that goes on while the machine sleeps, where the system has one."""
    asleep_too = getattr(time, "CLOCK_BOOTTIME", None)
    if asleep_too is None:
        return time.monotonic
    return lambda: time.clock_gettime(asleep_too)


clock = _awake()


# --- Whether the database server can be reached, as this process sees it.


class ConnectionMonitor:
    """Since when the server is there, and when there last was trouble with it.

    `returned` is set whenever it has come back.
    """

    def __init__(self, clock: Callable[[], float] = clock) -> None:
        self._clock = clock
        self.is_there = True
        self.returned = asyncio.Event()
        self._since = clock()
        self._troubled = float("-inf")

    def lost(self) -> None:
        """Note that it did not answer."""
        self.stumbled()
        if self.is_there:
            self.is_there = False
            structlog.get_logger().warning("database_away")

    def stumbled(self) -> None:
        """Note that a connection broke, whatever others do."""
        self._troubled = self._clock()

    def found(self) -> None:
        """Note that it answers."""
        if not self.is_there:
            self.is_there = True
            self._since = self._clock()
            structlog.get_logger().warning("database_back")
            self.returned.set()

    def held_for(self, seconds: float) -> bool:
        """Say whether it has been there for so long without a break."""
        return self.is_there and self._clock() - self._since >= seconds

    def was_troubled_since(self, moment: float) -> bool:
        """Say whether anything went wrong with it since a moment of this clock."""
        return self._troubled >= moment
