"""Null distribution of the winner's share: how often chance alone makes some answer win as high.

Three rules; a stored round keeps its own. Rule 1 takes judges as independent. Since rule 2 they
share errors, as models often like the same wrong answer. Under rule 3 the lead over the second
decides among equal shares, and outside judges rank in both orders.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from itertools import combinations, permutations
from math import factorial, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from council.labels import Label
from council.randomness import shuffle
from council.tally.borda import TOLERANCE
from council.tally.chance_rule import DEFAULT_RULE, INDEPENDENT, ChanceRule

MAX_EXACT_OUTCOMES = 1_000_000
SAMPLED_OUTCOMES = 2_000  # of rule 1
SHARED_ERROR_DRAWS = 20_000  # since rule 2
FINE_BLOCKS = 10  # of as many draws, where p is near the limit of a claim
FINE_FROM, FINE_TO = 0.03, 0.08
WEIGHT_STEPS = 20  # of rule 3: weights are multiples of .05, so that designs repeat
CACHED_DESIGNS = 64
_OWN_PART = 0.5  # of the variance of a judge's error that each of its passes has for itself
_DIGITS = 12  # sums of the same shares in another order are the same outcome

_Shares = NDArray[np.float64]
_Order = tuple[Label, ...]
_Design = tuple[tuple[int, ...], ...]
_Judge = tuple[tuple[int, ...], int, int]  # the answers it sees, its passes, its weight in steps


@dataclass(frozen=True, slots=True)
class NullDistribution:
    """The best share, ascending, of every outcome under chance or of a sample of outcomes.

    Under rule 3 each best share is listed once for each of its `leads` over the second, `counts`
    says how often both occur, and `finer` returns a larger sample.
    """

    best_shares: _Shares
    is_exact: bool
    leads: _Shares | None = None
    counts: NDArray[np.int_] | None = None
    finer: "Callable[[], NullDistribution] | None" = None

    def p_value(self, share: float, lead: float = 0.0) -> float:
        """Return the probability that some answer reaches a higher share, or this with this lead.

        Before rule 3, the lead makes no difference.
        """
        p = self._p_value(share, lead)
        if self.finer and FINE_FROM <= p <= FINE_TO:
            return self.finer()._p_value(share, lead)
        return p

    def _p_value(self, share: float, lead: float) -> float:
        first = int(np.searchsorted(self.best_shares, share - TOLERANCE))
        if self.leads is None or self.counts is None:
            count = len(self.best_shares)
            hits = count - first
            return hits / count if self.is_exact else (1 + hits) / (1 + count)
        above = int(np.searchsorted(self.best_shares, share + TOLERANCE, side="right"))
        has_lead = self.leads[first:above] >= lead - TOLERANCE
        hits = int(self.counts[first:above][has_lead].sum() + self.counts[above:].sum())
        return (1 + hits) / (1 + int(self.counts.sum()))

    def largest_lead(self, share: float) -> float:
        """Return the largest lead of an outcome with at least this share; 0 without one."""
        if self.leads is None:
            return 0.0
        found = self.leads[int(np.searchsorted(self.best_shares, share - TOLERANCE)) :]
        return float(found.max(initial=0.0))


def null_distribution(
    slates: Sequence[_Order],
    seed: str,
    rule: ChanceRule = DEFAULT_RULE,
    weights: Sequence[float] = (),
    passes: Sequence[int] = (),
) -> NullDistribution:
    """Return the best shares over these slates if no answer is better than another.

    Only rule 1 uses the seed, and only beyond a million outcomes. The later rules know `weights`,
    one for each slate; without any, all judges weigh the same. Only rule 3 knows in how many
    `passes` a judge ranks each slate, once unless they say otherwise.
    """
    if rule.lead_decides:
        steps = [max(1, round(weight * WEIGHT_STEPS)) for weight in weights] or [1] * len(slates)
        judges = tuple(zip(slates, passes or [1] * len(slates), steps, strict=True))
        return _lead_decides(_number_answers(judges), rule)
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


def _number_answers(judges: Sequence[tuple[_Order, int, int]]) -> tuple[_Judge, ...]:
    """Return the judges in order, with numbers for answers: those seen alike get them in a row.

    So rounds that differ only in their labels have the same design.
    """
    seen: dict[Label, list[tuple[int, int, int]]] = {}
    for slate, passes, weight in judges:
        for label in slate:
            seen.setdefault(label, []).append((len(slate), passes, weight))
    ordered = sorted(seen, key=lambda label: (sorted(seen[label]), label))
    at = {label: i for i, label in enumerate(ordered)}
    unit = 1 if len({weight for *_, weight in judges}) == 1 else 0  # equal weights are as none
    return tuple(
        sorted(
            (tuple(sorted(at[label] for label in slate)), passes, unit or weight)
            for slate, passes, weight in judges
        )
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


@lru_cache(CACHED_DESIGNS)
def _lead_decides(
    design: tuple[_Judge, ...], rule: ChanceRule, blocks: int = 1
) -> NullDistribution:
    """Return 20,000 outcomes a block, of judges that share errors, with the leads of the best.

    Judge j sees answer c as √ρ·s_c + √(1−ρ)·e_jc. Where it ranks in several passes, half of the
    variance of e is the judge's and half the pass's own. Drawn like rule 2; the first block of
    more is the same.
    """
    text = repr((design, f"{rule.rho:g}", rule.version))
    draws = np.random.RandomState(int(sha256(text.encode()).hexdigest()[:8], 16))
    found = np.concatenate([_draw_outcomes(design, rule.rho, draws) for _ in range(blocks)])
    outcomes, counts = np.unique(found.round(_DIGITS), return_counts=True)
    return NullDistribution(
        np.ascontiguousarray(outcomes.real),
        is_exact=False,
        leads=np.ascontiguousarray(outcomes.imag),
        counts=counts,
        finer=partial(_lead_decides, design, rule, FINE_BLOCKS) if blocks == 1 else None,
    )


def _draw_outcomes(
    design: tuple[_Judge, ...], rho: float, draws: np.random.RandomState
) -> NDArray[np.complex128]:
    """Return the best share of each draw, with its lead over the second as the imaginary part."""
    weights = pair_weights([slate for slate, *_ in design], [float(w) for *_, w in design])
    count = len(weights)
    shared = sqrt(rho) * draws.standard_normal((count, SHARED_ERROR_DRAWS))
    totals = np.zeros_like(shared)
    for slate, passes, weight in design:
        size = (len(slate), SHARED_ERROR_DRAWS)
        views = shared[list(slate)]
        own = 1.0 if passes == 1 else _OWN_PART
        if passes > 1:
            views += sqrt((1 - rho) * (1 - own)) * draws.standard_normal(size)
        for _ in range(passes):
            seen = views + sqrt((1 - rho) * own) * draws.standard_normal(size)
            for one, other in combinations(range(len(slate)), 2):
                a, b = slate[one], slate[other]
                wins = seen[one] > seen[other]
                totals[a] += weight / passes * weights[a, b] * wins
                totals[b] += weight / passes * weights[b, a] * ~wins
    second, best = np.partition(totals, (count - 2, count - 1), axis=0)[-2:]
    outcomes: NDArray[np.complex128] = best + 1j * (best - second)
    return outcomes


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
