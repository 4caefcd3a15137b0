"""Verdict on the first place, its strength, and the tally of a round."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from council.ballots import Ballot
from council.labels import Label
from council.tally.agreement import Agreement, agreement
from council.tally.borda import (
    TOLERANCE,
    JudgeWeights,
    Standing,
    borda_shares,
    counted_ballots,
    is_sole_first,
    merge_passes,
    pair_matrix,
    pair_share,
    standings,
)
from council.tally.chance_rule import DEFAULT_RULE, ChanceRule
from council.tally.flags import Flag

if TYPE_CHECKING:
    from council.tally.chance import NullDistribution

CLEAR_P = 0.05
CLOSE_P = 0.6
CLEAR_LEAD = 0.10
HIGHEST_SHARE = 1.0
BOTH = 2  # passes of an outside judge
MAX_OUTSIDE_SUGGESTED = 10


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

    `p` is the probability that chance gives some answer the winner's share, since rule 3 with its
    lead over the second, None without a counted ballot. `first_on` is on how many of the ballots
    with the winner it is alone in first place. `too_few_judges` means that even a unanimous first
    place could be chance, whatever its lead.
    """

    strength: Strength
    p: float | None
    first_on: tuple[int, int]
    too_few_judges: bool
    agreement: Agreement
    n_eff: float | None = None
    flags: tuple[Flag, ...] = ()

    @property
    def is_sure(self) -> bool:
        """Whether the first place is unlikely to be chance: clear, or unanimous with p ≤ .05."""
        is_strong = self.strength in {Strength.UNANIMOUS, Strength.CLEAR}
        return is_strong and self.p is not None and self.p <= CLEAR_P


@dataclass(frozen=True, slots=True)
class Tally:
    """Standings, best first, and the verdict; no standings without a counted ballot."""

    standings: tuple[Standing, ...]
    verdict: Verdict


def count_ballots(
    labels: Iterable[Label],
    ballots: Sequence[Ballot],
    seed: str,
    rule: ChanceRule = DEFAULT_RULE,
    weights: JudgeWeights | None = None,
) -> Tally:
    """Count ballots over labels; `rule` is that of p, and the seed of its oldest version."""
    lines = standings(labels, ballots, weights)
    outcome = verdict(lines, ballots, seed, rule, weights)
    return Tally(lines if outcome.p is not None else (), outcome)


def unanimity_p(members: int, outside: int, rule: ChanceRule = DEFAULT_RULE) -> float:
    """Return the p of a unanimous first place if all members and outside judges vote."""
    from council.tally.chance import null_distribution  # numpy is slow to import

    answers = tuple(Label(f"{i:02}") for i in range(members))
    slates = [answers[:author] + answers[author + 1 :] for author in range(members)]
    slates = [slate for slate in slates if len(slate) > 1]
    passes = [1] * len(slates) + [BOTH if rule.reverses_outside else 1] * outside
    slates += [answers] * outside
    outcomes = null_distribution(slates, "", rule, passes=passes) if slates else None
    return outcomes.p_value(HIGHEST_SHARE) if outcomes else 1.0


def outside_judges_needed(members: int, outside: int) -> int:
    """Return how many more outside judges bring a unanimous first place to p ≤ .05, 10 at most."""
    counts = range(MAX_OUTSIDE_SUGGESTED)
    enough = (more for more in counts if unanimity_p(members, outside + more) <= CLEAR_P)
    return next(enough, MAX_OUTSIDE_SUGGESTED)


def verdict(
    lines: Sequence[Standing],
    ballots: Sequence[Ballot],
    seed: str,
    rule: ChanceRule,
    weights: JudgeWeights | None = None,
) -> Verdict:
    """Return the verdict on these ballots and their standings, best first."""
    cast = counted_ballots(ballots)
    counted = merge_passes(cast)
    shares = [line.share for line in lines if line.share is not None]
    if not shares:
        return Verdict(Strength.NO_CONSENSUS, None, (0, 0), True, agreement(()))
    outcomes = _outcomes(cast, counted, seed, rule, weights)
    lead = _sure_lead(lines, cast, weights) if rule.lead_decides else 0.0
    p = outcomes.p_value(shares[0], lead)
    winner = lines[0]
    seen = [ballot for ballot in counted if winner.label in ballot.shown]
    return Verdict(
        strength=classify_strength(lines, cast if rule.every_pass else counted, p),
        p=p,
        first_on=(winner.first_votes, len(seen)),
        too_few_judges=outcomes.p_value(HIGHEST_SHARE, outcomes.largest_lead(HIGHEST_SHARE))
        > CLEAR_P,
        agreement=agreement(counted),
    )


def _outcomes(
    cast: Sequence[Ballot],
    merged: Sequence[Ballot],
    seed: str,
    rule: ChanceRule,
    weights: JudgeWeights | None,
) -> "NullDistribution":
    """Return the outcomes under chance of the ballots cast, given also with passes merged."""
    from council.tally.chance import null_distribution  # numpy is slow to import

    slates = [ballot.shown for ballot in merged]
    judges = [weights[ballot.judge] if weights else 1.0 for ballot in merged]
    if not rule.lead_decides:
        return null_distribution(slates, seed, rule, judges if weights else ())
    passes = Counter((ballot.judge, frozenset(ballot.shown)) for ballot in cast)
    own = [passes[ballot.judge, frozenset(ballot.shown)] for ballot in merged]
    of_judge = Counter(ballot.judge for ballot in cast)
    parts = [
        weight * count / of_judge[ballot.judge]
        for ballot, weight, count in zip(merged, judges, own, strict=True)
    ]
    return null_distribution(slates, seed, rule, parts, own)


def _sure_lead(
    lines: Sequence[Standing], ballots: Sequence[Ballot], weights: JudgeWeights | None
) -> float:
    """Return the lead over the second, had judges ordered answers that they tie in its favour.

    Chance draws orders without ties, and ties draw the others level, which would look like a lead.
    """
    rivals = [line.share for line in lines[1:]]
    if any(len(place) > 1 for ballot in ballots for place in ballot.ranking):
        matrix = pair_matrix(ballots, weights, tie=1.0)
        rivals = [pair_share(line.label, matrix) for line in lines[1:]]
    return (lines[0].share or 0.0) - max(share for share in rivals if share is not None)


def classify_strength(lines: Sequence[Standing], ballots: Sequence[Ballot], p: float) -> Strength:
    """Return the strength of the first of `lines`; at least two lines must have a share.

    Unanimous is who is first, alone, on each of the ballots that saw it.
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
    if (
        p <= CLEAR_P
        and leads
        and _outside_lead(winner, second, merge_passes(ballots)) >= -TOLERANCE
    ):
        return Strength.CLEAR
    return Strength.CLOSE if p <= CLOSE_P else Strength.NO_CONSENSUS


def _outside_lead(first: Label, second: Label, ballots: Sequence[Ballot]) -> float:
    """Return M_ab, the mean lead in share by judges who saw both, so wrote neither; 0 without."""
    leads = [
        shares[first] - shares[second]
        for shares in (borda_shares(ballot.ranking) for ballot in ballots)
        if first in shares and second in shares
    ]
    return sum(leads) / len(leads) if leads else 0.0
