"""Feedback: what one person thinks of a round's answer. Knows no round but by its id."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Feedback:
    """Whether a round helped somebody, and why; `reason` is empty where they did not say."""

    round_id: str
    by: str
    helpful: bool
    reason: str
    at: datetime
