"""Feedback and votes of people on a round, which they reference by id."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Feedback:
    """Whether a round helped a person, with an optional reason."""

    round_id: str
    by: str
    helpful: bool
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class HumanVote:
    """The answer a person considers the best, by its public label and its author."""

    round_id: str
    by: str
    label: str
    member: str
    at: datetime
