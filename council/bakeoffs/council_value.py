"""Measure whether the council is worth its cost: more often right than its best member?"""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

import numpy as np

from council.bakeoffs.changes import rounds_by_run
from council.bakeoffs.intervals import LEVEL, Interval, share_interval, wilson_interval
from council.bakeoffs.leaderboard import known_values, mean_or_none
from council.bakeoffs.record_arrays import PRECISION, Columns, Floats, Indexes


def question_numbers(columns: Columns) -> Indexes:
    """Number the question of each round; a question outside a bake-off is always its own."""
    order: dict[object, int] = {}
    keys = (
        (row.suite, row.suite_version, row.number) if row.bakeoff else row.round_id
        for row in columns.rows
    )
    return np.array([order.setdefault(key, len(order)) for key in keys], dtype=np.intp)


def mean_by_question(questions: Indexes, values: Floats) -> Floats:
    """Return the mean over the rounds of each question that was asked."""
    rounds = np.bincount(questions)
    asked = rounds > 0
    means: Floats = np.bincount(questions, weights=values)[asked] / rounds[asked]
    return means


COUNCIL, WINNER = "Council", "Winner"
MIN_GRADED = 10  # fewer graded rounds give no verdict
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
    its synthesis for Winner. `difference` is its accuracy minus the best member's on the same
    questions, with the 95 % interval. `verdict` is None below ten graded rounds.
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
class CouncilValue:
    """Council and Winner, and the best member; empty if no answer was graded."""

    rows: tuple[CouncilValueLine, ...] = ()
    best: BestMember | None = None


def measure_council_value(columns: Columns) -> CouncilValue:
    """Return the value of Council and Winner on these rounds."""
    graded = columns.only(~np.isnan(columns.round("council_correct")))
    if not graded.rows:
        return CouncilValue()
    baseline, questions = _pick_baseline(graded), question_numbers(graded)
    correct, usd, seconds = map(graded.round, ("council_correct", "cost_usd", "seconds"))
    winners = graded.round("winner")
    has_winner = ~np.isnan(winners)
    winner_correct = np.zeros(len(winners))
    winner_correct[has_winner] = _correct_answers(graded)[
        has_winner, winners[has_winner].astype(int)
    ]
    before_synthesis = (
        usd - graded.round("synthesis_usd"),
        seconds - graded.round("synthesis_seconds"),
    )
    return CouncilValue(
        rows=(
            _line(COUNCIL, correct, (usd, seconds), questions, baseline),
            _line(WINNER, winner_correct, before_synthesis, questions, baseline),
        ),
        best=baseline.best if baseline else None,
    )


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
        mean_or_none(known_values(costs[0])),
        mean_or_none(known_values(costs[1])),
    )
    if baseline is None:
        return line
    differences = mean_by_question(questions, correct - baseline.correct)
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
