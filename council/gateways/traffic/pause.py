"""The pause a provider asked for, kept by every call of that model at that address."""

from council.errors import RateLimitError
from council.gateways.traffic.clock import LONGEST_WAIT_SECONDS, Clock, noting

_CAP_SECONDS = 3600.0  # a wrong header must not silence a model for good
_WHY = "asked us to slow down (429)"


class Pause:
    """How long nobody is to call; it only grows, and passes by itself."""

    def __init__(self, clock: Clock) -> None:
        self.count = 0
        self._clock = clock
        self._until = clock.now()

    @property
    def is_over(self) -> bool:
        """Whether calls may go out."""
        return self._left <= 0

    def lengthen(self, seconds: float) -> None:
        """Let nobody call for so long from now; a longer pause stays as it is."""
        self.count += 1
        self.heed(seconds)

    def heed(self, seconds: float) -> None:
        """Do so where another process was asked to, which has counted it."""
        self._until = max(self._until, self._clock.now() + min(seconds, _CAP_SECONDS))

    async def over(self, spread_seconds: float = 0.0) -> None:
        """Wait for the end, and by `spread_seconds` more, so that not all come back at once.

        Raise RateLimitError where that is too long to wait; cancelled, note what was waited for.
        """
        while (left := self._left) > 0:
            if left > LONGEST_WAIT_SECONDS:
                raise RateLimitError(f"was not asked: it {_WHY} for another {left:.0f} s", left)
            with noting(_WHY):
                await self._clock.sleep(left + spread_seconds)

    @property
    def _left(self) -> float:
        return self._until - self._clock.now()
