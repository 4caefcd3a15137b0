"""Weights fitted on what people chose, drawn towards equal ones where they chose little.

The chance that a person prefers c to d is 1 / (1 + exp(−Σ_j β_j (b_jc − b_jd))), b the Borda share
judge j gave, 0 where it did not see both. Each vote is the chosen answer against each other one,
together weighing 1. The β maximise the log-likelihood less κ/2·Σ(β_j − mean β)² + ε/2·n·(mean β)²,
so that without votes all are alike; a judge weighs max(β_j, 0).
"""

from collections.abc import Iterable, Sequence

import numpy as np

from council.bakeoffs.columns import Floats
from council.bias.weights.given import Given
from council.bias.weights.people import FEWEST_VOTES, Choice, Comparison, comparisons
from council.bias.weights.weighing import JudgeWeight, Weighing, equal

NAME = "human"
TO_EACH_OTHER = 4.0  # κ: about what fifty votes say of one judge
TO_NOTHING = 0.1  # ε, the ridge of Bradley-Terry boards
_TURNS = 60
_CLOSE = 1e-9


def human_weights(
    rounds: Iterable[Given], choices: Sequence[Choice], judges: tuple[str, ...]
) -> Weighing:
    """Weigh judges by how well their ballots foretell what people chose, from twenty votes on.

    A judge's basis is its β, `n` the votes on answers that it saw beside others.
    """
    held = [*comparisons(rounds, choices)]
    if len(held) < FEWEST_VOTES:
        return equal(NAME, judges, len(held), FEWEST_VOTES)
    parts = [_leads(one, judges) for one in held]
    leads = np.concatenate(parts)
    worth = np.concatenate([np.full(len(part), 1 / len(part)) for part in parts if len(part)])
    slopes = _fitted(leads, worth)
    seen = np.sum([part.any(axis=0) for part in parts], axis=0)
    positive = np.maximum(slopes, 0.0)
    total = float(positive.sum())
    if not total:
        return equal(NAME, judges, len(held), FEWEST_VOTES)
    lines = zip(judges, positive / total, seen, slopes, strict=True)
    weights = (JudgeWeight(j, float(w), int(n), float(beta)) for j, w, n, beta in lines)
    return Weighing(NAME, tuple(weights), len(held), FEWEST_VOTES)


def _leads(one: Comparison, judges: tuple[str, ...]) -> Floats:
    """Give, for each other answer, by how much each judge put the chosen one above it."""
    others = [i for i in range(len(one.given.members)) if i != one.chosen]
    found = np.zeros((len(others), len(judges)))
    at = [judges.index(judge) for judge in one.given.judges]
    found[:, at] = np.nan_to_num(one.shares[:, [one.chosen]] - one.shares[:, others]).T
    return found[found.any(axis=1)]


def _fitted(leads: Floats, worth: Floats) -> Floats:
    """Give β by Newton's method; the penalty makes it finite and unique."""
    count = leads.shape[1]
    mean = np.full((count, count), 1 / count)
    penalty = TO_EACH_OTHER * (np.eye(count) - mean) + TO_NOTHING * mean
    slopes = np.zeros(count)
    for _ in range(_TURNS):
        chances = 1 / (1 + np.exp(-leads @ slopes))
        curve = leads.T @ (leads * (worth * chances * (1 - chances))[:, None]) + penalty
        step = np.linalg.solve(curve, leads.T @ (worth * (1 - chances)) - penalty @ slopes)
        slopes = slopes + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < _CLOSE:
            break
    return slopes
