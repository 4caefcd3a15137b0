"""Whether what judges put first is right, where it is known what is right."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

import numpy as np

from council.bakeoffs.changes import runs_of
from council.bakeoffs.intervals import LEVEL, Interval, rate_interval, share_interval
from council.bakeoffs.leaderboard import known_of, mean_of
from council.bakeoffs.record_arrays import PRECISION, Columns, Floats, Indexes

# --- Whether what judges put first is right, where it is known what is right.


@dataclass(frozen=True, slots=True)
class TruthAgreement:
    """How far the judges' order agrees with what is right, within rounds that had both.

    `auc` is the chance that a right answer had a higher share than a wrong one (a tie is half);
    `lead` the mean share of the right less that of the wrong. `questions` tells different
    questions, each of which counts once, however often it was put.
    """

    auc: float
    ci: Interval
    lead: float
    questions: int


def concord(columns: Columns, questions: Indexes) -> TruthAgreement | None:
    """Give the concord, or None where no round had a right and a wrong answer.

    `questions` says which question each round put, as `questions_of` does.
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
    each = by_question(questions[mixed], auc)
    return TruthAgreement(float(each.mean()), share_interval(each), float(leads.mean()), len(each))


def _mean(shares: Floats, wanted: Floats) -> Floats:
    found: Floats = np.where(wanted, shares, 0).sum(axis=1) / wanted.sum(axis=1)
    return found


def questions_of(columns: Columns) -> Indexes:
    """Number the question of each round; one put by itself, outside of any suite, is its own."""
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


def by_question(questions: Indexes, values: Floats) -> Floats:
    """Give the mean over the rounds of each question that was put."""
    rounds = np.bincount(questions)
    put = rounds > 0
    means: Floats = np.bincount(questions, weights=values)[put] / rounds[put]
    return means


# --- Whether the council is worth it: its answers and the winning ones against the best one membe

FEWEST_GRADED = 10  # with fewer graded rounds nothing is said
LEAST_GAIN = 0.05  # of accuracy; who cannot have gained so much has gained too little


class Payoff(StrEnum):
    """What the graded rounds allow to say about a way to get an answer."""

    WORTH_IT = "more accurate than any one member"
    NOT_WORTH_IT = "not worth its cost here"
    OPEN = "too close to tell"


@dataclass(frozen=True, slots=True)
class CouncilValueLine:
    """Council (the synthesis) or Winner (the answer in first place) on graded rounds.

    Cost and seconds are means per question: of the whole round for Council, of the round without
    its synthesis for Winner. `difference` is accuracy less the best member's on the same
    questions, with its 95 % interval. `verdict` is None below ten graded rounds.
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

    With two runs or more it is picked for each run on the others (`is_picked_elsewhere`), and
    `accuracy` is of those picks; with one run it is picked on the rounds it is measured on, which
    flatters it, and the intervals of differences are widened for that. `member` is who is most
    accurate over all.
    """

    member: str
    accuracy: float
    cost_usd: float | None
    seconds: float | None
    is_picked_elsewhere: bool


@dataclass(frozen=True, slots=True)
class CouncilValue:
    """Council and Winner, the best member they are held against, and the judges' concord.

    `rows` is empty, and `best` None, where no answer was graded; `concord` is None where no
    question had a right and a wrong answer.
    """

    rows: tuple[CouncilValueLine, ...] = ()
    best: BestMember | None = None
    concord: TruthAgreement | None = None


def worth(columns: Columns) -> CouncilValue:
    """Give what these rounds say about Council and Winner."""
    graded = columns.only(~np.isnan(columns.round("council_correct")))
    if not graded.rows:
        return CouncilValue()
    picked, questions = _picked(graded), questions_of(graded)
    return CouncilValue(
        rows=(_council(graded, questions, picked), _winner(graded, questions, picked)),
        best=picked.best if picked else None,
        concord=concord(graded, questions),
    )


@dataclass(frozen=True, slots=True)
class _Picked:
    """The best single member, and whether it was right on each question; `level` of intervals."""

    best: BestMember
    correct: Floats
    level: float


def _right(columns: Columns) -> Floats:
    """Say whether each member was right in each round; no answer is not right."""
    absent = columns.author("absent") == 1
    return np.where(absent, 0.0, columns.author("correct"))


def _picked(columns: Columns) -> _Picked | None:
    """Pick the best of the members that sat in every round; None if nobody did."""
    right = _right(columns)
    candidates = np.flatnonzero(~np.isnan(right).any(axis=0))
    if not len(candidates):
        return None
    prices = [mean_of(known_of(columns.author("cost_usd")[:, i])) for i in candidates]
    cheapest_first = candidates[np.argsort([inf if p is None else p for p in prices])]
    own = right[:, cheapest_first]
    runs = list(runs_of(columns).values())
    is_picked_elsewhere = len(runs) > 1
    picks = np.full(len(own), own.mean(axis=0).argmax())
    if is_picked_elsewhere:
        rights = own.sum(axis=0)
        for rounds in runs:
            picks[rounds] = (rights - own[rounds].sum(axis=0)).argmax()
    correct = own[np.arange(len(own)), picks]
    best = cheapest_first[own.mean(axis=0).argmax()]
    return _Picked(
        BestMember(
            member=columns.members[best],
            accuracy=float(correct.mean()),
            cost_usd=mean_of(known_of(columns.author("cost_usd")[:, best])),
            seconds=mean_of(known_of(columns.author("seconds")[:, best])),
            is_picked_elsewhere=is_picked_elsewhere,
        ),
        correct,
        level=LEVEL if is_picked_elsewhere else 1 - (1 - LEVEL) / len(candidates),
    )


def _council(columns: Columns, questions: Indexes, picked: _Picked | None) -> CouncilValueLine:
    costs = columns.round("cost_usd"), columns.round("seconds")
    line = _line("Council", columns.round("council_correct"), costs)
    return _compared(line, columns.round("council_correct"), questions, picked)


def _winner(columns: Columns, questions: Indexes, picked: _Picked | None) -> CouncilValueLine:
    winners = columns.round("winner")
    has_winner = ~np.isnan(winners)
    right = np.zeros(len(winners))
    right[has_winner] = _right(columns)[has_winner, winners[has_winner].astype(int)]
    costs = (
        columns.round("cost_usd") - columns.round("synthesis_usd"),
        columns.round("seconds") - columns.round("synthesis_seconds"),
    )
    return _compared(_line("Winner", right, costs), right, questions, picked)


def _line(name: str, right: Floats, costs: tuple[Floats, Floats]) -> CouncilValueLine:
    cost_usd, seconds = (mean_of(known_of(each)) for each in costs)
    return CouncilValueLine(
        name=name,
        graded=len(right),
        accuracy=float(right.mean()),
        accuracy_ci=rate_interval(int(right.sum()), len(right)),
        cost_usd=cost_usd,
        seconds=seconds,
        difference=None,
        difference_ci=None,
        verdict=None,
    )


def _compared(
    line: CouncilValueLine, right: Floats, questions: Indexes, picked: _Picked | None
) -> CouncilValueLine:
    """Give the line beside the best single member, question by question."""
    if picked is None:
        return line
    differences = by_question(questions, right - picked.correct)
    low, high = share_interval((differences + 1) / 2, picked.level)
    line = replace(
        line, difference=float(differences.mean()), difference_ci=(2 * low - 1, 2 * high - 1)
    )
    return replace(line, verdict=_verdict(line, picked.best))


def _verdict(line: CouncilValueLine, best: BestMember) -> Payoff | None:
    if line.graded < FEWEST_GRADED or line.difference is None or line.difference_ci is None:
        return None
    low, high = line.difference_ci
    if low > 0:
        return Payoff.WORTH_IT
    gains_little = line.difference <= 0 or high < LEAST_GAIN
    return Payoff.NOT_WORTH_IT if gains_little and _is_dearer(line, best) else Payoff.OPEN


def _is_dearer(line: CouncilValueLine, best: BestMember) -> bool:
    """Say whether a way costs more than the best member, in money or else in time.

    What is not known is taken for more: it asks every member, and the best member is one of them.
    """
    if line.cost_usd is None or best.cost_usd is None:
        return True
    if abs(line.cost_usd - best.cost_usd) > PRECISION:
        return line.cost_usd > best.cost_usd
    return line.seconds is None or best.seconds is None or line.seconds > best.seconds
