"""How strong a verdict is, said about its winner."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from council.ballots import Ballot
from council.labels import Label
from council.tally.agreement import Agreement, agreement
from council.tally.borda import borda_shares
from council.tally.chance import chance
from council.tally.standings import TOLERANCE, Standing, first_alone, informative

CLEAR_P = 0.05
CLOSE_P = 0.6
CLEAR_LEAD = 0.10
EVERY_RIVAL = 1.0


class Strength(StrEnum):
    """What the standings allow to say about the first place."""

    UNANIMOUS = "unanimous"
    CLEAR = "clear"
    CLOSE = "close"
    TIED = "tied"
    NO_CONSENSUS = "no consensus"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The strength of a first place.

    `p` is the chance that random ballots give some answer the winner's share (None where nothing
    was counted); `first_on` how many of the ballots that saw the winner put it alone in first
    place; `too_few_judges` that even a unanimous first place could be chance.
    """

    strength: Strength
    p: float | None
    first_on: tuple[int, int]
    too_few_judges: bool
    agreement: Agreement
    n_eff: float | None = None
    flags: tuple[str, ...] = ()


def verdict(lines: Sequence[Standing], ballots: Sequence[Ballot], seed: str) -> Verdict:
    """Give the verdict on standings, best first, that these ballots led to."""
    counted = informative(ballots)
    shares = [line.share for line in lines if line.share is not None]
    if not shares:
        return Verdict(Strength.NO_CONSENSUS, None, (0, 0), True, agreement(()))
    outcomes = chance([ballot.shown for ballot in counted], seed)
    p = outcomes.of_reaching(shares[0])
    winner = lines[0]
    seen = [ballot for ballot in counted if winner.label in ballot.shown]
    return Verdict(
        strength=strength_of(lines, counted, p),
        p=p,
        first_on=(winner.first_votes, len(seen)),
        too_few_judges=outcomes.of_reaching(EVERY_RIVAL) > CLEAR_P,
        agreement=agreement(counted),
    )


def strength_of(lines: Sequence[Standing], ballots: Sequence[Ballot], p: float) -> Strength:
    """Give the strength of the first of lines, best first, that these ballots led to.

    `p` is the chance that random ballots give some answer its share; two answers have a share.
    """
    shares = [line.share for line in lines if line.share is not None]
    if shares[0] - shares[-1] <= TOLERANCE:
        return Strength.NO_CONSENSUS
    if shares[0] - shares[1] <= TOLERANCE:
        return Strength.TIED
    winner, second = lines[0].label, lines[1].label
    if all(first_alone(ballot, winner) for ballot in ballots if winner in ballot.shown):
        return Strength.UNANIMOUS
    leads = shares[0] - shares[1] >= CLEAR_LEAD - TOLERANCE
    if p <= CLEAR_P and leads and _outside_margin(winner, second, ballots) >= -TOLERANCE:
        return Strength.CLEAR
    return Strength.CLOSE if p <= CLOSE_P else Strength.NO_CONSENSUS


def _outside_margin(first: Label, second: Label, ballots: Sequence[Ballot]) -> float:
    """Give M_ab: the mean lead in share that judges who saw both give the first (0 without any).

    A judge sees both answers only if it wrote neither.
    """
    leads = [
        shares[first] - shares[second]
        for shares in (borda_shares(ballot.ranking) for ballot in ballots)
        if first in shares and second in shares
    ]
    return sum(leads) / len(leads) if leads else 0.0
