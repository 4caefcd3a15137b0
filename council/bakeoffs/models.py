"""Domain models of bake-offs: suites, references, bake-offs, schedules, progress, estimates."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from council.errors import SuiteError
from council.money import Spending
from council.panel import IF_SET, Panel
from council.places import Place
from council.randomness import shuffle

VERSION_LENGTH = 12


class Grading(StrEnum):
    """The built-in ways to grade an answer: by code against a reference, or by outside judges."""

    EXACT = "exact"
    NUMBER = "number"
    CHOICE = "choice"
    REGEX = "regex"
    CONTAINS = "contains"
    JSON = "json"
    JUDGE = "judge"  # the reference is a rubric: see council.rubric_grader
    MISSING = "missing"  # a part of the grader was not imported, which the reference names


@dataclass(frozen=True, slots=True)
class Reference:
    """The known right answer; `tolerance` is absolute and applies to numbers only.

    `grading` is a Grading, or the name of a plug-in's grader: see council.bakeoffs.graders.
    `checks` says how many checks of another tool it stands for: "2 of 5"; "" for all. `others` are
    as right as `value`.
    """

    grading: str
    value: str
    tolerance: float = 0.0
    checks: str = field(default="", metadata=IF_SET)
    others: tuple[str, ...] = field(default=(), metadata=IF_SET)

    @property
    def values(self) -> tuple[str, ...]:
        """Every right answer."""
        return (self.value, *self.others)

    def closest(self, text: str) -> str:
        """Return the right answer whose length is closest to a text's; of equal ones, the first.

        Where likeness is graded, an answer is neither better nor worse for its length.
        """
        return min(self.values, key=lambda value: abs(len(value) - len(text)))


@dataclass(frozen=True, slots=True)
class SuiteQuestion:
    """One question of a suite; a bake-off of several methods asks it under each `method`."""

    text: str
    category: str = ""
    reference: Reference | None = None
    context: str = ""
    method: str = field(default="", metadata=IF_SET)

    @property
    def is_graded(self) -> bool:
        """Whether its answers get a grade: it has a grader, and all that was asked for of it."""
        return self.reference is not None and self.reference.grading != Grading.MISSING

    @property
    def checks(self) -> str:
        """How many of its checks were imported: "2 of 5"; "" for all."""
        return self.reference.checks if self.reference else ""

    @property
    def rubric(self) -> str:
        """What judges grade its answers by; "" if they do not."""
        reference = self.reference
        return reference.value if reference and reference.grading == Grading.JUDGE else ""

    @property
    def known_answer(self) -> str:
        """The right answer as the panel's judges may read it; "" without one."""
        if self.reference is None or self.rubric or not self.is_graded:
            return ""
        tolerance = self.reference.tolerance
        off = f" (give or take {tolerance:g})" if tolerance else ""
        return f"{' | '.join(self.reference.values)}{off}"


@dataclass(frozen=True, slots=True)
class Suite:
    """A named list of questions; `scope` is the workspace that owns it, "" for all.

    `method` is that of its bake-offs, "" for the usual one.
    """

    name: str
    questions: tuple[SuiteQuestion, ...]
    judges_see_references: bool = False
    scope: str = ""
    method: str = field(default="", metadata=IF_SET)

    @property
    def version(self) -> str:
        """Twelve hexadecimal digits, a hash of the questions and of how they are asked."""
        content = [[*map(_content, self.questions)], self.judges_see_references]
        content += [self.method] if self.method else []
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return sha256(text.encode()).hexdigest()[:VERSION_LENGTH]

    @property
    def is_graded(self) -> bool:
        """Whether any of its questions gets a grade."""
        return any(question.is_graded for question in self.questions)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods under which every question is asked; none for the panel's own."""
        return tuple(dict.fromkeys(one.method for one in self.questions if one.method))

    def under(self, methods: Sequence[str]) -> "Suite":
        """Return the suite with each question once for each method, next to each other."""
        asked = (replace(one, method=method) for one in self.questions for method in methods)
        return replace(self, questions=tuple(asked))

    @property
    def as_stored(self) -> "Suite":
        """The suite without methods, each question once."""
        every = max(1, len(self.methods))
        questions = (replace(one, method="") for one in self.questions[::every])
        return replace(self, questions=tuple(questions))

    def check_graders(self, panel: Panel) -> None:
        """Raise SuiteError for a panel that cannot grade one of the questions."""
        rubrics = sum(question.rubric != "" for question in self.questions)
        outside, chairman = panel.outside_judges, panel.chair_order[0]
        if not rubrics or any(judge.key != chairman.key for judge in outside):
            return
        why = (
            f". The only one of panel {panel.name!r}, {chairman.display}, also writes the "
            "council's answer, so nobody could grade that. Add another outside judge, or choose "
            "another chairman."
            if outside
            else f", and panel {panel.name!r} has none. Add models that are not its members as its "
            "outside_judges, or choose another panel."
        )
        raise SuiteError(
            f"Suite {self.name} has {rubrics} question{'s' * (rubrics > 1)} that outside judges "
            f"grade{why}"
        )


def _content(question: SuiteQuestion) -> dict[str, object]:
    content = asdict(question)
    # The version of a suite from before there were methods and checks stays.
    if not question.method:
        del content["method"]
    for name in ("checks", "others") if question.reference else ():
        if not content["reference"][name]:
            del content["reference"][name]
    return content


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a bake-off; `failure` says why it ended before its last question."""

    at: datetime
    failure: str | None = None


def with_method(panel: Panel, method: str) -> Panel:
    """Return the panel under a method, or its own for ""."""
    return replace(panel, terms=replace(panel.terms, method=method)) if method else panel


_SCHEDULED = "sched:"  # how the id of a scheduled run begins


@dataclass(frozen=True, slots=True)
class Bakeoff:
    """One run of a suite by a panel, as one round per question.

    The id of a scheduled bake-off is `sched:<schedule>@<slot>`. `cap_micro` is the most it may
    spend, in micro-dollars. It reports in `place`, and its rounds count as asked there.
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

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the questions to ask, in their order.

        A trial by grades asks only graded questions, and a trial draws the order, since its first
        questions decide whether the others are asked.
        """
        numbers = range(1, len(self.suite.questions) + 1)
        if not (trial := self.panel.trial):
            return tuple(numbers)
        asked = (x for x in numbers if trial.is_ranked or self.suite.questions[x - 1].is_graded)
        return shuffle([*asked], self.id, "trial")

    @property
    def typed_name(self) -> str:
        """What people type for it: its id, or the suite of a scheduled run, which has a long id."""
        return self.suite.name if self.id.startswith(_SCHEDULED) else self.id

    def round_id(self, number: int) -> str:
        """Return the id of the round of a question, counted from 1."""
        return f"{self.id}.{number}"

    def panel_of(self, number: int) -> Panel:
        """Return the panel that is asked a question, under the question's method."""
        method = self.suite.questions[number - 1].method
        return with_method(self.panel, method)

    def seed(self, number: int) -> str:
        """Return the seed of that round; it follows from the id, so that nobody can choose it."""
        return f"{self.id} {number}"


def split_round_id(round_id: str) -> tuple[str, int]:
    """Return the bake-off's id and the question's number that a round's id contains."""
    bakeoff, _, number = round_id.rpartition(".")
    return bakeoff, int(number)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A recurring bake-off.

    `cron` is a standard cron expression in the time zone `zone`; `words` is what the person typed.
    A slot is a wall-clock minute of the zone, such as `2026-11-23T09:00`. `last_slot` is the newest
    slot taken, or the minute from which slots count: when the schedule was created, resumed or
    given another time. `subscribers` are mentioned when something changed.
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
        """Return the id of the bake-off of a slot; the same slot always has the same id."""
        return f"{_SCHEDULED}{self.id}@{slot}"


def slot_at(moment: datetime) -> str:
    """Return the slot of a moment in its own zone; an hour that occurs twice has its slots once."""
    return f"{moment:%Y-%m-%dT%H:%M}"


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question that got no answer, by its number in the suite, and the reason."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class BakeoffProgress:
    """How far a bake-off is.

    `over` questions have finished, including the `failed` ones; `spent_micro` is what they cost in
    micro-dollars, without the `unknown_calls`, whose cost is unknown. `seconds_left` is None while
    it cannot be estimated. `changed` is the newest version of the suite if it differs from the
    bake-off's, else "". `stored` rounds were started.
    """

    bakeoff: Bakeoff
    over: int = 0
    failed: tuple[FailedQuestion, ...] = ()
    under_way: int = 0
    spent_micro: int = 0
    seconds_left: float | None = None
    changed: str = ""
    stored: int = 0
    unknown_calls: int = 0

    @property
    def spending(self) -> Spending:
        """What it has cost so far."""
        return Spending(self.spent_micro, self.unknown_calls)

    @property
    def questions(self) -> int:
        """How many questions there are to ask."""
        return len(self.bakeoff.numbers)

    @property
    def waiting(self) -> int:
        """How many questions are still to be asked."""
        return self.questions - self.over - self.under_way

    @property
    def is_queued(self) -> bool:
        """Whether any of its rounds is stored."""
        return self.stored > 0

    @property
    def is_complete(self) -> bool:
        """Whether every question has finished, or a trial ended with its answer."""
        ending = self.bakeoff.ending
        has_answer = self.bakeoff.panel.trial and ending and not ending.failure
        return self.over == self.questions or bool(has_answer)

    def ended(self, ending: Ending) -> "BakeoffProgress":
        """Return a copy with this ending."""
        bakeoff = replace(self.bakeoff, ending=ending)
        return replace(self, bakeoff=bakeoff, under_way=0, seconds_left=None)


@dataclass(frozen=True, slots=True)
class BakeoffEstimate:
    """What a bake-off may cost, by seats without a price, and how long it usually takes.

    `usual_micro` is what earlier runs suggest; None if there were none, or a cost is unknown.
    `extra_micro` is how much of it is for ranking in both orders instead of one.
    """

    micro: int
    unknown: tuple[str, ...] = ()
    seconds: float | None = None
    usual_micro: int | None = None
    extra_micro: int = 0
