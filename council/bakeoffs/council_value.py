"""Measure whether the council is worth its cost: more often right than its best member?"""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

import numpy as np

from council.bakeoffs.changes import rounds_by_run
from council.bakeoffs.intervals import LEVEL, Interval, share_interval, wilson_interval
from council.bakeoffs.leaderboard import known_values, mean_or_none
from council.bakeoffs.record_arrays import PRECISION, Columns, Floats, Indexes


@dataclass(frozen=True, slots=True)
class TruthAgreement:
    """How well the judges' order agrees with correctness, in rounds with right and wrong answers.

    `auc` is the chance that a right answer had a higher share than a wrong one (a tie counts half);
    `lead` is the mean share of right answers minus that of wrong ones. `questions` is the number of
    distinct questions, each of which counts once however often it was asked.
    """

    auc: float
    ci: Interval
    lead: float
    questions: int


def truth_agreement(columns: Columns, questions: Indexes) -> TruthAgreement | None:
    """Return the agreement, or None if no round had both a right and a wrong answer.

    `questions` numbers the question of each round, as `question_numbers` does.
    """
    shares, correct = columns.author("share"), columns.author("correct")
    correct[np.isnan(shares)] = np.nan
    right, wrong = correct == 1, correct == 0
    mixed = right.any(axis=1) & wrong.any(axis=1)
    if not mixed.any():
        return None
    shares, right, wrong = shares[mixed], right[mixed], wrong[mixed]
    gaps = shares[:, :, None] - shares[:, None, :]
    wins = np.where(np.abs(gaps) < PRECISION, 0.5, (gaps > 0).astype(float))
    pairs = right[:, :, None] & wrong[:, None, :]
    auc = np.where(pairs, wins, 0).sum(axis=(1, 2)) / pairs.sum(axis=(1, 2))
    leads = _mean(shares, right) - _mean(shares, wrong)
    by_question = mean_by_question(questions[mixed], auc)
    return TruthAgreement(
        float(by_question.mean()),
        share_interval(by_question),
        float(leads.mean()),
        len(by_question),
    )


def _mean(shares: Floats, wanted: Floats) -> Floats:
    means: Floats = np.where(wanted, shares, 0).sum(axis=1) / wanted.sum(axis=1)
    return means


def question_numbers(columns: Columns) -> Indexes:
    """Number the question of each round; a question outside a bake-off is always its own."""
    order: dict[object, int] = {}
    return np.array(
        [
            order.setdefault(
                (row.suite, row.suite_version, row.number) if row.bakeoff else row.round_id,
                len(order),
            )
            for row in columns.rows
        ],
        dtype=np.intp,
    )


def mean_by_question(questions: Indexes, values: Floats) -> Floats:
    """Return the mean over the rounds of each question that was asked."""
    rounds = np.bincount(questions)
    asked = rounds > 0
    means: Floats = np.bincount(questions, weights=values)[asked] / rounds[asked]
    return means


MIN_GRADED = 10  # fewer graded rounds give no verdict
MIN_GAIN = 0.05  # of accuracy; a smaller gain is not worth paying for


class Payoff(StrEnum):
    """The verdict on one way to get an answer."""

    WORTH_IT = "more accurate than any one member"
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
    difference: float | None
    difference_ci: Interval | None
    verdict: Payoff | None


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
    """Council and Winner, their baseline, and the judges' agreement with the truth.

    `rows` is empty and `best` is None if no answer was graded; `concord` is None if no question had
    both a right and a wrong answer.
    """

    rows: tuple[CouncilValueLine, ...] = ()
    best: BestMember | None = None
    truth_agreement: TruthAgreement | None = None


def measure_council_value(columns: Columns) -> CouncilValue:
    """Return the value of Council and Winner on these rounds."""
    graded = columns.only(~np.isnan(columns.round("council_correct")))
    if not graded.rows:
        return CouncilValue()
    baseline, questions = _pick_baseline(graded), question_numbers(graded)
    return CouncilValue(
        rows=(
            _council_line(graded, questions, baseline),
            _winner_line(graded, questions, baseline),
        ),
        best=baseline.best if baseline else None,
        truth_agreement=truth_agreement(graded, questions),
    )


@dataclass(frozen=True, slots=True)
class _Baseline:
    """The best single member, whether it was right in each round, and the `level` of intervals."""

    best: BestMember
    correct: Floats
    level: float


def _correct_answers(columns: Columns) -> Floats:
    """Return 1 or 0 by (round, member) for a right or wrong answer; an absence is wrong."""
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
    return _Baseline(
        BestMember(
            member=columns.members[best],
            accuracy=float(correct.mean()),
            cost_usd=mean_or_none(known_values(columns.author("cost_usd")[:, best])),
            seconds=mean_or_none(known_values(columns.author("seconds")[:, best])),
            is_picked_elsewhere=is_picked_elsewhere,
        ),
        correct,
        level=LEVEL if is_picked_elsewhere else 1 - (1 - LEVEL) / len(candidates),
    )


def _council_line(
    columns: Columns, questions: Indexes, baseline: _Baseline | None
) -> CouncilValueLine:
    costs = columns.round("cost_usd"), columns.round("seconds")
    line = _line("Council", columns.round("council_correct"), costs)
    return _compare_with_best(line, columns.round("council_correct"), questions, baseline)


def _winner_line(
    columns: Columns, questions: Indexes, baseline: _Baseline | None
) -> CouncilValueLine:
    winners = columns.round("winner")
    has_winner = ~np.isnan(winners)
    correct = np.zeros(len(winners))
    correct[has_winner] = _correct_answers(columns)[has_winner, winners[has_winner].astype(int)]
    costs = (
        columns.round("cost_usd") - columns.round("synthesis_usd"),
        columns.round("seconds") - columns.round("synthesis_seconds"),
    )
    return _compare_with_best(_line("Winner", correct, costs), correct, questions, baseline)


def _line(name: str, correct: Floats, costs: tuple[Floats, Floats]) -> CouncilValueLine:
    cost_usd, seconds = (mean_or_none(known_values(each)) for each in costs)
    return CouncilValueLine(
        name=name,
        graded=len(correct),
        accuracy=float(correct.mean()),
        accuracy_ci=wilson_interval(int(correct.sum()), len(correct)),
        cost_usd=cost_usd,
        seconds=seconds,
        difference=None,
        difference_ci=None,
        verdict=None,
    )


def _compare_with_best(
    line: CouncilValueLine, correct: Floats, questions: Indexes, baseline: _Baseline | None
) -> CouncilValueLine:
    """Return the line with its difference to the best member, paired by question."""
    if baseline is None:
        return line
    differences = mean_by_question(questions, correct - baseline.correct)
    low, high = share_interval((differences + 1) / 2, baseline.level)
    line = replace(
        line, difference=float(differences.mean()), difference_ci=(2 * low - 1, 2 * high - 1)
    )
    return replace(line, verdict=_verdict(line, baseline.best))


def _verdict(line: CouncilValueLine, best: BestMember) -> Payoff | None:
    if line.graded < MIN_GRADED or line.difference is None or line.difference_ci is None:
        return None
    low, high = line.difference_ci
    if low > 0:
        return Payoff.WORTH_IT
    gains_little = line.difference <= 0 or high < MIN_GAIN
    return Payoff.NOT_WORTH_IT if gains_little and _costs_more(line, best) else Payoff.OPEN


def _costs_more(line: CouncilValueLine, best: BestMember) -> bool:
    """Return whether the line costs more than the best member, in money or, if equal, in time.

    Unknown counts as more: a council asks every member, including the best one.
    """
    if line.cost_usd is None or best.cost_usd is None:
        return True
    if abs(line.cost_usd - best.cost_usd) > PRECISION:
        return line.cost_usd > best.cost_usd
    return line.seconds is None or best.seconds is None or line.seconds > best.seconds
