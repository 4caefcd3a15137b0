"""Members against their own past, paired by question: is the difference more than noise?

For each question the past is the mean of its h earlier rounds. With d the differences, the noise
of one round is estimated from the spread of d, each weighed by 1/(1 + 1/h), and from the spread of
the past within each question: with one run before, this is the paired t-test.
"""

from dataclasses import dataclass

import numpy as np

from council.bakeoffs.columns import PRECISION, Floats, Truths

LEAST_PAST = 2  # questions, below which there is no difference to speak of


@dataclass(frozen=True, slots=True)
class Differences:
    """An entry a member; NaN, and p = 1, where too little is known.

    `p` is two-sided, and never below the 2^(1 − k) of k questions that all moved one way, however
    little they differ otherwise.
    """

    before: Floats
    now: Floats
    mean: Floats
    error: Floats
    freedom: Floats
    p: Floats
    questions: Floats


def differences(now: Floats, past: Floats) -> Differences:
    """Compare (question, member) with (run, question, member); NaN is not known."""
    from scipy.special import stdtr

    counts = (~np.isnan(past)).sum(axis=0)
    known = ~np.isnan(now) & (counts > 0)
    before = np.where(known, _total(past, 0) / np.maximum(counts, 1), np.nan)
    moved = now - before
    spread = np.where(known, 1 + 1 / np.maximum(counts, 1), 0.0)
    within = np.where(known, _total((past - before) ** 2, 0), 0.0).sum(axis=0)
    questions = known.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = _total(moved, 0) / questions
        between = _total((moved - mean) ** 2 / spread, 0)
        freedom = questions - 1 + np.where(known, counts - 1, 0).sum(axis=0)
        error = np.sqrt((between + within) / freedom * spread.sum(axis=0)) / questions
        p = 2 * stdtr(freedom, -np.abs(mean / error))
        least = 2.0 ** (1 - (np.abs(moved) > PRECISION).sum(axis=0))
        enough = questions >= LEAST_PAST
        p = np.where(enough & (np.abs(mean) > PRECISION), np.maximum(np.nan_to_num(p), least), 1.0)
        means = [_total(np.where(known, each, np.nan), 0) / questions for each in (before, now)]
    return Differences(
        before=means[0],
        now=means[1],
        mean=np.where(enough, mean, np.nan),
        error=error,
        freedom=freedom,
        p=np.minimum(p, 1.0),
        questions=questions,
    )


def _total(values: Floats, axis: int) -> Floats:
    total: Floats = np.nansum(values, axis=axis)
    return total


def beyond(p: Floats, alpha: float) -> Truths:
    """Say which of these tests hold together at a level (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    steps = p[order] <= alpha / np.arange(len(p), 0, -1)
    found = np.zeros(len(p), dtype=bool)
    found[order] = np.logical_and.accumulate(steps)
    return found
