"""Suites: named lists of questions, some with a reference answer, versioned by what they hold."""

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from council.panel import Panel
from council.places import Place

# --- Suites: named lists of questions, some with a reference answer, versioned by what they hold.

VERSION_LENGTH = 12


class Grading(StrEnum):
    """How an answer is held against a reference, without an LLM."""

    EXACT = "exact"
    NUMBER = "number"
    CHOICE = "choice"
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class Reference:
    """The answer that is known to be right; `tolerance` is for numbers, absolute."""

    grading: Grading
    value: str
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class SuiteQuestion:
    """One question of a suite."""

    text: str
    category: str = ""
    reference: Reference | None = None
    context: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """A named list of questions; its judges read references only where it says so.

    `scope` is whose it is: a workspace's, or the house's where it is "".
    """

    name: str
    questions: tuple[SuiteQuestion, ...]
    judges_see_references: bool = False
    scope: str = ""

    @property
    def version(self) -> str:
        """What the suite holds, as twelve hexadecimal digits; its name and scope do not count."""
        held = [[asdict(question) for question in self.questions], self.judges_see_references]
        text = json.dumps(held, sort_keys=True, ensure_ascii=False)
        return sha256(text.encode()).hexdigest()[:VERSION_LENGTH]


# --- Bake-offs: a suite put to a panel, as many rounds.


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


# --- Schedules: when a bake-off runs, and where it reports.


@dataclass(frozen=True, slots=True)
class Schedule:
    """A recurring bake-off; `cron` is standard cron in a time zone, `words` what was typed for it.

    A slot is a wall-clock minute of the zone, `2026-11-23T09:00`; `last_slot` is the newest that
    was taken, or the minute since which slots count: when it was made, resumed, or given another
    time. `subscribers` are mentioned when something changed.
    """

    id: str
    name: str
    suite: str
    panel: str
    cron: str
    zone: str
    words: str
    place: Place
    made_by: str
    made_at: datetime
    scope: str = ""
    paused: bool = False
    cap_micro: int | None = None
    last_slot: str = ""
    subscribers: tuple[str, ...] = ()

    def bakeoff_id(self, slot: str) -> str:
        """Give the id of the bake-off of a slot, so that no slot is taken twice."""
        return f"sched:{self.id}@{slot}"


def slot_of(moment: datetime) -> str:
    """Give the slot of a moment in its own time zone.

    The hour that comes twice when clocks go back has its slots once.
    """
    return f"{moment:%Y-%m-%dT%H:%M}"


# --- How far a bake-off is, for whoever watches it.


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question that came to no answer, by its number in the suite, and why."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class Progress:
    """A bake-off as it stands: `over` questions came to an end, the `failed` ones among them.

    `spent_micro` is what those cost; `seconds_left` is None as long as nothing tells. `changed` is
    the newest version of the suite, where it is another than the one that is held; `stored` rounds
    were begun.
    """

    bakeoff: Bakeoff
    over: int = 0
    failed: tuple[FailedQuestion, ...] = ()
    under_way: int = 0
    spent_micro: int = 0
    seconds_left: float | None = None
    changed: str = ""
    stored: int = 0

    @property
    def questions(self) -> int:
        """How many questions the suite has."""
        return len(self.bakeoff.suite.questions)

    @property
    def waiting(self) -> int:
        """How many questions are still to be asked."""
        return self.questions - self.over - self.under_way

    @property
    def is_queued(self) -> bool:
        """Whether anything of it is stored beside itself."""
        return self.stored > 0

    @property
    def is_whole(self) -> bool:
        """Whether every question is over."""
        return self.over == self.questions

    def ended(self, ending: Ending) -> "Progress":
        """Give the same at its end."""
        over = replace(self.bakeoff, ending=ending)
        return replace(self, bakeoff=over, under_way=0, seconds_left=None)


# --- What a bake-off may come to, told before it begins.


@dataclass(frozen=True, slots=True)
class BakeoffEstimate:
    """What a bake-off may cost in micro-dollars, and how long it usually takes, where known.

    `unknown` are the keys of the seats whose price nobody knows.
    """

    micro: int
    unknown: tuple[str, ...] = ()
    seconds: float | None = None
