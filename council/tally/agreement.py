"""Agreement of judges: Kendall's τ_b and W, Krippendorff's α, effective number, repeatability."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt
from statistics import fmean
from typing import TYPE_CHECKING

from council.ballots import Ballot, Ranking
from council.labels import Label
from council.tally.borda import borda_shares, ranks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIN_ROUNDS = 30  # with fewer, the effective number of judges is noise
_NO_SPREAD = 1e-6  # shares of bias reports are computed from single-precision numbers


@dataclass(frozen=True, slots=True)
class Agreement:
    """Mean pairwise τ_b (−1 to 1), Kendall's W (0 to 1) and Krippendorff's α (1 is perfect)."""

    tau_b: float | None
    kendall_w: float | None
    alpha: float | None


def agreement(ballots: Sequence[Ballot]) -> Agreement:
    """Return the agreement of the judges who cast these ballots."""
    return Agreement(mean_tau(ballots), kendall_w(ballots), krippendorff_alpha(ballots))


def mean_tau(ballots: Sequence[Ballot]) -> float | None:
    """Return the mean of Kendall's τ_b over pairs of judges, each on the answers both ranked."""
    places = [ranks(ballot.ranking) for ballot in ballots]
    taus = [tau for one, other in combinations(places, 2) if (tau := tau_b(one, other)) is not None]
    return fmean(taus) if taus else None


def tau_b(one: Mapping[Label, float], other: Mapping[Label, float]) -> float | None:
    """Return Kendall's τ_b on common labels (Kendall 1945); None if a judge ties all of them."""
    common = [(float(one[label]), float(other[label])) for label in one if label in other]
    concordance = one_untied = other_untied = 0
    for (first, its), (second, also) in combinations(common, 2):
        here = (first > second) - (first < second)
        there = (its > also) - (its < also)
        concordance += here * there
        one_untied += here != 0
        other_untied += there != 0
    untied = one_untied * other_untied
    return concordance / sqrt(untied) if untied else None


def kendall_w(ballots: Sequence[Ballot]) -> float | None:
    """Return Kendall's W, corrected for ties; None unless all judges ranked the same answers.

    W = 12 S / (k²(n³ − n) − k Σ(t³ − t)), S the sum of squared deviations of the rank sums.
    """
    if len(ballots) < 2 or len({frozenset(ballot.shown) for ballot in ballots}) > 1:  # noqa: PLR2004
        return None
    judges, items = len(ballots), len(ballots[0].shown)
    places = [ranks(ballot.ranking) for ballot in ballots]
    sums = [sum(place[label] for place in places) for label in ballots[0].shown]
    spread = sum((total - fmean(sums)) ** 2 for total in sums)
    ties = sum(len(tied) ** 3 - len(tied) for ballot in ballots for tied in ballot.ranking)
    maximum = judges**2 * (items**3 - items) - judges * ties
    return 12 * spread / maximum if maximum else None


def krippendorff_alpha(ballots: Sequence[Ballot]) -> float | None:
    """Return Krippendorff's α for ranks: 1 − observed / expected disagreement.

    Ranks become Borda shares, so that slates of different sizes are comparable; the distance is
    the squared difference of shares.
    """
    import numpy as np  # slow to import

    shares = [borda_shares(ballot.ranking) for ballot in ballots]
    labels = sorted({label for share in shares for label in share})
    table = [[share.get(label, nan) for share in shares] for label in labels]
    return pooled_alpha([np.array(table).reshape(len(labels), len(shares))])


def pooled_alpha(tables: "Iterable[NDArray[np.float64]]") -> float | None:
    """Return the same over all rounds, from their shares by (answer, judge); NaN is unknown."""
    import numpy as np

    values = disagreement = total = squares = 0.0
    for table in tables:
        count = (~np.isnan(table)).sum(axis=1)
        shares, count = np.nan_to_num(table[count > 1]), count[count > 1]
        sums, squares_by_answer = shares.sum(axis=1), (shares**2).sum(axis=1)
        # The squared differences over ordered pairs of k values sum to 2(kΣv² − (Σv)²).
        disagreement += float((2 * (count * squares_by_answer - sums**2) / (count - 1)).sum())
        values, total = values + float(count.sum()), total + float(sums.sum())
        squares += float(squares_by_answer.sum())
    expected = 2 * (values * squares - total**2)
    if values < 2 or expected < _NO_SPREAD:  # noqa: PLR2004
        return None
    return 1 - disagreement / values / (expected / (values * (values - 1)))


def effective_judges(rounds: Sequence[Sequence[Ballot]]) -> float | None:
    """Return N_eff = (Σw)²/(wᵀRw) with equal weights, 1 to n; None for less than thirty rounds.

    R holds, for each pair of judges, the mean over rounds of their τ_b on common answers, by their
    first ballots. Agreement because judges are right is indistinguishable from agreement because
    they are alike.
    """
    if len(rounds) < MIN_ROUNDS:
        return None
    taus: dict[tuple[str, str], list[float]] = {}
    for ballots in rounds:
        first = (ballot for ballot in ballots if ballot.pass_number == 1)
        cast = sorted(first, key=lambda ballot: ballot.judge)
        for one, other in combinations(cast, 2):
            tau = tau_b(ranks(one.ranking), ranks(other.ranking))
            if tau is not None:
                taus.setdefault((one.judge, other.judge), []).append(tau)
    judges = {ballot.judge for ballots in rounds for ballot in ballots}
    return effective_number(len(judges), [fmean(tau) for tau in taus.values()])


def effective_number(judges: int, taus: Iterable[float]) -> float | None:
    """Return N_eff, 1 to n, from the mean τ_b of each pair; None if they cancel out."""
    total = judges + 2 * sum(taus)
    return min(float(judges), max(1.0, judges**2 / total)) if total > 0 else None


@dataclass(frozen=True, slots=True)
class RankingChange:
    """How many of the pairs in both rankings have a different order in the second."""

    changed: int
    pairs: int


def compare_rankings(first: Ranking, again: Ranking) -> RankingChange:
    """Compare two rankings pair by pair; a tie in only one of them is a change."""
    one, other = ranks(first), ranks(again)
    pairs = [
        (_sign(one[x] - one[y]), _sign(other[x] - other[y]))
        for x, y in combinations([label for label in one if label in other], 2)
    ]
    return RankingChange(sum(before != after for before, after in pairs), len(pairs))


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)
