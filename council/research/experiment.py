"""An experiment and what it comes to: answers, and marks given to them. Values only."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Protocol

from council.answers import Reply
from council.bakeoffs.models import Suite, SuiteQuestion
from council.panel import Member, Panel
from council.research.grades import Framing, Grade, converted
from council.rounds import Question

# --- An experiment and what it comes to: answers, and marks given to them. Values only.

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
class ExperimentAnswer:
    """What a member answered to a question, counted from 1."""

    number: int
    member: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class GradeRequest:
    """One grade to ask for: of a judge, in a framing, for what an author answered."""

    number: int
    author: str
    framing: Framing
    judge: str


@dataclass(frozen=True, slots=True)
class GradeReply:
    """What a judge replied; `raw` is the grade as it wrote it, None where `fault` spoils it."""

    cell: GradeRequest
    reply: Reply
    raw: int | None
    fault: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class ExperimentState:
    """What there is of an experiment."""

    job_queue: Sequence[ExperimentAnswer] = ()
    marks: Sequence[GradeReply] = ()


def members_alone(panel: Panel) -> Panel:
    """Give a panel as it sits in an experiment: nobody judges who does not answer."""
    return replace(panel, outside_judges=(), chairmen=())


def item_of(question: SuiteQuestion) -> str:
    """Give a question's id: the same for the same text and context, in whatever suite."""
    return sha256(f"{question.text}\x1f{question.context}".encode()).hexdigest()[:_ID_LENGTH]


def grade_of(experiment: Experiment, mark: GradeReply) -> Grade:
    """Give a mark as a grade on the scale where 5 is best; absent where it was spoiled."""
    cell = mark.cell
    item = item_of(experiment.suite.questions[cell.number - 1])
    score = None if mark.raw is None else float(converted(mark.raw, cell.framing))
    return Grade(item, cell.framing, cell.judge, cell.author, score)


# --- What is left to do of an experiment: whatever has no row yet.


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question to put to a member."""

    number: int
    member: Member


def answers_left(experiment: Experiment, held: ExperimentState) -> Iterator[AnswerRequest]:
    """Give every question that a member has not answered, in the suite's order."""
    there = {(work.number, work.member) for work in held.job_queue}
    for number in range(1, len(experiment.suite.questions) + 1):
        for member in experiment.panel.members:
            if (number, member.key) not in there:
                yield AnswerRequest(number, member)


def cells_of(experiment: Experiment, work: ExperimentAnswer) -> Iterator[GradeRequest]:
    """Give every grade there is to ask for an answer; judges take turns, so that none waits."""
    for framing in Framing:
        for judge in experiment.panel.members:
            yield GradeRequest(work.number, work.member, framing, judge.key)


def cells_left(experiment: Experiment, held: ExperimentState) -> Iterator[GradeRequest]:
    """Give every grade that is still to be asked for, of answers that are there."""
    last = last_marks(held)
    for work in sorted(held.job_queue, key=lambda work: work.number):
        for cell in cells_of(experiment, work):
            if cell not in last or not is_settled(last[cell]):
                yield cell


def last_marks(held: ExperimentState) -> Mapping[GradeRequest, GradeReply]:
    """Give the last that each judge replied, by what it was asked."""
    return {mark.cell: mark for mark in sorted(held.marks, key=lambda mark: mark.attempt)}


def is_settled(mark: GradeReply) -> bool:
    """Say whether nothing more is asked of the judge."""
    return mark.raw is not None or mark.attempt >= ATTEMPTS


def over(held: ExperimentState) -> int:
    """Give how many answers and grades need not be asked for any more."""
    return len(held.job_queue) + sum(map(is_settled, last_marks(held).values()))


def is_whole(experiment: Experiment, held: ExperimentState) -> bool:
    """Say whether every answer and every grade was given or spoiled for good."""
    whole = not any(True for _ in answers_left(experiment, held))
    return whole and not any(True for _ in cells_left(experiment, held))


# --- How far an experiment is, for whoever watches it.


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call that brought nothing; `why` reads on after the seat's name."""

    seat: str
    why: str


@dataclass(frozen=True, slots=True)
class Progress:
    """An experiment as it stands: of all its calls so many are over, the failed ones among them.

    Without an answer its grades are over too. `spoiled` are grades that were given up on;
    `failures` says how often each way of failing was met, the most frequent first. `seconds_left`
    is None as long as nothing tells, and `blocked` says what keeps it from its end.
    """

    experiment: Experiment
    over: int = 0
    answers: int = 0
    grades: int = 0
    spoiled: int = 0
    failures: tuple[tuple[FailedCall, int], ...] = ()
    spent_micro: int = 0
    seconds_left: float | None = None
    blocked: str | None = None

    @property
    def failed(self) -> int:
        """How many calls failed."""
        return sum(times for _, times in self.failures)


def standing(experiment: Experiment, held: ExperimentState, spent_micro: int) -> Progress:
    """Give how an experiment stands of which so much is held, whoever carries it."""
    settled = [mark for mark in last_marks(held).values() if is_settled(mark)]
    spoiled = sum(mark.raw is None for mark in settled)
    return Progress(
        experiment,
        over(held),
        answers=len(held.job_queue),
        grades=len(settled) - spoiled,
        spoiled=spoiled,
        spent_micro=spent_micro,
    )


# --- Where experiments are kept, as a protocol. Each call is one transaction; StoreError.


class ExperimentStore(Protocol):
    """Where experiments are kept, with every answer and every mark the moment it exists."""

    async def open(self, experiment: Experiment) -> bool:
        """Keep a new experiment and its suite's version; False if its id is kept already."""
        ...

    async def limit(self, experiment_id: str, cap_micro: int | None) -> None:
        """Have an experiment spend so much at most, in micro-dollars; None is no cap."""
        ...

    async def recent(self) -> tuple[Experiment, ...]:
        """Give every experiment, newest first; one that cannot be read is left out."""
        ...

    async def held(self, experiment_id: str) -> ExperimentState:
        """Give what there is of an experiment; StoreError names what none can hold."""
        ...

    async def save(self, experiment_id: str, part: ExperimentAnswer | GradeReply) -> None:
        """Keep an answer or a mark; the same one twice is kept once, the first."""
        ...
