"""What a database server complains of to the engine of a cluster, as one sentence for people."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from procrastinate.exceptions import ConnectorException

from council.errors import StoreError

AWAY = (
    "The database server cannot be reached, or does not let the program in: check "
    "COUNCIL_DATABASE_URL."
)
NO_TABLES = "The database has no tables for a cluster yet: run `council db upgrade`."


class AwayError(StoreError):
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
            raise AwayError(AWAY) from error
        cause = error.__cause__ or error
        if isinstance(cause, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedFunction):
            raise StoreError(NO_TABLES) from error
        kind = type(cause).__name__
        raise StoreError(f"The database refused what was asked ({kind}).") from error
