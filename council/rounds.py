"""The Round and its artefacts: one question through answers, ballots and synthesis; immutable."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from math import inf
from typing import Any

from council.answers import Absence, Answer, Prompt, Reply, Role
from council.ballots import Ballot, SpoiledBallot
from council.digests import Forgotten
from council.labels import Label, LabelMap, Slate
from council.panel import Panel
from council.places import NOWHERE, Place
from council.tally import Tally

# --- A round: one question through answers, ballots and synthesis; immutable, the unit that is st


class Stage(StrEnum):
    """How far a round has come."""

    OPEN = "open"
    ANSWERED = "answered"
    RANKED = "ranked"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, by whom, where, and what it refers to (`context`, empty for most).

    `reference` is the right answer where judges may read it; members and chairmen never do.
    """

    text: str
    asked_by: str = ""
    context: str = ""
    place: Place = NOWHERE
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Draw:
    """Who hides behind which label and who sees what, drawn once when the answers are in."""

    labels: LabelMap
    slates: tuple[Slate, ...]


class Fallback(StrEnum):
    """What took the place of the first chairman's synthesis."""

    CHAIRMAN = "chairman"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The council's final answer.

    `drawn_on` is empty where the chairman did not say; for the fallback "answer" the text is the
    winning answer as it stands, `chairman` is None and `drawn_on` holds its label.
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
class Closing:
    """The end of a round: seconds from its first call to its end; `failure` says why it failed."""

    seconds: float
    failure: str | None = None


Artefact = Answer | Absence | Draw | Ballot | SpoiledBallot | Tally | Synthesis | Closing


@dataclass(frozen=True, slots=True)
class Round:
    """One question and all that came of it; `forgotten` says since when its texts are gone.

    `bakeoff` is the id of the bake-off it belongs to, "" for a question that somebody asked.
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
    forgotten: Forgotten | None = None
    bakeoff: str = ""

    @property
    def stage(self) -> Stage:
        """How far the round has come."""
        if self.closing:
            return Stage.CLOSED
        if self.tally:
            return Stage.RANKED
        return Stage.ANSWERED if self.draw else Stage.OPEN

    @property
    def replies(self) -> tuple[Reply, ...]:
        """Every reply the round paid for, counted or not."""
        papers = [ballot.paper for ballot in self.ballots if ballot.paper]
        papers += [spoiled.paper for spoiled in self.spoiled]
        chair = [self.synthesis.reply] if self.synthesis and self.synthesis.reply else []
        return (*(a.reply for a in self.answers), *(paper.reply for paper in papers), *chair)

    def absence(self, member: str, role: Role) -> Absence | None:
        """Give why a seat has nothing for this role, or None if it has, or may still."""
        return next((a for a in self.absences if (a.member, a.role) == (member, role)), None)

    def with_(self, artefact: Artefact) -> "Round":
        """Give the round with one more artefact."""
        field, *many = _HOMES[type(artefact)]
        change: dict[str, Any] = {field: (*getattr(self, field), artefact) if many else artefact}
        return replace(self, **change)


# Where each artefact lives; the second word marks what a round holds many of.
_HOMES: dict[type, tuple[str, ...]] = {
    Answer: ("answers", "many"),
    Absence: ("absences", "many"),
    Ballot: ("ballots", "many"),
    SpoiledBallot: ("spoiled", "many"),
    Draw: ("draw",),
    Tally: ("tally",),
    Synthesis: ("synthesis",),
    Closing: ("closing",),
}


def in_panel_order(round_: Round) -> Round:
    """Give the round with its parts in panel order, whatever order they arrived in."""
    seats = dict.fromkeys((*round_.panel.judges, *round_.panel.chairmen))
    order = {seat.key: i for i, seat in enumerate(seats)}

    def place(seat: str) -> int:
        return order.get(seat, len(order))

    return replace(
        round_,
        answers=tuple(sorted(round_.answers, key=lambda a: place(a.member))),
        absences=tuple(sorted(round_.absences, key=lambda a: (place(a.member), a.role))),
        ballots=tuple(sorted(round_.ballots, key=lambda b: (place(b.judge), b.audit or ""))),
        spoiled=tuple(sorted(round_.spoiled, key=lambda s: (place(s.judge), s.paper.attempt))),
    )


# --- Which answer stands for the first place where one has to be chosen.


def winning_labels(tally: Tally) -> tuple[Label, ...]:
    """Give every label in first place: several in a tie, none where nothing was counted."""
    return tuple(line.label for line in tally.standings if line.place == 1)


def winning_answer(round_: Round, draw: Draw, tally: Tally) -> Answer:
    """Give the answer in first place; in a tie, or without standings, the cheapest, then quickest.

    An unknown cost comes last. The tie itself is said wherever the answer is shown.
    """
    first = {draw.labels.author_of(label) for label in winning_labels(tally)}
    running = [a for a in round_.answers if a.member in first] or list(round_.answers)
    return min(running, key=_price)


def _price(answer: Answer) -> tuple[float, float]:
    cost = answer.reply.cost_usd
    return (inf if cost is None else cost, answer.reply.seconds)
