"""Messages on their way out: claimed before they are sent, marked after."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Claim:
    """A message somebody has undertaken to send; `message` is the chat's id once it is sent.

    `is_new` says that nobody had claimed it before. `age_seconds` is how long ago it was claimed,
    by one clock for all: that of whoever keeps the claims. The moment itself only tells claims
    apart.
    """

    key: str
    claimed_at: datetime
    message: str | None = None
    is_new: bool = False
    age_seconds: float = 0.0
