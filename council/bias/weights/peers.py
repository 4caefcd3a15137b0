"""Weights by PeerRank: a judge weighs as much as its own answers are found to be worth."""

from collections.abc import Iterable

import numpy as np

from council.bakeoffs.columns import Floats
from council.bakeoffs.peer_rank import FLOOR, peer_rank
from council.bias.weights.given import Given
from council.bias.weights.names import PEERRANK
from council.bias.weights.weighing import JudgeWeight, Weighing


def peer_weights(rounds: Iterable[Given]) -> Weighing:
    """Give PeerRank's weights over the mean shares of all rounds, with a floor of a quarter.

    A judge that writes no answers has no worth to go by: it weighs 1/n of n judges, and the
    members share the rest. A weight's basis is the score of the judge's own answers.
    """
    held = [*rounds]
    members = tuple(dict.fromkeys(member for given in held for member in given.members))
    judges = tuple(dict.fromkeys((*members, *(judge for given in held for judge in given.judges))))
    if not members:
        return Weighing(PEERRANK, ())
    found = peer_rank(_win_rates(held, members), FLOOR)
    room = len(members) / len(judges)
    own = zip(members, found.weights.tolist(), found.scores.tolist(), strict=True)
    lines = [JudgeWeight(member, room * weight, 0, score) for member, weight, score in own]
    lines += [JudgeWeight(judge, 1 / len(judges)) for judge in judges[len(members) :]]
    return Weighing(PEERRANK, tuple(lines))


def _win_rates(rounds: Iterable[Given], members: tuple[str, ...]) -> Floats:
    """Give mean shares by (judge, candidate) among members; NaN for what was never shown."""
    sums, counts = np.zeros((2, len(members), len(members)))
    for given in rounds:
        rows = [j for j, judge in enumerate(given.judges) if judge in members]
        at = np.ix_(
            [members.index(given.judges[j]) for j in rows],
            [members.index(member) for member in given.members],
        )
        known = ~np.isnan(given.shares[:, rows])
        sums[at] += np.nan_to_num(given.shares[:, rows]).sum(axis=0)
        counts[at] += known.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
