"""Votes of people: which answer of a round somebody calls the best. Knows no round but by its id.

People vote after the reveal, when names are shown: no vote of theirs is blind.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class HumanVote:
    """The answer somebody calls the best, by its public label and the member who wrote it."""

    round_id: str
    by: str
    label: str
    member: str
    at: datetime
