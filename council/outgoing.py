"""Messages on their way out: claimed before they are sent, marked after."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Claim:
    """A message somebody has undertaken to send; `message` is the chat's id once it is sent.

    `is_new` says that nobody had claimed it before.
    """

    key: str
    claimed_at: datetime
    message: str | None = None
    is_new: bool = False
