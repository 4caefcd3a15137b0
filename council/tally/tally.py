"""The tally of a round: its standings and its verdict."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from council.ballots import Ballot
from council.labels import Label
from council.tally.standings import Standing, standings
from council.tally.verdict import Verdict, verdict


@dataclass(frozen=True, slots=True)
class Tally:
    """Standings, best first, and what they allow to say; without a counted ballot, no standings."""

    standings: tuple[Standing, ...]
    verdict: Verdict


def count_ballots(labels: Iterable[Label], ballots: Sequence[Ballot], seed: str) -> Tally:
    """Count ballots over labels; the seed decides only draws made where p cannot be exact."""
    lines = standings(labels, ballots)
    found = verdict(lines, ballots, seed)
    return Tally(lines if found.p is not None else (), found)
