"""JSON that is the same text for the same value, everywhere and for ever: digests rest on it."""

import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

# --- JSON that is the same text for the same value, everywhere and for ever: digests rest on it.


def canonical_json(value: object) -> str:
    """Give a value of dictionaries, lists, texts, numbers, booleans and None as such JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def json_digest(value: object) -> str:
    """Give the SHA-256 of a value's JSON, in hexadecimal."""
    return sha256(canonical_json(value).encode()).hexdigest()


# --- What is left of texts that were removed: when, and digests that prove them to whoever has th

Digests = tuple[tuple[str, str], ...]  # of each text by its name


@dataclass(frozen=True, slots=True)
class Forgotten:
    """When texts were removed, and a digest of each by its name, salted once a round."""

    at: datetime
    salt: str
    digests: Digests = ()

    def names_of_text(self, text: str) -> tuple[str, ...]:
        """Name the removed texts that this one is, to the last sign; nothing for any other."""
        wanted = salted_digest(self.salt, text)
        return tuple(name for name, digest in self.digests if digest == wanted)


def salted_digest(salt: str, text: str) -> str:
    """Give a text's salted digest, in hexadecimal."""
    return sha256((salt + text).encode()).hexdigest()
