"""Every random choice of a round, drawn from its seed.

Choices come from sorting on SHA-256, never from a library's generator, so that a round can be
recomputed for ever.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import TypeVar

T = TypeVar("T")
_SEPARATOR = "\x1f"  # cannot be typed into a seed by accident, so no two choices share a text


def digest(seed: str, purpose: str, item: object) -> str:
    """Give the hexadecimal SHA-256 that decides about one item; equal input, equal text."""
    return sha256(_SEPARATOR.join((seed, purpose, str(item))).encode()).hexdigest()


def shuffled(items: Iterable[T], seed: str, purpose: str) -> tuple[T, ...]:
    """Give the items in the order their digests have; items must differ as text."""
    return tuple(sorted(items, key=lambda item: digest(seed, purpose, item)))


def random_fraction(seed: str, purpose: str) -> float:
    """Give a number from 0 to below 1 for a choice by chance; over many seeds it is uniform."""
    # Thirteen hexadecimal digits are 52 bits, which a float holds exactly.
    return int(digest(seed, purpose, "fraction")[:13], 16) / 16**13
