"""Where numbers stand on a line of a figure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of numbers on a line from one end to the other, with those to name on it."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...] = ()

    def at(self, number: float) -> float:
        """Give where a number stands."""
        return self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start)
