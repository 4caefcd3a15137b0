"""Weights of judges by their consistency: how far they repeat their own order of two answers."""

from collections.abc import Mapping
from dataclasses import dataclass

CONSISTENCY = "consistency"


@dataclass(frozen=True, slots=True)
class JudgeWeight:
    """A judge's part of all weight, 0 to 1; `basis` is the measure behind it, on `n` observations.

    `basis` is None if too little is known of the judge, which then has an average weight.
    """

    judge: str
    weight: float
    n: int = 0
    basis: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeWeights:
    """The weights of all judges of a board, which add up to 1.

    With only `have` of the `need` observations the weights are equal and must not be used.
    """

    name: str
    judges: tuple[JudgeWeight, ...]
    have: int = 0
    need: int = 0

    @property
    def is_usable(self) -> bool:
        """Whether there are enough observations."""
        return self.have >= self.need

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of each judge."""
        return {line.judge: line.weight for line in self.judges}


def equal_weights(name: str, judges: tuple[str, ...], have: int = 0, need: int = 0) -> JudgeWeights:
    """Return the same weight for every judge."""
    lines = (JudgeWeight(judge, 1 / len(judges)) for judge in judges)
    return JudgeWeights(name, tuple(lines), have, need)


MIN_REPEATS = 20  # audit ballots of a judge, before it is weighed
SHRINKAGE = 0.25  # part of the way towards equal weights


@dataclass(frozen=True, slots=True)
class Repeats:
    """The share of pairs a judge ordered the same, 0 to 1, over `ballots` audit repeats."""

    ballots: int
    kept: float


def consistency_weights(repeats: Mapping[str, Repeats], shrunk: float = SHRINKAGE) -> JudgeWeights:
    """Weigh judges by (2c − 1)₊², c the share of pairs kept in order; shrunk towards equal weights.

    A judge with fewer than twenty repeats weighs 1/n of n judges; the others share the rest,
    equally if all of them vote as by chance.
    """
    judges = tuple(repeats)
    known = {judge: one for judge, one in repeats.items() if one.ballots >= MIN_REPEATS}
    if not known:
        max_repeats = max((one.ballots for one in repeats.values()), default=0)
        return equal_weights(CONSISTENCY, judges, max_repeats, MIN_REPEATS)
    raw = {judge: _raw_weight(one) for judge, one in known.items()}
    total = sum(raw.values())
    mean, known_part = 1 / len(judges), len(known) / len(judges)

    def line(judge: str) -> JudgeWeight:
        observed = repeats[judge]
        if judge not in known:
            return JudgeWeight(judge, mean, observed.ballots)
        own = known_part * raw[judge] / total if total else mean
        weight = (1 - shrunk) * own + shrunk * mean
        return JudgeWeight(judge, weight, observed.ballots, observed.kept)

    return JudgeWeights(CONSISTENCY, tuple(map(line, judges)), MIN_REPEATS, MIN_REPEATS)


def _raw_weight(repeats: Repeats) -> float:
    return max(0.0, 2 * repeats.kept - 1) ** 2
