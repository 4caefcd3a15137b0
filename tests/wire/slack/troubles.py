"""Troubles a test can order for the next calls of a method, and the queue they wait in."""

from collections import defaultdict, deque
from dataclasses import dataclass

from tests.wire.troubles import DropAfter, DropBefore, Fail, Slow


@dataclass(frozen=True, slots=True)
class Refuse:
    """Slack refuses with this code."""

    code: str


@dataclass(frozen=True, slots=True)
class Storm:
    """For so many seconds, every call is answered 429 with this Retry-After."""

    seconds: float
    retry_after: int = 1


Trouble = Fail | DropBefore | DropAfter | Slow | Refuse


class Troubles:
    """What is ordered and not yet served; "*" stands for any method."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, deque[Trouble]] = defaultdict(deque)
        self._storms: dict[str, tuple[float, int]] = {}

    def order(self, method: str, trouble: Trouble, times: int = 1) -> None:
        """Let the next calls of this method meet this trouble."""
        self._waiting[method].extend([trouble] * times)

    def storm(self, method: str, storm: Storm, now: float) -> None:
        """Let a storm begin now."""
        self._storms[method] = (now + storm.seconds, storm.retry_after)

    def clear(self) -> None:
        """Order nothing any more."""
        self._waiting.clear()
        self._storms.clear()

    def next(self, method: str) -> Trouble | None:
        """Take the trouble this call meets, if any."""
        for name in (method, "*"):
            if self._waiting[name]:
                return self._waiting[name].popleft()
        return None

    def retry_after(self, method: str, now: float) -> int | None:
        """Give the Retry-After of the storm this call is in, if any."""
        for name in (method, "*"):
            until, retry_after = self._storms.get(name, (0.0, 0))
            if now < until:
                return retry_after
        return None
