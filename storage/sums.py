"""Rows of any table held against each other, whichever database gave them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any

from sqlalchemy import Table

_BITS = 256


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum over the digests of rows: the same for the same rows, in whatever order they come."""

    digests: int = 0
    count: int = 0

    def with_(self, rows: Sequence[dict[str, Any]]) -> "Sum":
        """Give the sum with more rows."""
        digests = self.digests + sum(map(digest_of, rows))
        return Sum(digests % 2**_BITS, self.count + len(rows))


def digest_of(row: dict[str, Any]) -> int:
    """Give a number for what a row holds; 1 and 1.0 are the same, as they are to a database."""
    said = json.dumps(_plain(row), sort_keys=True)
    return int.from_bytes(sha256(said.encode()).digest())


def key_of(table: Table, row: dict[str, Any]) -> str:
    """Name a row by its table and key."""
    key = ", ".join(f"{column.name} {row[column.name]!r}" for column in table.primary_key)
    return f"The row of table {table.name!r} with {key}"


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    return value
