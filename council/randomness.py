"""Random choices drawn from a round's seed by SHA-256, so that any version can repeat them."""

from collections.abc import Iterable
from hashlib import sha256
from typing import TypeVar

T = TypeVar("T")
_SEPARATOR = "\x1f"  # never typed into a seed by accident, so no two choices share an input


def digest(seed: str, purpose: str, item: object) -> str:
    """Return the hexadecimal SHA-256 of seed, purpose and item."""
    return sha256(_SEPARATOR.join((seed, purpose, str(item))).encode()).hexdigest()


def shuffle(items: Iterable[T], seed: str, purpose: str) -> tuple[T, ...]:
    """Return the items ordered by their digests; they must differ as text."""
    return tuple(sorted(items, key=lambda item: digest(seed, purpose, item)))


def random_fraction(seed: str, purpose: str) -> float:
    """Return a number in [0, 1), uniform over seeds."""
    # Thirteen hexadecimal digits are 52 bits, which a float holds exactly.
    return int(digest(seed, purpose, "fraction")[:13], 16) / 16**13
