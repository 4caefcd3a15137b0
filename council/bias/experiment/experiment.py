"""An experiment and what it comes to: answers, and marks given to them. Values only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from council.bakeoffs.suite import Suite, SuiteQuestion
from council.bias.grades.grade import Framing, Grade, converted
from council.calls import Reply
from council.panel import Panel
from council.rounds import Question

ATTEMPTS = 2  # what holds no grade is asked for again once
_ID_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Experiment:
    """A suite answered by the members of a panel, who then grade each other and themselves.

    `cap_micro` is the most it may spend, in micro-dollars; `versions` tell of programs and prompts.
    """

    id: str
    suite: Suite
    panel: Panel
    asked_by: str
    at: datetime
    cap_micro: int | None = None
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def calls(self) -> int:
        """How many answers and grades it takes, where nobody fails."""
        members, questions = len(self.panel.members), len(self.suite.questions)
        return questions * members * (1 + members * len(Framing))

    def question(self, number: int) -> Question:
        """Give a question, counted from 1; with its reference where judges of the suite see it."""
        asked = self.suite.questions[number - 1]
        seen = self.suite.judges_see_references and asked.reference
        reference = asked.reference.value if seen and asked.reference else ""
        return Question(asked.text, context=asked.context, reference=reference)


@dataclass(frozen=True, slots=True)
class Work:
    """What a member answered to a question, counted from 1."""

    number: int
    member: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class Cell:
    """One grade to ask for: of a judge, in a framing, for what an author answered."""

    number: int
    author: str
    framing: Framing
    judge: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What a judge replied; `raw` is the grade as it wrote it, None where `fault` spoils it."""

    cell: Cell
    reply: Reply
    raw: int | None
    fault: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Held:
    """What there is of an experiment."""

    works: Sequence[Work] = ()
    marks: Sequence[Mark] = ()


def members_alone(panel: Panel) -> Panel:
    """Give a panel as it sits in an experiment: nobody judges who does not answer."""
    return replace(panel, outside_judges=(), chairmen=())


def item_of(question: SuiteQuestion) -> str:
    """Give a question's id: the same for the same text and context, in whatever suite."""
    return sha256(f"{question.text}\x1f{question.context}".encode()).hexdigest()[:_ID_LENGTH]


def grade_of(experiment: Experiment, mark: Mark) -> Grade:
    """Give a mark as a grade on the scale where 5 is best; absent where it was spoiled."""
    cell = mark.cell
    item = item_of(experiment.suite.questions[cell.number - 1])
    score = None if mark.raw is None else float(converted(mark.raw, cell.framing))
    return Grade(item, cell.framing, cell.judge, cell.author, score)
