"""Measure whether the council is worth its cost: more often right than its best member?"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, isnan

import numpy as np

from council.bakeoffs.changes import rounds_by_run
from council.bakeoffs.grade_comparison import MIN_GRADED, question_numbers
from council.bakeoffs.intervals import Interval, share_interval, wilson_interval
from council.bakeoffs.leaderboard import known_values, mean_or_none
from council.bakeoffs.record_arrays import PRECISION, Columns, Floats, Indexes
from council.bakeoffs.records import AUTHOR_FIELDS
from council.feedback import HumanVote
from council.tally.distributions import LEVEL

COUNCIL, WINNER = "Council", "Winner"
MIN_GAIN = 0.05  # of accuracy; a smaller gain is not worth paying for


class Payoff(StrEnum):
    """The verdict on one way to get an answer."""

    WORTH_IT = "more accurate than any one model"
    NOT_WORTH_IT = "not worth its cost here"
    OPEN = "too close to tell"


@dataclass(frozen=True, slots=True)
class CouncilValueLine:
    """Council (the synthesis) or Winner (the answer in first place) on graded rounds.

    Cost and seconds are means per question: of the whole round for Council, of the round without
    its synthesis for Winner; a cost is None if that of any round is unknown. `difference` is its
    accuracy minus the best member's on the same questions, with the 95 % interval. `verdict` is
    None below ten graded rounds.
    """

    name: str
    graded: int
    accuracy: float | None
    accuracy_ci: Interval | None
    cost_usd: float | None
    seconds: float | None
    difference: float | None = None
    difference_ci: Interval | None = None
    verdict: Payoff | None = None


@dataclass(frozen=True, slots=True)
class BestMember:
    """The most accurate single member; cost and seconds are means of its own answers.

    With two or more runs it is picked for each run on the other runs (`is_picked_elsewhere`), and
    `accuracy` is that of these picks. With one run it is picked on the rounds it is measured on,
    which flatters it; the intervals of differences are widened for that. `member` is the most
    accurate one overall.
    """

    member: str
    accuracy: float
    cost_usd: float | None
    seconds: float | None
    is_picked_elsewhere: bool


@dataclass(frozen=True, slots=True)
class Drafts:
    """The best member asked `times` times instead: a panel of its drafts that had the same suite.

    Accuracy, cost and seconds are those of that panel's answer. `lead` is the council's accuracy
    minus this one's, paired over the `questions` that both answered, with its 95 % interval.
    """

    times: int
    questions: int
    accuracy: float
    cost_usd: float | None
    seconds: float | None
    lead: float
    lead_ci: Interval


@dataclass(frozen=True, slots=True)
class CouncilValue:
    """Council and Winner, and the best member; empty if no answer was graded.

    If `is_voted`, no answer was graded, and "right" means chosen by people, as a share of their
    votes; they cannot choose the council's own answer, so there is only Winner.
    """

    rows: tuple[CouncilValueLine, ...] = ()
    best: BestMember | None = None
    drafts: Drafts | None = None
    is_voted: bool = False

    @property
    def is_decided(self) -> bool:
        """Whether there are enough questions to say anything about Council or Winner."""
        return any(row.verdict for row in self.rows)


def measure_council_value(columns: Columns) -> CouncilValue:
    """Return the value of Council and Winner on the rounds in which every answer has a grade."""
    ungraded = (columns.author("absent") == 0) & np.isnan(columns.author("correct"))
    has_none = np.isnan(columns.round("council_correct")) | ungraded.any(axis=1)
    graded = columns.only(~has_none)
    if not graded.rows:
        return CouncilValue()
    baseline, questions = _pick_baseline(graded), question_numbers(graded)
    correct, usd, seconds = map(graded.round, ("council_correct", "cost_usd", "seconds"))
    return CouncilValue(
        rows=(
            _line(COUNCIL, correct, (usd, seconds), questions, baseline),
            _winner_line(graded, questions, baseline),
        ),
        best=baseline.best if baseline else None,
    )


def _winner_line(
    columns: Columns, questions: Indexes, baseline: "_Baseline | None"
) -> CouncilValueLine:
    """Return the line of the answers in first place; a round without a winner is wrong."""
    winners = columns.round("winner")
    has_winner = ~np.isnan(winners)
    correct = np.zeros(len(winners))
    correct[has_winner] = _correct_answers(columns)[has_winner, winners[has_winner].astype(int)]
    synthesis_usd, synthesis_seconds = map(columns.round, ("synthesis_usd", "synthesis_seconds"))
    has_none = np.isnan(synthesis_seconds)  # a round that failed before it
    before_synthesis = (
        columns.round("cost_usd") - np.where(has_none, 0, synthesis_usd),
        columns.round("seconds") - np.where(has_none, 0, synthesis_seconds),
    )
    return _line(WINNER, correct, before_synthesis, questions, baseline)


def measure_voted_value(columns: Columns, votes: Iterable[HumanVote]) -> CouncilValue:
    """Return the value of Winner by what people chose, in the rounds they voted on."""
    chosen: dict[str, Counter[str]] = {}
    for vote in votes:
        chosen.setdefault(vote.round_id, Counter())[vote.member] += 1
    voted = columns.only(np.array([row.round_id in chosen for row in columns.rows], dtype=bool))
    if not voted.rows:
        return CouncilValue()
    grades = AUTHOR_FIELDS.index("correct")
    authored = voted.authored.copy()
    for i, row in enumerate(voted.rows):
        counts = chosen[row.round_id]
        authored[i, :, grades] = [counts[member] / counts.total() for member in voted.members]
    authored[:, :, grades][np.isnan(voted.author("absent"))] = np.nan  # they did not sit there
    voted = replace(voted, authored=authored)
    baseline = _pick_baseline(voted)
    return CouncilValue(
        rows=(_winner_line(voted, question_numbers(voted), baseline),),
        best=baseline.best if baseline else None,
        is_voted=True,
    )


def draft_of(key: str) -> str:
    """Return the key of the model that a seat is a draft of: "gpt" of "gpt #2"."""
    model, mark, number = key.rpartition(" #")
    return model if mark and number.isdecimal() else key


def compare_with_drafts(columns: Columns, others: Columns, member: str) -> Drafts | None:
    """Compare the council with panels in `others` of nothing but drafts of a member.

    Both are of one version of a suite. None if there is no such panel, if the council is one, or if
    there is no common question.
    """
    if {*map(draft_of, columns.members)} == {draft_of(member)}:
        return None
    seated = (json.loads(row.shape)[0] for row in others.rows)
    is_drafts = [{*map(draft_of, members)} == {draft_of(member)} for members in seated]
    drafts = others.only(np.array(is_drafts, dtype=bool))
    now, then = _accuracy_by_number(columns), _accuracy_by_number(drafts)
    both = sorted(now.keys() & then.keys())
    if not both:
        return None
    leads = np.array([now[number] - then[number] for number in both])
    low, high = share_interval((leads + 1) / 2)
    usd, seconds = (mean_or_none(known_values(drafts.round(x))) for x in ("cost_usd", "seconds"))
    return Drafts(
        times=len(drafts.members),
        questions=len(both),
        accuracy=float(np.mean([then[number] for number in both])),
        cost_usd=usd,
        seconds=seconds,
        lead=float(leads.mean()),
        lead_ci=(2 * low - 1, 2 * high - 1),
    )


def _accuracy_by_number(columns: Columns) -> Mapping[int, float]:
    """Return how often the council was right on each graded question, by its number."""
    grades: dict[int, list[float]] = {}
    for row, grade in zip(columns.rows, columns.round("council_correct").tolist(), strict=True):
        if not isnan(grade):
            grades.setdefault(row.number, []).append(grade)
    return {number: sum(found) / len(found) for number, found in grades.items()}


@dataclass(frozen=True, slots=True)
class _Baseline:
    """The best single member, whether it was right in each round, and the `level` of intervals."""

    best: BestMember
    correct: Floats
    level: float


def _correct_answers(columns: Columns) -> Floats:
    absent = columns.author("absent") == 1
    return np.where(absent, 0.0, columns.author("correct"))


def _pick_baseline(columns: Columns) -> _Baseline | None:
    """Pick the best of the members that sat in every round; return None if there is none."""
    answers = _correct_answers(columns)
    candidates = np.flatnonzero(~np.isnan(answers).any(axis=0))
    if not len(candidates):
        return None
    prices = [mean_or_none(known_values(columns.author("cost_usd")[:, i])) for i in candidates]
    cheapest_first = candidates[np.argsort([inf if p is None else p for p in prices])]
    correct_by_member = answers[:, cheapest_first]
    runs = list(rounds_by_run(columns).values())
    is_picked_elsewhere = len(runs) > 1
    picks = np.full(len(correct_by_member), correct_by_member.mean(axis=0).argmax())
    if is_picked_elsewhere:
        totals = correct_by_member.sum(axis=0)
        for rounds in runs:
            picks[rounds] = (totals - correct_by_member[rounds].sum(axis=0)).argmax()
    correct = correct_by_member[np.arange(len(correct_by_member)), picks]
    best = cheapest_first[correct_by_member.mean(axis=0).argmax()]
    usd, seconds = (
        mean_or_none(known_values(columns.author(field)[:, best]))
        for field in ("cost_usd", "seconds")
    )
    member = BestMember(
        columns.members[best], float(correct.mean()), usd, seconds, is_picked_elsewhere
    )
    level = LEVEL if is_picked_elsewhere else 1 - (1 - LEVEL) / len(candidates)
    return _Baseline(member, correct, level)


def _line(
    name: str,
    correct: Floats,
    costs: tuple[Floats, Floats],
    questions: Indexes,
    baseline: _Baseline | None,
) -> CouncilValueLine:
    """Return the line with its difference to the best member, paired by question."""
    line = CouncilValueLine(
        name,
        len(correct),
        float(correct.mean()),
        wilson_interval(int(correct.sum()), len(correct)),
        None if np.isnan(costs[0]).any() else mean_or_none(costs[0]),
        mean_or_none(known_values(costs[1])),
    )
    if baseline is None:
        return line
    sums = np.bincount(questions, weights=correct - baseline.correct)
    differences = sums / np.bincount(questions)
    low, high = share_interval((differences + 1) / 2, baseline.level)
    difference, interval = float(differences.mean()), (2 * low - 1, 2 * high - 1)
    verdict = None
    if line.graded >= MIN_GRADED:
        gains_little = difference <= 0 or interval[1] < MIN_GAIN
        verdict = Payoff.OPEN
        if interval[0] > 0:
            verdict = Payoff.WORTH_IT
        elif gains_little and _costs_more(line, baseline.best):
            verdict = Payoff.NOT_WORTH_IT
    return replace(line, difference=difference, difference_ci=interval, verdict=verdict)


def _costs_more(line: CouncilValueLine, best: BestMember) -> bool:
    """Compare in money or, if equal, in time; unknown counts as more."""
    if line.cost_usd is None or best.cost_usd is None:
        return True
    if abs(line.cost_usd - best.cost_usd) > PRECISION:
        return line.cost_usd > best.cost_usd
    return line.seconds is None or best.seconds is None or line.seconds > best.seconds
