"""Troubles that requests of any platform can meet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error instead of an answer: 500, 503."""

    status: int = 500


@dataclass(frozen=True, slots=True)
class DropBefore:
    """The connection is closed and nothing was done."""


@dataclass(frozen=True, slots=True)
class DropAfter:
    """What was asked was carried out, but the connection closed before the answer."""


@dataclass(frozen=True, slots=True)
class Slow:
    """The answer takes this much longer; the deed is done at once, or only `before` the answer."""

    seconds: float
    before: bool = False  # wait first, then act
