"""Feedback: what one person thinks of a round's answer. Knows no round but by its id."""

from dataclasses import dataclass
from datetime import datetime

# --- Feedback: what one person thinks of a round's answer. Knows no round but by its id.


@dataclass(frozen=True, slots=True)
class Feedback:
    """Whether a round helped somebody, and why; `reason` is empty where they did not say."""

    round_id: str
    by: str
    helpful: bool
    reason: str
    at: datetime


# --- Votes of people: which answer of a round somebody calls the best. Knows no round but by its


@dataclass(frozen=True, slots=True)
class HumanVote:
    """The answer somebody calls the best, by its public label and the member who wrote it."""

    round_id: str
    by: str
    label: str
    member: str
    at: datetime
