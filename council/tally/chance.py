"""Null distribution of the winner's share: how often chance alone makes some answer win as high.

Two rules. Rule 1 takes judges as independent; stored rounds from before rule 2 keep it. Under rule
2 judges share errors, since models often like the same wrong answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import combinations, permutations
from math import factorial, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from council.labels import Label
from council.randomness import shuffle
from council.tally.borda import TOLERANCE

MAX_EXACT_OUTCOMES = 1_000_000
SAMPLED_OUTCOMES = 2_000  # of rule 1
SHARED_ERROR_DRAWS = 20_000  # of rule 2
CACHED_DESIGNS = 64

INDEPENDENT, SHARED_ERRORS = "1", "2"
EACH_BALLOT = "each-ballot"
DEFAULT_RHO = 0.15  # until rounds with known answers tell how much the judges' errors correlate

_Shares = NDArray[np.float64]
_Order = tuple[Label, ...]
_Design = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ChanceRule:
    """The rule of a round's p and verdict, and the correlation of judges' errors it assumes.

    With `every_pass`, a unanimous winner is first in every pass of a judge; rounds from before
    that looked at the mean of a judge's passes.
    """

    version: str = SHARED_ERRORS
    rho: float = DEFAULT_RHO
    every_pass: bool = True

    @classmethod
    def of(cls, versions: Mapping[str, str]) -> "ChanceRule":
        """Return the rule among a round's versions; rounds from before rule 2 have none."""
        every_pass = versions.get("unanimous") == EACH_BALLOT
        if versions.get("chance", INDEPENDENT) == INDEPENDENT:
            return cls(INDEPENDENT, 0.0, every_pass)
        return cls(versions["chance"], float(versions["rho"]), every_pass)

    @property
    def versions(self) -> dict[str, str]:
        """The entries by which a round keeps this rule."""
        own = {"chance": self.version, "rho": f"{self.rho:g}"}
        return own | {"unanimous": EACH_BALLOT} if self.every_pass else own


DEFAULT_RULE = ChanceRule()


@dataclass(frozen=True, slots=True)
class NullDistribution:
    """The best share, ascending, of every outcome under chance or of a sample of outcomes."""

    best_shares: _Shares
    is_exact: bool

    def p_value(self, share: float) -> float:
        """Return the probability that some answer reaches at least this share."""
        count = len(self.best_shares)
        hits = count - int(np.searchsorted(self.best_shares, share - TOLERANCE))
        return hits / count if self.is_exact else (1 + hits) / (1 + count)


def null_distribution(
    slates: Sequence[_Order],
    seed: str,
    rule: ChanceRule = DEFAULT_RULE,
    weights: Sequence[float] = (),
) -> NullDistribution:
    """Return the best shares over these slates if no answer is better than another.

    Only rule 1 uses the seed, and only beyond a million outcomes. Only rule 2 knows `weights`, one
    for each slate; without any, all judges weigh the same.
    """
    labels = sorted({label for slate in slates for label in slate})
    at = {label: i for i, label in enumerate(labels)}
    if rule.version == INDEPENDENT:
        return _independent(slates, at, seed)
    shown = [tuple(sorted(at[label] for label in slate)) for slate in slates]
    design = sorted(zip(shown, weights or [1.0] * len(shown), strict=True))
    return _shared_errors(
        tuple(slate for slate, _ in design),
        rule,
        tuple(weight for _, weight in design) if weights else (),
    )


def _independent(slates: Sequence[_Order], at: Mapping[Label, int], seed: str) -> NullDistribution:
    """Return outcomes of uniformly random ballots: all up to a million, else 2,000 by the seed."""
    weights = pair_weights([[at[label] for label in slate] for slate in slates])
    is_exact = prod(factorial(len(slate)) for slate in slates) <= MAX_EXACT_OUTCOMES
    totals = np.zeros((1 if is_exact else SAMPLED_OUTCOMES, len(at)))
    for j, slate in enumerate(slates):
        if is_exact:
            orders = np.array([[at[label] for label in order] for order in permutations(slate)])
            totals = (totals[:, None, :] + _gains(orders, weights)[None, :, :]).reshape(-1, len(at))
        else:
            sampled = (shuffle(slate, seed, f"chance {i} {j}") for i in range(SAMPLED_OUTCOMES))
            totals += _gains(np.array([[at[x] for x in order] for order in sampled]), weights)
    return NullDistribution(np.sort(totals.max(axis=1)), is_exact)


@lru_cache(CACHED_DESIGNS)
def _shared_errors(
    design: _Design, rule: ChanceRule, judges: tuple[float, ...]
) -> NullDistribution:
    """Return 20,000 outcomes of judges that share errors; answers are numbered from 0.

    Judge j sees answer c as √ρ·s_c + √(1−ρ)·e_jc with standard normal s and e, and all judges the
    same s. Drawn from numpy's frozen `RandomState`, seeded by design, ρ and rule, so that any
    process recomputes the same p.
    """
    text = repr((design, rule.version, f"{rule.rho:g}", *([judges] if judges else [])))
    draws = np.random.RandomState(int(sha256(text.encode()).hexdigest()[:8], 16))
    judges = judges or (1.0,) * len(design)
    weights = pair_weights(design, judges)
    shared = draws.standard_normal((SHARED_ERROR_DRAWS, len(weights)))
    totals = np.zeros_like(shared)
    for slate, judge in zip(design, judges, strict=True):
        own = draws.standard_normal((SHARED_ERROR_DRAWS, len(slate)))
        views = sqrt(rule.rho) * shared[:, slate] + sqrt(1 - rule.rho) * own
        beats = views[:, :, None] > views[:, None, :]
        totals[:, slate] += (beats * (judge * weights[np.ix_(slate, slate)])).sum(axis=2)
    return NullDistribution(np.sort(totals.max(axis=1)), is_exact=False)


def pair_weights(slates: Sequence[Sequence[int]], judges: Sequence[float] = ()) -> _Shares:
    """Return what beating another answer on one ballot adds to a share: (winner, loser).

    1 / (judges who saw both × rivals of the winner), where a judge counts as its weight in
    `judges`, if there are any; 0 for answers that no judge saw together.
    """
    count = 1 + max(answer for slate in slates for answer in slate)
    seen = np.zeros((count, count))
    for slate, judge in zip(slates, judges or [1.0] * len(slates), strict=True):
        seen[np.ix_(slate, slate)] += judge
    np.fill_diagonal(seen, 0)
    rivals = np.count_nonzero(seen, axis=1)
    with np.errstate(divide="ignore"):
        return np.where(seen > 0, 1 / (seen * rivals[:, None]), 0.0)


def _gains(orders: NDArray[np.int_], weights: _Shares) -> _Shares:
    """Return what each strict order of one slate adds to the shares: (orders, answers)."""
    gained = np.zeros((len(orders), len(weights)))
    rows = np.arange(len(orders))
    for better, worse in combinations(range(orders.shape[1]), 2):
        winners = orders[:, better]
        gained[rows, winners] += weights[winners, orders[:, worse]]
    return gained
