"""Canonical JSON and SHA-256 digests, including those that remain of erased texts."""

import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

Digests = tuple[tuple[str, str], ...]  # (name of a text, its digest)


def canonical_json(value: object) -> str:
    """Return JSON that is identical for equal values; stored digests depend on its format."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def json_digest(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON, in hexadecimal."""
    return sha256(canonical_json(value).encode()).hexdigest()


def salted_digest(salt: str, text: str) -> str:
    """Return the SHA-256 of salt and text, in hexadecimal."""
    return sha256((salt + text).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Erasure:
    """When a round's texts were erased, with a digest of each text; the round has one salt."""

    at: datetime
    salt: str
    digests: Digests = ()
