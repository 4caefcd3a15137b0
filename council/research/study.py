"""A study: the same questions under four arms, which anyone can recompute from stored replies.

Values and statistics; `council.research.study_runner` makes the calls and reads them again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from math import floor, fsum, inf

import numpy as np

from council.answers import Call, Reply, Role
from council.bakeoffs.intervals import Interval, share_interval, wilson_interval
from council.bakeoffs.models import Suite
from council.digests import json_digest
from council.errors import ContextOverflowError, GatewayError, UncoveredError
from council.panel import Panel
from council.randomness import shuffle
from council.registry import NO_PLUGINS, Registry

MAX_DRAWS = 50
_PRECISION = 1e-9  # a share of a draw


class Arm(StrEnum):
    """A way to get an answer to each question."""

    BEST = "best"  # the best single member, picked on the other half of the questions
    DRAWS = "draws"  # that member as often as the council's money buys, the most frequent answer
    FUSION = "fusion"  # the members' answers merged by the chairman, without rankings
    COUNCIL = "council"


@dataclass(frozen=True, slots=True)
class Study:
    """What is fixed before the first call.

    `files` are the digests of what people wrote, by name. `contexts` are the members' context
    sizes, and `versions` those of the program and its libraries, when it began.
    """

    name: str
    seed: str
    suite: Suite
    panels: tuple[Panel, ...]
    arms: tuple[Arm, ...]
    cap_micro: int
    question_cap_micro: int
    most_draws: int
    files: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    began: datetime
    contexts: tuple[tuple[str, int | None], ...] = ()
    registry: Registry = field(default=NO_PLUGINS, compare=False, repr=False)

    @property
    def digest(self) -> str:
        """The digest of the study's files."""
        return json_digest(self.files)

    @property
    def numbers(self) -> range:
        """The numbers of its questions, from 1."""
        return range(1, len(self.suite.questions) + 1)

    @property
    def halves(self) -> Mapping[int, int]:
        """The half, 1 or 2, that the seed puts each question in."""
        drawn = shuffle(self.numbers, self.seed, "halves")
        return {number: 1 + (place >= len(drawn) / 2) for place, number in enumerate(drawn)}


# --- Stored calls


class Part(StrEnum):
    """What of a question a call is for."""

    ROUND = "round"
    FUSION = "fusion"
    DRAWS = "draws"


class Fault(StrEnum):
    """Why a call brought no reply."""

    FAILED = "failed"
    TOO_LONG = "too long"  # for the model's context
    REFUSED = "refused"  # by the cap of the question


_ERRORS: Mapping[Fault, type[GatewayError]] = {
    Fault.FAILED: GatewayError,
    Fault.TOO_LONG: ContextOverflowError,
    Fault.REFUSED: UncoveredError,
}


Cell = tuple[str, int]  # a panel's name and a question's number


@dataclass(frozen=True, slots=True)
class Slot:
    """Who was asked, for what."""

    panel: str
    number: int
    part: Part
    role: Role
    seat: str

    @property
    def cell(self) -> Cell:
        """Its panel and question."""
        return self.panel, self.number


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call that was made, with its reply or its fault.

    `prompt` is the start of the digest of what was sent; `micro` is what it counted for the caps.
    """

    slot: Slot
    prompt: str
    reply: Reply | None = None
    fault: Fault | None = None
    why: str = ""
    micro: int = 0

    def outcome(self) -> Reply:
        """Return the reply; raise what its call raised."""
        if self.reply is None:
            raise _ERRORS[self.fault or Fault.FAILED](self.why)
        return self.reply


def prompt_digest(call: Call) -> str:
    """Return sixteen hexadecimal digits, the start of a digest of what a call sends."""
    return json_digest([call.prompt.system, call.prompt.user, call.temperature])[:16]


# --- What came of a question


@dataclass(frozen=True, slots=True)
class Given:
    """One arm's or member's answer to a question.

    `right` is None where there is no answer, which counts as wrong; a cost is None if unknown.
    """

    right: bool | None
    cost_usd: float | None = 0.0

    @property
    def score(self) -> float:
        """1 for a right answer, else 0."""
        return 1.0 if self.right else 0.0


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What a panel made of a question: each member's answer, the standings, the council, fusion.

    `standings` are the members' shares of the points. `calls` are those of the council.
    """

    panel: str
    number: int
    answers: Mapping[str, Given]
    standings: Mapping[str, float | None]
    council: Given
    calls: int
    fusion: Given | None = None


@dataclass(frozen=True, slots=True)
class DrawsResult:
    """A member's draws on a question; `votes` are those for the most frequent answer."""

    seat: str
    asked: int
    answered: int
    votes: int
    given: Given


@dataclass(frozen=True, slots=True)
class Plan:
    """The member that is the best on the other half, by half, and how often each is drawn."""

    picks: Mapping[int, str]
    draws: Mapping[str, int]


def total_usd(costs: Iterable[float | None]) -> float | None:
    """Return the sum, whatever the order; None if a cost is unknown."""
    known = [*costs]
    return None if None in known else fsum(cost for cost in known if cost is not None)


def mean_usd(costs: Iterable[float | None]) -> float | None:
    """Return the mean; None if a cost is unknown, or there is none."""
    known = [*costs]
    total = total_usd(known)
    return None if total is None or not known else total / len(known)


def make_plan(study: Study, panel: Panel, results: Sequence[QuestionResult]) -> Plan:
    """Return each half's best member on the other half, and how many draws the council pays for.

    Of equally good members the cheaper one is picked, then the first in the panel. Draws are the
    council's mean cost over the member's, rounded down; where one of them is unknown or nothing,
    the council's mean number of calls. Grades play no part in their number.
    """
    halves = study.halves
    picks = {
        half: _best_member(panel, [one for one in results if halves[one.number] != half])
        for half in (1, 2)
    }
    council = mean_usd(one.council.cost_usd for one in results)
    calls = fsum(one.calls for one in results) / len(results)
    draws = {}
    for seat in picks.values():
        own = _cost_of(seat, results)
        times = council / own if council and own else calls
        draws[seat] = max(1, min(study.most_draws, floor(times + _PRECISION)))
    return Plan(picks, draws)


def _best_member(panel: Panel, results: Sequence[QuestionResult]) -> str:
    def order(seat: str) -> tuple[float, float]:
        cost = _cost_of(seat, results)
        right = fsum(one.answers[seat].score for one in results)
        return -right, inf if cost is None else cost

    return min((member.key for member in panel.members), key=order)


def _cost_of(seat: str, results: Sequence[QuestionResult]) -> float | None:
    """Return a member's mean cost of an answer; None if unknown, or if it never answered."""
    answers = (one.answers[seat] for one in results)
    return mean_usd(given.cost_usd for given in answers if given.right is not None)


# --- Arms


@dataclass(frozen=True, slots=True)
class ArmLine:
    """An arm on the questions it has: how many right, with Wilson's 95 % interval, and its money.

    `of_council` is its cost over the council's, on the questions that both have.
    """

    arm: Arm
    questions: int
    right: int
    mean: float
    ci: Interval
    cost_usd: float | None
    of_council: float | None


@dataclass(frozen=True, slots=True)
class Gain:
    """The council's mean minus another arm's, paired by question, with its 95 % interval."""

    over: Arm
    questions: int
    right: int
    other_right: int
    mean: float
    ci: Interval


ByArm = Mapping[Arm, Mapping[int, Given]]


def measure_arms(by_arm: ByArm) -> tuple[ArmLine, ...]:
    """Return a line for each arm that has questions."""
    council = by_arm.get(Arm.COUNCIL, {})
    return tuple(_arm_line(arm, given, council) for arm, given in by_arm.items() if given)


def _arm_line(arm: Arm, given: Mapping[int, Given], council: Mapping[int, Given]) -> ArmLine:
    right = sum(one.right is True for one in given.values())
    both = given.keys() & council.keys()
    own, paid = (total_usd(of[n].cost_usd for n in both) for of in (given, council))
    return ArmLine(
        arm=arm,
        questions=len(given),
        right=right,
        mean=right / len(given),
        ci=wilson_interval(right, len(given)),
        cost_usd=mean_usd(one.cost_usd for one in given.values()),
        of_council=own / paid if own is not None and paid else None,
    )


def measure_gains(by_arm: ByArm) -> tuple[Gain, ...]:
    """Return what the council gains over each other arm, on the questions that both have.

    The interval is Student's below thirty questions, else a bootstrap over questions; questions
    that are all alike have the exact one (see `share_interval`).
    """
    gains = []
    council = by_arm.get(Arm.COUNCIL, {})
    for arm, given in by_arm.items():
        both = sorted(given.keys() & council.keys())
        if arm is Arm.COUNCIL or not both:
            continue
        leads = np.array([council[n].score - given[n].score for n in both])
        low, high = share_interval((leads + 1) / 2)
        gains.append(
            Gain(
                over=arm,
                questions=len(both),
                right=sum(council[n].right is True for n in both),
                other_right=sum(given[n].right is True for n in both),
                mean=float(leads.mean()),
                ci=(2 * low - 1, 2 * high - 1),
            )
        )
    return tuple(gains)


def arms_of(
    study: Study,
    plan: Plan | None,
    results: Iterable[QuestionResult],
    draws: Mapping[int, DrawsResult],
) -> ByArm:
    """Return each arm's answers of a panel, by the number of the question."""
    halves, by_arm = study.halves, {arm: dict[int, Given]() for arm in study.arms}
    for one in results:
        given = {Arm.COUNCIL: one.council, Arm.FUSION: one.fusion}
        given[Arm.BEST] = one.answers[plan.picks[halves[one.number]]] if plan else None
        given[Arm.DRAWS] = draws[one.number].given if one.number in draws else None
        for arm, answer in given.items():
            if answer and arm in by_arm:
                by_arm[arm][one.number] = answer
    return by_arm
