"""What a suite may be called, so that it can be typed in a command."""

import re
from pathlib import PurePath

from council.errors import SuiteError

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
RESERVED = {"list", "show", "add", "remove", "keep", "leave", "last", "cancel", "resume", "now"}


def checked_name(name: str) -> str:
    """Give a suite's name in small letters; SuiteError for one that could not be typed."""
    small = name.strip().lower()
    if not _NAME.fullmatch(small) or small in RESERVED:
        raise SuiteError(
            f"A suite cannot be called {name[:50]!r}: take one word of at most 40 letters, digits, "
            "dots, - and _, such as sql-basics."
        )
    return small


def name_from(filename: str) -> str:
    """Give a file's own name as a suite's."""
    return checked_name(PurePath(filename).stem.replace(" ", "-"))
