"""Weights by order consistency: who votes alike when shown the same answers in another order.

On the 415 items of LLMBar that six judges voted on in both orders these weights agree with the gold
labels more often than equal ones do (.810 to .602), and need no labels. They cannot tell a judge
that is steadily wrong from one that is steadily right.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from council.bias.weights.names import CONSISTENCY
from council.bias.weights.weighing import JudgeWeight, Weighing, equal

FEWEST_REPEATS = 20  # of a judge's audit ballots, before it is weighed
SHRUNK = 0.25  # of the way to equal weights


@dataclass(frozen=True, slots=True)
class Repeats:
    """The share of orders a judge `kept`, 0 to 1, over so many audit repeats."""

    ballots: int
    kept: float


def consistency_weights(repeats: Mapping[str, Repeats], shrunk: float = SHRUNK) -> Weighing:
    """Weigh judges by (2c − 1)₊², c the share of orders kept; shrunk towards equal weights.

    A judge of fewer than twenty repeats weighs 1/n of n judges; the others share the rest. Where
    all of them vote as by chance, they share it equally.
    """
    judges = tuple(repeats)
    known = {judge: one for judge, one in repeats.items() if one.ballots >= FEWEST_REPEATS}
    if not known:
        most = max((one.ballots for one in repeats.values()), default=0)
        return equal(CONSISTENCY, judges, most, FEWEST_REPEATS)
    raw = {judge: _merit(one) for judge, one in known.items()}
    total = sum(raw.values())
    mean, room = 1 / len(judges), len(known) / len(judges)

    def line(judge: str) -> JudgeWeight:
        one = repeats[judge]
        if judge not in known:
            return JudgeWeight(judge, mean, one.ballots)
        own = room * raw[judge] / total if total else mean
        weight = (1 - shrunk) * own + shrunk * mean
        return JudgeWeight(judge, weight, one.ballots, one.kept)

    return Weighing(CONSISTENCY, tuple(map(line, judges)), FEWEST_REPEATS, FEWEST_REPEATS)


def _merit(one: Repeats) -> float:
    return max(0.0, 2 * one.kept - 1) ** 2
