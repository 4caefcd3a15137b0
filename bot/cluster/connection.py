"""Connections of a cluster to Postgres: address, errors, timings and a connection monitor."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import psycopg
import structlog
from procrastinate.exceptions import ConnectorException
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from council.errors import StoreError
from storage.engine import UNREADABLE_URL

DRIVER = "postgresql+psycopg://"
# So that a broken connection is noticed within seconds.
CONNECT_OPTIONS = {
    "connect_timeout": "5",
    "keepalives": "1",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",  # milliseconds
}
# So that a process that is frozen or cut off does not block the others for long.
SESSION_SETTINGS = {
    "statement_timeout": "15s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "10s",
}
UNREACHABLE = (
    "Can't reach the database server, or it refuses the login. Check COUNCIL_DATABASE_URL."
)
NO_TABLES = "The database has no tables for a cluster yet: run `council db upgrade`."


def build_conninfo(url: str, name: str) -> str:
    """Return the connection string for a database URL; options in the URL override ours.

    The server shows the connection under `name`. Raise StoreError if the URL cannot be parsed.
    """
    try:
        from_url = conninfo_to_dict(url.replace(DRIVER, "postgresql://", 1))
    # The error is not quoted: it may contain the password.
    except Exception:  # noqa: BLE001
        raise StoreError(UNREADABLE_URL) from None
    session = " ".join(f"-c {key}={value}" for key, value in SESSION_SETTINGS.items())
    options = f"{session} {from_url.get('options', '')}".rstrip()
    values = {"application_name": name, **CONNECT_OPTIONS, **from_url, "options": options}
    return make_conninfo("", **values)


class DatabaseUnavailableError(StoreError):
    """The database server does not answer."""


def is_connection_error(error: BaseException) -> bool:
    """Return whether an error means that the server did not answer or closed the connection."""
    cause = error.__cause__ if isinstance(error, ConnectorException) else error
    return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise the server's errors as StoreError, without its internals."""
    try:
        yield
    except (ConnectorException, psycopg.Error) as error:
        if is_connection_error(error):
            raise DatabaseUnavailableError(UNREACHABLE) from error
        cause = error.__cause__ or error
        if isinstance(cause, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedFunction):
            raise StoreError(NO_TABLES) from error
        kind = type(cause).__name__
        raise StoreError(f"The database refused what was asked ({kind}).") from error


@dataclass(frozen=True, slots=True)
class ClusterTimings:
    """Timings of the job queue; they must be the same in every process of a cluster.

    - `heartbeat_seconds`: between two heartbeats of a worker.
    - `stalled_seconds`: without a heartbeat for this long, a worker's jobs are requeued.
    - `sweep_seconds`: between two sweeps for stalled jobs.
    - `settle_seconds`: no job is requeued for this long after the database was away, so that
      every living worker can send a heartbeat first.
    - `gap_seconds`: a process that was frozen for longer abandons its jobs.
    - `ownership_check_seconds`: between two checks that running jobs still belong to this process.
    - `poll_seconds`: between two polls for jobs that no notification announced.
    - `max_takeovers`: a job that was requeued so often in a row fails.
    """

    heartbeat_seconds: float = 5.0
    stalled_seconds: float = 15.0
    sweep_seconds: float = 5.0
    settle_seconds: float = 20.0
    gap_seconds: float = 10.0
    ownership_check_seconds: float = 3.0
    poll_seconds: float = 2.0
    max_takeovers: int = 5


DEFAULT_TIMINGS = ClusterTimings()


# A clock that also counts while the machine sleeps, if the system has one.
clock: Callable[[], float] = time.monotonic
if hasattr(time, "CLOCK_BOOTTIME"):
    clock = partial(time.clock_gettime, time.CLOCK_BOOTTIME)


class ConnectionMonitor:
    """Since when the database server is reachable; `reconnected` is set whenever it is back."""

    def __init__(self, clock: Callable[[], float] = clock) -> None:
        self._clock = clock
        self.is_reachable = True
        self.reconnected = asyncio.Event()
        self._since = clock()
        self._last_trouble = float("-inf")

    def mark_unreachable(self) -> None:
        """Record that the server did not answer."""
        self.mark_troubled()
        if self.is_reachable:
            self.is_reachable = False
            structlog.get_logger().warning("database_away")

    def mark_troubled(self) -> None:
        """Record that one connection broke."""
        self._last_trouble = self._clock()

    def mark_reachable(self) -> None:
        """Record that the server answered."""
        if not self.is_reachable:
            self.is_reachable = True
            self._since = self._clock()
            structlog.get_logger().warning("database_back")
            self.reconnected.set()

    def was_reachable_for(self, seconds: float) -> bool:
        """Return whether the server has been reachable for that long without a break."""
        return self.is_reachable and self._clock() - self._since >= seconds

    def was_troubled_since(self, moment: float) -> bool:
        """Return whether a connection broke since a moment of this clock."""
        return self._last_trouble >= moment
