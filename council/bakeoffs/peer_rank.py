"""PeerRank (Li et al. 2023): judges weigh as much as their own answers are found to be worth.

Offered for comparison, not used by any board: in simulation it hardly ever beats equal weights,
and fails badly with a rogue judge.
"""

from dataclasses import dataclass

import numpy as np

from council.bakeoffs.columns import Floats

FLOOR = 0.25  # of an equal weight: nobody is left without a voice
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class PeerRank:
    """Scores and weights, an entry a member; weights add up to 1."""

    scores: Floats
    weights: Floats
    turns: int


def peer_rank(win_rates: Floats, floor: float = FLOOR, most_turns: int = 1_000) -> PeerRank:
    """Weigh (judge, candidate) win rates, NaN where a judge was not shown a candidate.

    s_c = Σ_j w_j·r_jc / Σ_j w_j over the judges shown c, w = minmax(s)/Σ, from equal weights until
    Σ|Δw| < 1e-9. A floor keeps each weight at least at that part of an equal one.
    """
    shown, rates = ~np.isnan(win_rates), np.nan_to_num(win_rates)
    found = PeerRank(np.zeros(len(rates)), np.full(len(rates), 1 / len(rates)), 0)
    moved = 1.0
    while moved >= _CLOSE and found.turns < most_turns:
        heard = found.weights @ shown
        scores = found.weights @ rates / np.where(heard > 0, heard, 1.0)
        weights = _weights(scores, floor)
        moved = float(np.abs(weights - found.weights).sum())
        found = PeerRank(scores, weights, found.turns + 1)
    return found


def _weights(scores: Floats, floor: float) -> Floats:
    spread = np.ptp(scores)
    if not spread:
        return np.full(len(scores), 1 / len(scores))
    raw = (scores - scores.min()) / spread
    found: Floats = floor / len(scores) + (1 - floor) * raw / raw.sum()
    return found
