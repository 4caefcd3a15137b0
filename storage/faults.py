"""Turn what a database complains of into one sentence for people."""

from collections.abc import Iterator
from contextlib import contextmanager
from sqlite3 import Error as SqliteError

from sqlalchemy.exc import SQLAlchemyError

from council.errors import StoreError
from storage.losing import LostError, lost

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

    It is a LostError where the same may go well when it is asked again.
    """
    try:
        yield
    except (SQLAlchemyError, SqliteError) as error:
        if why := lost(error):
            raise LostError(why) from error
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
