"""What a database server could not do at this moment, and may do when it is asked again."""

from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from council.errors import StoreError

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


class LostError(StoreError):
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
