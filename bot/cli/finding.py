"""One thing that `council doctor` looked at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found; `good` is None for what is merely worth knowing."""

    text: str
    good: bool | None = True
