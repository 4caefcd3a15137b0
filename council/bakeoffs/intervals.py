"""95 % intervals of means over rounds."""

Interval = tuple[float, float]
