"""Domain models of the bias experiment: a suite answered and graded by the members of a panel."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Protocol

from council.answers import Reply
from council.bakeoffs.models import Suite, SuiteQuestion
from council.money import Spending
from council.panel import Member, Panel
from council.research.grades import Framing, Grade, normalize_grade
from council.rounds import Question

MAX_ATTEMPTS = 2  # a reply without a grade is asked for once more
_ID_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Experiment:
    """A suite answered by the members of a panel, who then grade each other and themselves.

    `cap_micro` is the most it may spend, in micro-dollars; `versions` are those of programs and
    prompts.
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
        """The number of answers and grades to ask for, if no call fails."""
        members, questions = len(self.panel.members), len(self.suite.questions)
        return questions * members * (1 + members * len(Framing))

    def question(self, number: int) -> Question:
        """Return a question, counted from 1; with its reference if the judges see references."""
        question = self.suite.questions[number - 1]
        reference = ""
        if self.suite.judges_see_references and question.reference and question.is_graded:
            reference = question.reference.value
        return Question(question.text, context=question.context, reference=reference)


@dataclass(frozen=True, slots=True)
class ExperimentAnswer:
    """A member's answer to a question, counted from 1."""

    number: int
    member: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class GradeRequest:
    """One grade to ask a judge for: an author's answer to a question, in a framing."""

    number: int
    author: str
    framing: Framing
    judge: str


@dataclass(frozen=True, slots=True)
class GradeReply:
    """A judge's reply; `raw` is the grade as written, None if the reply is spoiled by `fault`."""

    cell: GradeRequest
    reply: Reply
    raw: int | None
    fault: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class ExperimentState:
    """The answers and grades an experiment has so far."""

    answers: Sequence[ExperimentAnswer] = ()
    replies: Sequence[GradeReply] = ()


def restrict_to_members(panel: Panel) -> Panel:
    """Return a panel of members alone: in an experiment only they judge, and nobody writes."""
    return replace(panel, outside_judges=(), chairmen=(), filter=None)


def item_id(question: SuiteQuestion) -> str:
    """Return a question's id, which is the same for the same text and context in any suite."""
    return sha256(f"{question.text}\x1f{question.context}".encode()).hexdigest()[:_ID_LENGTH]


def grade_of(experiment: Experiment, reply: GradeReply) -> Grade:
    """Return a reply as a grade on the scale where 5 is best; without a score if it was spoiled."""
    request = reply.cell
    item = item_id(experiment.suite.questions[request.number - 1])
    score = None if reply.raw is None else float(normalize_grade(reply.raw, request.framing))
    return Grade(item, request.framing, request.judge, request.author, score)


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question to ask a member."""

    number: int
    member: Member


def missing_answers(experiment: Experiment, state: ExperimentState) -> Iterator[AnswerRequest]:
    """Yield every question that a member has not answered, in the suite's order."""
    answered = {(answer.number, answer.member) for answer in state.answers}
    for number in range(1, len(experiment.suite.questions) + 1):
        for member in experiment.panel.members:
            if (number, member.key) not in answered:
                yield AnswerRequest(number, member)


def grade_requests(experiment: Experiment, answer: ExperimentAnswer) -> Iterator[GradeRequest]:
    """Yield every grade to ask for an answer, judge after judge."""
    for framing in Framing:
        for judge in experiment.panel.members:
            yield GradeRequest(answer.number, answer.member, framing, judge.key)


def missing_grades(experiment: Experiment, state: ExperimentState) -> Iterator[GradeRequest]:
    """Yield every grade still to ask for, of the answers that exist."""
    replies = last_replies(state)
    for answer in sorted(state.answers, key=lambda answer: answer.number):
        for request in grade_requests(experiment, answer):
            if request not in replies or not is_settled(replies[request]):
                yield request


def last_replies(state: ExperimentState) -> Mapping[GradeRequest, GradeReply]:
    """Return the last reply of each judge by request."""
    return {reply.cell: reply for reply in sorted(state.replies, key=lambda reply: reply.attempt)}


def is_settled(reply: GradeReply) -> bool:
    """Return whether no further attempt is made."""
    return reply.raw is not None or reply.attempt >= MAX_ATTEMPTS


def finished_calls(state: ExperimentState) -> int:
    """Return how many answers and grades need not be asked for any more."""
    return len(state.answers) + sum(map(is_settled, last_replies(state).values()))


def is_complete(experiment: Experiment, state: ExperimentState) -> bool:
    """Return whether every answer and every grade exists or was spoiled for good."""
    has_all_answers = not any(True for _ in missing_answers(experiment, state))
    return has_all_answers and not any(True for _ in missing_grades(experiment, state))


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call that failed; `why` is a phrase that follows the seat's name."""

    seat: str
    why: str


@dataclass(frozen=True, slots=True)
class ExperimentProgress:
    """How far an experiment is: `over` of all its calls have finished, including the failed ones.

    The grades of an answer that failed count as finished. `spoiled` grades were given up on;
    `failures` counts each kind of failure, the most frequent first. `seconds_left` is None while it
    cannot be estimated; `blocked` says why it stopped before its end.
    """

    experiment: Experiment
    over: int = 0
    answers: int = 0
    grades: int = 0
    spoiled: int = 0
    failures: tuple[tuple[FailedCall, int], ...] = ()
    spending: Spending = field(default_factory=Spending)
    seconds_left: float | None = None
    blocked: str | None = None

    @property
    def failed(self) -> int:
        """The number of calls that failed."""
        return sum(times for _, times in self.failures)


def experiment_progress(
    experiment: Experiment, state: ExperimentState, spending: Spending
) -> ExperimentProgress:
    """Return the progress of an experiment with this state."""
    settled = [reply for reply in last_replies(state).values() if is_settled(reply)]
    spoiled = sum(reply.raw is None for reply in settled)
    return ExperimentProgress(
        experiment,
        finished_calls(state),
        answers=len(state.answers),
        grades=len(settled) - spoiled,
        spoiled=spoiled,
        spending=spending,
    )


class ExperimentStore(Protocol):
    """Stores experiments, with every answer and every grade as soon as it exists.

    Each call is one transaction and may raise StoreError.
    """

    async def open(self, experiment: Experiment) -> bool:
        """Store a new experiment and its suite's version; return False if the id exists already."""
        ...

    async def limit(self, experiment_id: str, cap_micro: int | None) -> None:
        """Set what an experiment may spend at most, in micro-dollars; None removes the cap."""
        ...

    async def list_recent(self) -> tuple[Experiment, ...]:
        """Return every experiment, newest first; unreadable ones are left out."""
        ...

    async def load_state(self, experiment_id: str) -> ExperimentState:
        """Return the state of an experiment. Raise StoreError if a row cannot be read."""
        ...

    async def save(self, experiment_id: str, part: ExperimentAnswer | GradeReply) -> None:
        """Store an answer or a grade; storing the same one again keeps the first."""
        ...
