"""Whether the council is worth it: its answers and the winning ones against the best one member."""

from dataclasses import dataclass
from enum import StrEnum

from council.bakeoffs.columns import Columns
from council.bakeoffs.intervals import Interval

FEWEST_GRADED = 10  # with fewer graded rounds nothing is said


class Verdict(StrEnum):
    """What the graded rounds allow to say about a way to get an answer."""

    WORTH_IT = "more accurate than any one member"
    NOT_WORTH_IT = "not worth its cost here"
    OPEN = "too close to tell"


@dataclass(frozen=True, slots=True)
class WorthLine:
    """Council (the synthesis) or Winner (the answer in first place) on graded rounds.

    Cost and seconds are means per question: of the whole round for Council, of the round without
    its synthesis for Winner. `difference` is accuracy less the best member's on the same
    questions, with its 95 % interval. `verdict` is None below ten graded rounds.
    """

    name: str
    graded: int
    accuracy: float | None
    accuracy_ci: Interval | None
    cost_usd: float | None
    seconds: float | None
    difference: float | None
    difference_ci: Interval | None
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class BestMember:
    """The most accurate single member; cost and seconds are means of its own answers.

    With two runs or more it is picked for each run on the others (`is_picked_elsewhere`), and
    `accuracy` is of those picks; with one run it is picked on the rounds it is measured on, which
    flatters it, and the intervals of differences are widened for that. `member` is who is most
    accurate over all.
    """

    member: str
    accuracy: float
    cost_usd: float | None
    seconds: float | None
    is_picked_elsewhere: bool


@dataclass(frozen=True, slots=True)
class Concord:
    """How far the judges' order agrees with what is right, within questions that had both.

    `auc` is the chance that a right answer had a higher share than a wrong one (a tie is half);
    `lead` the mean share of the right less that of the wrong.
    """

    auc: float
    ci: Interval
    lead: float
    questions: int


@dataclass(frozen=True, slots=True)
class Worth:
    """Council and Winner, the best member they are held against, and the judges' concord.

    `rows` is empty, and `best` None, where no answer was graded; `concord` is None where no
    question had a right and a wrong answer.
    """

    rows: tuple[WorthLine, ...] = ()
    best: BestMember | None = None
    concord: Concord | None = None


def worth(columns: Columns) -> Worth:
    """Give what these rounds say about Council and Winner."""
    raise NotImplementedError
