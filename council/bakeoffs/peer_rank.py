"""PeerRank (Li et al. 2023): judges weigh as much as their own answers are found to be worth.

Offered for comparison, not used by any board: in simulation it hardly ever beats equal weights,
and fails badly with a rogue judge.
"""

from dataclasses import dataclass

import numpy as np

from council.bakeoffs.columns import Floats

FLOOR = 0.25  # of an equal weight: nobody is left without a voice
_TURNS = 1_000
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class PeerRank:
    """Scores and weights, an entry a member; weights add up to 1."""

    scores: Floats
    weights: Floats
    turns: int


def peer_rank(win_rates: Floats, floor: float = FLOOR) -> PeerRank:
    """Weigh (judge, candidate) win rates, NaN where a judge was not shown a candidate.

    s_c = Σ_j w_j·r_jc / Σ_j w_j over the judges shown c, w = minmax(s)/Σ, from equal weights until
    Σ|Δw| < 1e-9. A floor keeps each weight at least at that part of an equal one.
    """
    count = len(win_rates)
    shown = ~np.isnan(win_rates)
    rates = np.nan_to_num(win_rates)
    weights = np.full(count, 1 / count)
    turns = 0
    scores = np.full(count, np.nan)
    for turns in range(1, _TURNS + 1):  # noqa: B007
        heard = weights @ shown
        scores = np.where(heard > 0, weights @ rates / np.where(heard > 0, heard, 1), 0.0)
        before, weights = weights, _weights(scores, floor)
        if np.abs(weights - before).sum() < _CLOSE:
            break
    return PeerRank(scores, weights, turns)


def _weights(scores: Floats, floor: float) -> Floats:
    spread = np.ptp(scores)
    if not spread:
        return np.full(len(scores), 1 / len(scores))
    raw = (scores - scores.min()) / spread
    found: Floats = floor / len(scores) + (1 - floor) * raw / raw.sum()
    return found
