"""Faults that a test orders for the next requests of a route, and their queue."""

from collections import deque
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tests.wire.troubles import DropAfter, DropBefore, Fail, Slow


@dataclass(frozen=True, slots=True)
class FailAfter:
    """The request was carried out, and an HTTP error came back all the same."""

    status: int = 500


@dataclass(frozen=True, slots=True)
class Refuse:
    """Discord refuses with this code."""

    code: int


@dataclass(frozen=True, slots=True)
class Storm:
    """For so many seconds, every request is answered 429; Cloudflare's have no Via and no JSON."""

    seconds: float
    retry_after: float = 1.0
    everywhere: bool = False  # "global": true
    from_cloudflare: bool = False


Trouble = Fail | DropBefore | DropAfter | FailAfter | Slow | Refuse


class FaultQueue:
    """What is ordered and not yet served; by patterns like "POST /channels/*/messages"."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Trouble]] = {}
        self._storms: dict[str, tuple[float, Storm]] = {}

    def order(self, pattern: str, trouble: Trouble, times: int = 1) -> None:
        """Apply a fault to the next requests of a pattern."""
        self._waiting.setdefault(pattern, deque()).extend([trouble] * times)

    def storm(self, pattern: str, storm: Storm, now: float) -> None:
        """Start a storm now."""
        self._storms[pattern] = (now + storm.seconds, storm)

    def clear(self) -> None:
        """Order nothing any more."""
        self._waiting.clear()
        self._storms.clear()

    def next(self, request: str) -> Trouble | None:
        """Take the trouble this request meets, if any."""
        for pattern, waiting in self._waiting.items():
            if waiting and fnmatchcase(request, pattern):
                return waiting.popleft()
        return None

    def storm_over(self, request: str, now: float) -> Storm | None:
        """Return the storm this request is in, if any."""
        for pattern, (until, storm) in self._storms.items():
            if now < until and fnmatchcase(request, pattern):
                return storm
        return None
