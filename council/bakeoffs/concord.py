"""Whether what judges put first is right, where it is known what is right."""

from dataclasses import dataclass

import numpy as np

from council.bakeoffs.columns import PRECISION, Columns, Floats, Indexes
from council.bakeoffs.intervals import Interval, share_interval


@dataclass(frozen=True, slots=True)
class Concord:
    """How far the judges' order agrees with what is right, within rounds that had both.

    `auc` is the chance that a right answer had a higher share than a wrong one (a tie is half);
    `lead` the mean share of the right less that of the wrong. `questions` tells different
    questions, each of which counts once, however often it was put.
    """

    auc: float
    ci: Interval
    lead: float
    questions: int


def concord(columns: Columns, questions: Indexes) -> Concord | None:
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
    return Concord(float(each.mean()), share_interval(each), float(leads.mean()), len(each))


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
