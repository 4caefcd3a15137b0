"""Verdict on the first place: its chance under random ballots, its strength, and the tally."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, permutations
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from council.ballots import Ballot
from council.labels import Label
from council.randomness import shuffle
from council.tally.agreement import Agreement, agreement
from council.tally.standings import (
    TOLERANCE,
    Standing,
    borda_shares,
    counted_ballots,
    is_sole_first,
    standings,
)

MAX_EXACT_OUTCOMES = 1_000_000
SAMPLED_OUTCOMES = 2_000
CLEAR_P = 0.05
CLOSE_P = 0.6
CLEAR_LEAD = 0.10
HIGHEST_SHARE = 1.0

_Shares = NDArray[np.float64]
_Order = tuple[Label, ...]


class Strength(StrEnum):
    """How strong the evidence for the first place is."""

    UNANIMOUS = "unanimous"
    CLEAR = "clear"
    CLOSE = "close"
    TIED = "tied"
    NO_CONSENSUS = "no consensus"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The strength of the first place, with the numbers it rests on.

    `p` is the probability that random ballots give some answer the winner's share, None without a
    counted ballot. `first_on` is on how many of the ballots with the winner it is alone in first
    place. `too_few_judges` means that even a unanimous first place could be chance.
    """

    strength: Strength
    p: float | None
    first_on: tuple[int, int]
    too_few_judges: bool
    agreement: Agreement
    n_eff: float | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """Standings, best first, and the verdict; no standings without a counted ballot."""

    standings: tuple[Standing, ...]
    verdict: Verdict


def count_ballots(labels: Iterable[Label], ballots: Sequence[Ballot], seed: str) -> Tally:
    """Count ballots over labels; the seed is used only if p must be sampled."""
    lines = standings(labels, ballots)
    found = verdict(lines, ballots, seed)
    return Tally(lines if found.p is not None else (), found)


def verdict(lines: Sequence[Standing], ballots: Sequence[Ballot], seed: str) -> Verdict:
    """Return the verdict on these ballots and their standings, best first."""
    counted = counted_ballots(ballots)
    shares = [line.share for line in lines if line.share is not None]
    if not shares:
        return Verdict(Strength.NO_CONSENSUS, None, (0, 0), True, agreement(()))
    outcomes = null_distribution([ballot.shown for ballot in counted], seed)
    p = outcomes.p_value(shares[0])
    winner = lines[0]
    seen = [ballot for ballot in counted if winner.label in ballot.shown]
    return Verdict(
        strength=classify_strength(lines, counted, p),
        p=p,
        first_on=(winner.first_votes, len(seen)),
        too_few_judges=outcomes.p_value(HIGHEST_SHARE) > CLEAR_P,
        agreement=agreement(counted),
    )


def classify_strength(lines: Sequence[Standing], ballots: Sequence[Ballot], p: float) -> Strength:
    """Return the strength of the first of `lines`; at least two lines must have a share.

    `p` is the probability that random ballots give some answer the share of the first.
    """
    shares = [line.share for line in lines if line.share is not None]
    if shares[0] - shares[-1] <= TOLERANCE:
        return Strength.NO_CONSENSUS
    if shares[0] - shares[1] <= TOLERANCE:
        return Strength.TIED
    winner, second = lines[0].label, lines[1].label
    if all(is_sole_first(ballot, winner) for ballot in ballots if winner in ballot.shown):
        return Strength.UNANIMOUS
    leads = shares[0] - shares[1] >= CLEAR_LEAD - TOLERANCE
    if p <= CLEAR_P and leads and _outside_lead(winner, second, ballots) >= -TOLERANCE:
        return Strength.CLEAR
    return Strength.CLOSE if p <= CLOSE_P else Strength.NO_CONSENSUS


def _outside_lead(first: Label, second: Label, ballots: Sequence[Ballot]) -> float:
    """Return M_ab: the mean lead in share given by judges who saw both answers, so wrote neither.

    0 without such a judge.
    """
    leads = [
        shares[first] - shares[second]
        for shares in (borda_shares(ballot.ranking) for ballot in ballots)
        if first in shares and second in shares
    ]
    return sum(leads) / len(leads) if leads else 0.0


# --- Null distribution: the best share under random ballots.


@dataclass(frozen=True, slots=True)
class NullDistribution:
    """The best share of every possible outcome of random ballots, or of a sample of them."""

    best_shares: _Shares
    is_exact: bool

    def p_value(self, share: float) -> float:
        """Return the probability that some answer reaches at least this share."""
        hits = int(np.count_nonzero(self.best_shares >= share - TOLERANCE))
        if self.is_exact:
            return hits / len(self.best_shares)
        return (1 + hits) / (1 + len(self.best_shares))


def null_distribution(slates: Sequence[_Order], seed: str) -> NullDistribution:
    """Return the best shares under random strict ballots over these slates.

    Exact up to a million outcomes, else 2,000 outcomes sampled by the seed.
    """
    labels = sorted({label for slate in slates for label in slate})
    pairs = _PairWeights(labels, slates)
    if prod(factorial(len(slate)) for slate in slates) <= MAX_EXACT_OUTCOMES:
        totals = np.zeros((1, pairs.count))
        for slate in slates:
            options = pairs.gains([*permutations(slate)])
            totals = (totals[:, None, :] + options[None, :, :]).reshape(-1, pairs.count)
        return NullDistribution(totals.max(axis=1), is_exact=True)
    totals = np.zeros((SAMPLED_OUTCOMES, pairs.count))
    for j, slate in enumerate(slates):
        totals += pairs.gains(
            [shuffle(slate, seed, f"chance {i} {j}") for i in range(SAMPLED_OUTCOMES)]
        )
    return NullDistribution(totals.max(axis=1), is_exact=False)


class _PairWeights:
    """What winning a pair on one ballot adds to a share: 1 / (judges who saw the pair × rivals)."""

    def __init__(self, labels: Sequence[Label], slates: Sequence[_Order]) -> None:
        self._at = {label: i for i, label in enumerate(labels)}
        seen = np.zeros((len(labels), len(labels)))
        for slate in slates:
            places = [self._at[label] for label in slate]
            seen[np.ix_(places, places)] += 1
        np.fill_diagonal(seen, 0)
        self.count = len(labels)
        rivals = np.count_nonzero(seen, axis=1)
        with np.errstate(divide="ignore"):
            self._weights = np.where(seen > 0, 1 / (seen * rivals[:, None]), 0.0)

    def gains(self, orders: Sequence[_Order]) -> _Shares:
        """Return what each strict order of one slate adds to the shares: (orders, labels)."""
        places = np.array([[self._at[label] for label in order] for order in orders])
        gained = np.zeros((len(orders), self.count))
        rows = np.arange(len(orders))
        for better, worse in combinations(range(places.shape[1]), 2):
            winners = places[:, better]
            gained[rows, winners] += self._weights[winners, places[:, worse]]
        return gained
