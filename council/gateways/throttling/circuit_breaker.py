"""Circuit breaker of one model at one address: stop calls to a model that keeps failing."""

from council.errors import GatewayError
from council.gateways.throttling.rate_limiter import Clock
from council.providers import BreakerState

FAILURES_TO_OPEN = 3
FIRST_OPEN_SECONDS = 30.0
MAX_OPEN_SECONDS = 300.0


class CircuitBreaker:
    """Open after several failures in a row, each time for longer; then let one call probe.

    Calls are compared by identity. A call that began before the breaker opened closes it by a
    success, but does not keep it open by a failure.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0
        self._open_until: float | None = None
        self._open_seconds = FIRST_OPEN_SECONDS
        self._probe: object | None = None

    @property
    def state(self) -> BreakerState:
        """Whether calls go out; half-open from the end of the wait until the probe's outcome."""
        if self._open_until is None:
            return BreakerState.CLOSED
        if self._probe is None and self._clock.now() < self._open_until:
            return BreakerState.OPEN
        return BreakerState.HALF_OPEN

    def refuses(self, call: object) -> bool:
        """Return whether this call must not go out now."""
        if call is self._probe or self.state is BreakerState.CLOSED:
            return False
        return self._probe is not None or self.state is BreakerState.OPEN

    def admit(self, call: object) -> None:
        """Admit the call, as the probe if one is due; raise GatewayError if it must not go out."""
        if self.refuses(call):
            seconds = max(1, round(self.remaining_seconds))
            when = "is being retried now" if self._probe else f"is retried in {seconds} s"
            raise GatewayError(
                f"was not asked: it failed {self._failures} times in a row; it {when}"
            )
        if self.state is BreakerState.HALF_OPEN:
            self._probe = call

    def record_success(self) -> None:
        """Close: the model could be reached."""
        self._failures = 0
        self._open_until = None
        self._open_seconds = FIRST_OPEN_SECONDS
        self._probe = None

    def record_failure(self, call: object) -> None:
        """Count a failed call; open if it is one too many, or the probe."""
        if self.state is not BreakerState.CLOSED and call is not self._probe:
            return
        self._probe = None
        self._failures += 1
        if self._failures >= FAILURES_TO_OPEN:
            self._open_until = self._clock.now() + self._open_seconds
            self._open_seconds = min(MAX_OPEN_SECONDS, 2 * self._open_seconds)

    def keep_open(self, seconds: float) -> None:
        """Open for at least this long, as in another process, unless a probe is running."""
        if self._probe is not None:
            return
        self._failures = max(self._failures, FAILURES_TO_OPEN)
        until = self._clock.now() + min(seconds, MAX_OPEN_SECONDS)
        self._open_until = max(until, until if self._open_until is None else self._open_until)

    @property
    def remaining_seconds(self) -> float:
        """The seconds it stays open from now; 0 if it is not open."""
        if self._open_until is None:
            return 0.0
        return max(0.0, self._open_until - self._clock.now())

    def release_probe(self, call: object) -> None:
        """Let another call be the probe if this one was the probe and ended without an outcome."""
        if call is self._probe:
            self._probe = None
