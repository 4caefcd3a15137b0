"""Faults of requests on any platform."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error instead of an answer: 500, 503."""

    status: int = 500


@dataclass(frozen=True, slots=True)
class DropBefore:
    """The connection closes before the request is carried out."""


@dataclass(frozen=True, slots=True)
class DropAfter:
    """The request is carried out, but the connection closes before the response."""


@dataclass(frozen=True, slots=True)
class Slow:
    """The response is late; the request is carried out at once, or after the wait if `before`."""

    seconds: float
    before: bool = False  # wait first, then act
