"""What is kept of a closed round for leaderboards: numbers, no texts."""

from dataclasses import dataclass
from datetime import datetime

VERSION = 2  # of what a record holds; records of another are made anew


@dataclass(frozen=True, slots=True)
class Authored:
    """How one member fared as an author; None is not known, or not there.

    `share` is the round's Borda share in pair form; `correct` says how its answer was graded;
    `first_votes` of the `ballots` that saw it put it first, alone. `named_itself` says whether
    something was masked in its answer.
    """

    member: str
    share: float | None = None
    place: int | None = None
    correct: bool | None = None
    refused: bool = False
    absent: bool = False
    words: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    first_votes: int | None = None
    ballots: int | None = None
    named_itself: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """How one seat fared as a judge; `tau_b` is its agreement with the other judges.

    `first_slot` is the share its ballot gave to the answer it saw first, `kept` and `pairs` how
    many orders of an audit repeat stood as before.
    """

    judge: str
    valid: bool = False
    spoiled: int = 0
    tau_b: float | None = None
    first_slot: float | None = None
    kept: int = 0
    pairs: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Margin:
    """What judges outside a pair of members make of it: mean share of the first less the second's.

    `judges` is how many they are; `won` is p_cd of the pair form over all judges who saw both.
    """

    first: str
    second: str
    margin: float | None
    judges: int
    won: float | None


@dataclass(frozen=True, slots=True)
class Whole:
    """The round as a whole: the council's own answer, and the one that stood first.

    `winner` is the member whose answer stands for the first place; cost and seconds are of the
    whole round, its synthesis with them.
    """

    winner: str | None = None
    council_correct: bool | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    synthesis_usd: float | None = None
    synthesis_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """The numbers of one closed round; of a bake-off's, with its question's number, from 1."""

    round_id: str
    asked_at: datetime
    panel: str
    scope: str
    authored: tuple[Authored, ...]
    judged: tuple[Judged, ...]
    margins: tuple[Margin, ...]
    whole: Whole
    bakeoff: str = ""
    number: int = 0
    suite: str = ""
    suite_version: str = ""
    category: str = ""
