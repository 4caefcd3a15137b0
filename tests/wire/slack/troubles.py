"""Faults that a test injects into the next calls of a method, and their queue."""

from collections import defaultdict, deque
from dataclasses import dataclass

from tests.wire.troubles import DropAfter, DropBefore, Fail, Slow


@dataclass(frozen=True, slots=True)
class Refuse:
    """Slack refuses with this code."""

    code: str


@dataclass(frozen=True, slots=True)
class Storm:
    """Reply to every call with 429 and this Retry-After for some seconds."""

    seconds: float
    retry_after: int = 1


InjectedFault = Fail | DropBefore | DropAfter | Slow | Refuse


class FaultQueue:
    """The queue of faults to inject; "*" stands for any method."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, deque[InjectedFault]] = defaultdict(deque)
        self._storms: dict[str, tuple[float, int]] = {}

    def order(self, method: str, trouble: InjectedFault, times: int = 1) -> None:
        """Inject this fault into the next calls of a method."""
        self._waiting[method].extend([trouble] * times)

    def storm(self, method: str, storm: Storm, now: float) -> None:
        """Start a storm."""
        self._storms[method] = (now + storm.seconds, storm.retry_after)

    def clear(self) -> None:
        """Remove all faults."""
        self._waiting.clear()
        self._storms.clear()

    def next(self, method: str) -> InjectedFault | None:
        """Remove and return the fault for a call, if any."""
        for name in (method, "*"):
            if self._waiting[name]:
                return self._waiting[name].popleft()
        return None

    def retry_after(self, method: str, now: float) -> int | None:
        """Return the Retry-After of the storm this call is in, if any."""
        for name in (method, "*"):
            until, retry_after = self._storms.get(name, (0.0, 0))
            if now < until:
                return retry_after
        return None
