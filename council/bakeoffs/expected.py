"""What a bake-off may come to, told before it begins."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """What a bake-off may cost in micro-dollars, and how long it usually takes, where known.

    `unknown` are the keys of the seats whose price nobody knows.
    """

    micro: int
    unknown: tuple[str, ...] = ()
    seconds: float | None = None
