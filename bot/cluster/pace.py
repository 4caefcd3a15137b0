"""How often processes of a cluster are heard of, and when others do without them."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds, the same in every process of a cluster; so many takeovers at most.

    Each process is heard of every `heartbeat_seconds`, and its work is free after
    `stalled_seconds` of silence; every `sweep_seconds` one looks for such. It waits with that for
    `settle_seconds` after the database was away, until all that live can be heard of again. Whoever
    finds that it stood still for more than `gap_seconds` lets go of its work by itself, and so does
    whoever sees, every `own_seconds`, that it is not its own any more. `poll_seconds` is how often
    new work is looked for that nobody told of.
    """

    heartbeat_seconds: float = 5.0
    stalled_seconds: float = 15.0
    sweep_seconds: float = 5.0
    settle_seconds: float = 20.0
    gap_seconds: float = 10.0
    own_seconds: float = 3.0
    poll_seconds: float = 2.0
    most_takeovers: int = 5


PACE = Pace()


def _awake() -> Callable[[], float]:
    """Give a clock that goes on while the machine sleeps, where the system has one."""
    asleep_too = getattr(time, "CLOCK_BOOTTIME", None)
    if asleep_too is None:
        return time.monotonic
    return lambda: time.clock_gettime(asleep_too)


clock = _awake()
