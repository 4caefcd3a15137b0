"""Texts as version 0.1 stored them on Postgres, which cannot store NUL: U+FFFF escaped it.

Only databases on Postgres need this module, and psycopg.
"""

import json

from psycopg.abc import Buffer
from psycopg.types.string import TextLoader


class UnescapingLoader(TextLoader):
    """The psycopg loader that restores escaped texts."""

    def load(self, data: Buffer) -> bytes | str:
        """Return the text; bytes if the database has no known encoding."""
        loaded = super().load(data)
        return _unescape(loaded, "\0") if isinstance(loaded, str) else loaded


def load_document(data: bytes | str) -> object:
    """Return a JSON document with its escaped texts restored."""
    text = data.decode() if isinstance(data, bytes) else data
    return json.loads(_unescape(text, "\\u0000"))


def _unescape(text: str, nul: str) -> str:
    return text.replace("\uffff0", nul).replace("\uffff1", "\uffff")
