"""The Round, an immutable value, and its artefacts from the question to the closing."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import inf
from typing import Any

from council.answers import Absence, Answer, Exchange, LateReply, Prompt, Reply, Role
from council.ballots import FIRST_VERSION, SECOND_VERSION, Ballot, SpoiledBallot
from council.digests import Erasure
from council.files import QuestionFile
from council.labels import Label, LabelMap, Slate
from council.money import sum_or_none
from council.panel import IF_SET, Panel
from council.people import ThreadReading
from council.places import NOWHERE, Place
from council.registry import NO_PLUGINS, Registry
from council.tally import Tally

REVISION = "revision"  # the kind of exchange that takes the place of a seat's answer
COMMENTS = "critique", "review"  # the kinds of exchanges that lead to revisions


class Stage(StrEnum):
    """How far a round has progressed."""

    OPEN = "open"
    ANSWERED = "answered"
    RANKED = "ranked"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, by whom and where; judges read the `reference`, or grade by the `rubric`.

    Its `instructions` bind who answers, as the system message of a program does.
    """

    text: str
    asked_by: str = ""
    context: str = ""
    place: Place = NOWHERE
    reference: str = ""
    files: tuple[QuestionFile, ...] = field(default=(), metadata=IF_SET)
    rubric: str = field(default="", metadata=IF_SET)
    instructions: str = field(default="", metadata=IF_SET)
    answer_schema: str = field(default="", metadata=IF_SET)  # what the answer must fit, as JSON
    # The rounds whose texts it may repeat, with theirs; None if it is older than this field.
    quotes: tuple[str, ...] | None = field(
        default=None, metadata={"exclude_if": lambda quotes: quotes is None}
    )
    # What it read of its thread; never sealed, since forgetting erases the names in it.
    reading: ThreadReading | None = field(default=None, metadata={"exclude_if": lambda _: True})

    @property
    def kept_files(self) -> tuple[QuestionFile, ...]:
        """Its files without those that were erased."""
        return tuple(file for file in self.files if file.text or file.data)

    @property
    def images(self) -> tuple[QuestionFile, ...]:
        """Its files that only models with vision can take in."""
        return tuple(file for file in self.kept_files if file.is_image)


@dataclass(frozen=True, slots=True)
class Draw:
    """The authors' labels and the judges' slates, drawn once when all answers are in."""

    labels: LabelMap
    slates: tuple[Slate, ...]


class Fallback(StrEnum):
    """What replaced the first chairman's synthesis."""

    CHAIRMAN = "chairman"
    ANSWER = "answer"
    DEMONSTRATION = "demonstration"  # no chairman was asked


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The council's final answer.

    `drawn_on` are the labels of the answers it used, empty if the chairman named none. For the
    fallbacks "answer" and "demonstration", the text is the winning answer, `chairman` is None, and
    `drawn_on` holds its label. `departs` means it contradicts the first place, for the reason in
    `why`.
    """

    text: str
    chairman: str | None
    fallback: Fallback | None = None
    drawn_on: tuple[Label, ...] = ()
    departs: bool = False
    why: str | None = None
    prompt: Prompt | None = None
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The position that a person chose for a disputed point, both in the words of the map."""

    point: str
    says: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided on disputed points, and what a chairman then wrote.

    It comes after the closing. `key` is that of the event that brought it.
    """

    key: str
    by: str
    at: datetime
    choices: tuple[Choice, ...]
    synthesis: Synthesis


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of a round: its duration, and why it failed if it did."""

    seconds: float
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class StandIn:
    """A fallback took the seat of a member that could not be reached: the panel from now on."""

    panel: Panel


@dataclass(frozen=True, slots=True)
class AnswerFindings:
    """What was found in a stored answer: see Answer."""

    member: str
    scrubbed: tuple[str, ...]
    suspicions: tuple[str, ...]


Artefact = (
    Answer
    | AnswerFindings
    | Absence
    | LateReply
    | Exchange
    | StandIn
    | Draw
    | Ballot
    | SpoiledBallot
    | Tally
    | Synthesis
    | Closing
)


@dataclass(frozen=True, slots=True)
class Round:
    """One question with its panel and all its artefacts so far.

    `versions` are those of the program and its libraries. `forgotten` is set once the texts are
    erased, `redacted` once those are that it quotes of a forgotten round. `bakeoff` is the id of
    its bake-off, "" for a person's question. Replies in `late` may come after the closing, so no
    seal covers them. `exchanges` are of its method and grader. `decisions` come after the closing,
    each with a seal of its own. `registry` has the rules that it does not store; whatever makes or
    loads a round sets it.
    """

    id: str
    question: Question
    panel: Panel
    seed: str
    asked_at: datetime
    versions: tuple[tuple[str, str], ...] = ()
    answers: tuple[Answer, ...] = ()
    absences: tuple[Absence, ...] = ()
    draw: Draw | None = None
    ballots: tuple[Ballot, ...] = ()
    spoiled: tuple[SpoiledBallot, ...] = ()
    tally: Tally | None = None
    synthesis: Synthesis | None = None
    closing: Closing | None = None
    forgotten: Erasure | None = None
    bakeoff: str = ""
    late: tuple[LateReply, ...] = field(default=(), metadata=IF_SET)
    exchanges: tuple[Exchange, ...] = field(default=(), metadata=IF_SET)
    redacted: Erasure | None = field(default=None, metadata=IF_SET)
    decisions: tuple[Decision, ...] = field(default=(), metadata=IF_SET)
    registry: Registry = field(
        default=NO_PLUGINS, compare=False, repr=False, metadata={"exclude": True}
    )

    @property
    def stage(self) -> Stage:
        """How far the round has progressed."""
        if self.closing:
            return Stage.CLOSED
        if self.tally:
            return Stage.RANKED
        return Stage.ANSWERED if self.draw else Stage.OPEN

    @property
    def revised(self) -> tuple[Answer, ...]:
        """The answers as they stand: a member's revision, if its method asked for one and it came.

        What was found in the draft, such as masked names, stays noted.
        """
        revisions = {x.seat: x for x in self.exchanges if x.kind == REVISION and not x.fault}
        return tuple(
            replace(
                answer, prompt=revisions[answer.member].prompt, reply=revisions[answer.member].reply
            )
            if answer.member in revisions
            else answer
            for answer in self.answers
        )

    @property
    def syntheses(self) -> tuple[Synthesis, ...]:
        """The council's answers, oldest first: the chairman's, then one for each own decision."""
        decided = (one.synthesis for one in self.decisions if self.is_own(one))
        return (self.synthesis, *decided) if self.synthesis else ()

    @property
    def final(self) -> Synthesis | None:
        """The council's answer as it stands: after the asker's last decision, if there is one."""
        return self.syntheses[-1] if self.synthesis else None

    def is_own(self, decision: Decision) -> bool:
        """Return whether the asker decided; the decision of anybody else replaces nothing."""
        return decision.by == self.question.asked_by

    @property
    def replies(self) -> tuple[Reply, ...]:
        """Every reply the round paid for, including late ones, spoiled and audit ballots."""
        replies = [answer.reply for answer in self.answers if answer.origin is None]
        replies += [ballot.paper.reply for ballot in self.ballots if ballot.paper]
        replies += [spoiled.paper.reply for spoiled in self.spoiled]
        replies += [late.reply for late in self.late]
        replies += [exchange.reply for exchange in self.exchanges]
        written = (self.synthesis, *(decision.synthesis for decision in self.decisions))
        replies += [one.reply for one in written if one and one.reply]
        return tuple(replies)

    @property
    def cost_usd(self) -> float | None:
        """What its replies cost; None if any cost is unknown, or none came."""
        return sum_or_none(reply.cost_usd for reply in self.replies)

    def absence(self, member: str, role: Role) -> Absence | None:
        """Return a seat's absence in this role; None if it delivered, or still may."""
        return next((a for a in self.absences if (a.member, a.role) == (member, role)), None)

    def with_(self, artefact: Artefact) -> "Round":
        """Return the round with one more artefact; of a seat's absences in a role, the first."""
        if isinstance(artefact, StandIn):
            return replace(self, panel=artefact.panel)
        if isinstance(artefact, Absence) and self.absence(artefact.member, artefact.role):
            return self
        if isinstance(artefact, AnswerFindings):
            answers = (
                replace(answer, scrubbed=artefact.scrubbed, suspicions=artefact.suspicions)
                if answer.member == artefact.member
                else answer
                for answer in self.answers
            )
            return replace(self, answers=tuple(answers))
        field = _FIELDS[type(artefact)]
        before = getattr(self, field)
        change: dict[str, Any] = {
            field: (*before, artefact) if isinstance(before, tuple) else artefact
        }
        return replace(self, **change)


_FIELDS: dict[type, str] = {
    Answer: "answers",
    Absence: "absences",
    LateReply: "late",
    Exchange: "exchanges",
    Ballot: "ballots",
    SpoiledBallot: "spoiled",
    Draw: "draw",
    Tally: "tally",
    Synthesis: "synthesis",
    Closing: "closing",
}


def sort_by_panel(round_: Round) -> Round:
    """Return the round with its parts in panel order instead of order of arrival."""
    panel = round_.panel
    seats = dict.fromkeys((*panel.members, *panel.outside_judges, *panel.chairmen))
    order = {seat.key: i for i, seat in enumerate(seats)}

    def place(seat: str) -> int:
        return order.get(seat, len(order))

    def turn(cast: Ballot | SpoiledBallot) -> tuple[int, int]:
        return place(cast.judge), cast.pass_number

    return replace(
        round_,
        answers=tuple(sorted(round_.answers, key=lambda a: place(a.member))),
        absences=tuple(sorted(round_.absences, key=lambda a: (place(a.member), a.role))),
        late=tuple(sorted(round_.late, key=lambda x: (place(x.member), x.role, x.pass_number))),
        exchanges=tuple(
            sorted(round_.exchanges, key=lambda x: (x.kind, place(x.seat), x.subject, x.attempt))
        ),
        ballots=tuple(sorted(round_.ballots, key=lambda b: (*turn(b), b.audit or ""))),
        spoiled=tuple(sorted(round_.spoiled, key=lambda s: (*turn(s), s.paper.attempt))),
    )


def ballot_version(round_: Round) -> str:
    """Return the version of the rules by which the round's ballots are read."""
    # Rounds from before there were versions are under the first.
    return dict(round_.versions).get("ballots", FIRST_VERSION)


def reply_version(round_: Round) -> str:
    """Return the version of the rules by which the round's grades and suspects are read."""
    version = ballot_version(round_)
    return SECOND_VERSION if version == FIRST_VERSION else version


def winning_answer(round_: Round, draw: Draw, tally: Tally) -> Answer:
    """Return the first answer; of several, the cheapest (unknown is highest), then the quickest."""
    winners = {draw.labels.author_of(line.label) for line in tally.standings if line.place == 1}
    answers = round_.revised
    candidates = [a for a in answers if a.member in winners] or answers

    def cost_and_seconds(answer: Answer) -> tuple[float, float]:
        cost = answer.reply.cost_usd
        return (inf if cost is None else cost, answer.reply.seconds)

    return min(candidates, key=cost_and_seconds)
