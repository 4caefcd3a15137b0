"""Weights fitted on what people chose, drawn towards equal ones where they chose little.

By judge j, a person prefers c to d with the chance 1 / (1 + exp(−β_j (b_jc − b_jd))), b the Borda
shares it gave. A vote is the chosen answer against each other one that j saw beside it, together
weighing 1. β_j maximises that log-likelihood less κ/2·(β_j − m)², and m, one β for all judges
together, theirs less ε/2·m². A judge weighs max(β_j, 0): one by one, so that judges who say the
same do not hide each other.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from council.bakeoffs.columns import Floats
from council.bias.weights.given import Given
from council.bias.weights.names import HUMAN
from council.bias.weights.people import FEWEST_VOTES, Choice, Comparison, comparisons
from council.bias.weights.weighing import JudgeWeight, Weighing, equal

TO_ALL = 4.0  # κ: as much as sixteen votes on answers a whole share apart, while β is small
TO_NOTHING = 0.1  # ε, the ridge of Bradley-Terry boards
_TURNS = 60  # several times what the furthest slopes take
_LONGEST_STEP = 2.0


def human_weights(
    rounds: Iterable[Given], choices: Sequence[Choice], judges: tuple[str, ...]
) -> Weighing:
    """Weigh judges by how well their ballots foretell what people chose, from twenty votes on.

    A judge's basis is its β, and `n` the votes on answers that it saw beside others. Where nobody
    foretells anything, all weigh alike.
    """
    held = [*comparisons(rounds, choices)]
    if len(held) < FEWEST_VOTES:
        return equal(HUMAN, judges, len(held), FEWEST_VOTES)
    parts = {judge: _leads(judge, held) for judge in judges}
    together = np.concatenate([*parts.values()])
    common = _slope(together, 0.0, TO_NOTHING)
    slopes = {judge: _slope(part, common, TO_ALL) for judge, part in parts.items()}
    total = sum(max(slope, 0.0) for slope in slopes.values())
    if not total:
        return equal(HUMAN, judges, len(held), FEWEST_VOTES)
    lines = (
        JudgeWeight(judge, max(slope, 0.0) / total, round(parts[judge][:, 1].sum()), slope)
        for judge, slope in slopes.items()
    )
    return Weighing(HUMAN, tuple(lines), len(held), FEWEST_VOTES)


def _leads(judge: str, votes: Sequence[Comparison]) -> Floats:
    """Give, a row for each answer beside a chosen one, the judge's lead and the row's weight."""
    found = [np.empty((0, 2))]
    for vote in votes:
        if judge in vote.given.judges:
            row = vote.shares[vote.given.judges.index(judge)]
            leads = np.delete(row[vote.chosen] - row, vote.chosen)
            leads = leads[~np.isnan(leads)]
            found.append(np.column_stack([leads, np.full(len(leads), 1 / max(len(leads), 1))]))
    return np.concatenate(found)


def _slope(leads: Floats, centre: float, drawn: float) -> float:
    """Give the slope that fits leads, drawn to a centre, by Newton's method."""
    slope = centre
    lead, worth = leads.T
    for _ in range(_TURNS):
        chances = 1 / (1 + np.exp(-slope * lead))
        rise = float((worth * lead * (1 - chances)).sum()) - drawn * (slope - centre)
        bend = float((worth * lead**2 * chances * (1 - chances)).sum()) + drawn
        slope += float(np.clip(rise / bend, -_LONGEST_STEP, _LONGEST_STEP))
    return slope
