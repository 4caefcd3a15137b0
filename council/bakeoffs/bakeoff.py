"""Bake-offs: a suite put to a panel, as many rounds."""

from dataclasses import dataclass
from datetime import datetime

from council.bakeoffs.suite import Suite
from council.panel import Panel
from council.places import Place


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a bake-off; `failure` says why it ended before its last question."""

    at: datetime
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Bakeoff:
    """A suite put to a panel; a scheduled one's id is `sched:<schedule>@<slot>`.

    `cap_micro` is the most it may spend, in micro-dollars. It reports in its place, and its rounds
    count as asked there.
    """

    id: str
    suite: Suite
    panel: Panel
    place: Place
    asked_by: str
    at: datetime
    cap_micro: int | None = None
    schedule: str = ""
    ending: Ending | None = None

    def round_id(self, number: int) -> str:
        """Give the id of the round of a question, counted from 1."""
        return f"{self.id}.{number}"

    def seed(self, number: int) -> str:
        """Give the seed of that round: nobody chooses it."""
        return f"{self.id} {number}"


def bakeoff_of(round_id: str) -> tuple[str, int]:
    """Give the bake-off and the number of the question that a round's id names."""
    bakeoff, _, number = round_id.rpartition(".")
    return bakeoff, int(number)
