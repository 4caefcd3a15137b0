"""JSON that is the same text for the same value, everywhere and for ever: digests rest on it.

Keys are sorted, nothing is spaced, and whatever is not ASCII is escaped.
"""

import json
from hashlib import sha256


def canonical(value: object) -> str:
    """Give a value of dictionaries, lists, texts, numbers, booleans and None as such JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def fingerprint(value: object) -> str:
    """Give the SHA-256 of a value's JSON, in hexadecimal."""
    return sha256(canonical(value).encode()).hexdigest()
