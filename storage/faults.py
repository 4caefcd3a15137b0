"""Turn what a database complains of into one sentence for people."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from council.errors import StoreError

_SENTENCES = {
    "full": "The disk is full, so the round stops here: what was saved stays. Free some space and "
    "go on with --resume.",
    "readonly": "The database cannot be written to: check the rights of its file and folder.",
    "locked": "The database is in use by another program and did not come free in time.",
    "no such table": "The database has no tables yet: run `council db upgrade`.",
    "unable to open": "The database file cannot be opened: check that its folder exists and may be "
    "written to.",
    "not a database": "The file named as the database is not one: name another in "
    "COUNCIL_DATABASE_URL.",
    "malformed": "The database file is damaged: restore it from a backup.",
}


@contextmanager
def told_kindly() -> Iterator[None]:
    """Raise what the database complains of as a StoreError, without its internals."""
    try:
        yield
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", error)).lower()
        known = (sentence for words, sentence in _SENTENCES.items() if words in said)
        kind = type(error).__name__
        raise StoreError(next(known, f"The database refused what was asked ({kind}).")) from error
