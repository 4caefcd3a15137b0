"""Pair form: who was put above whom, and the share that follows from it."""

from collections.abc import Mapping, Sequence
from itertools import permutations

from council.ballots import Ballot
from council.labels import Label
from council.tally.borda import ranks

PairMatrix = Mapping[tuple[Label, Label], float]

_TIE = 0.5


def pair_matrix(ballots: Sequence[Ballot]) -> PairMatrix:
    """Give, for each pair some judge saw, the share of those judges who put the first above.

    A tie is half; pairs nobody saw are left out.
    """
    wins: dict[tuple[Label, Label], float] = {}
    seen: dict[tuple[Label, Label], int] = {}
    for ballot in ballots:
        place = ranks(ballot.ranking)
        for pair in permutations(place, 2):
            first, second = pair
            won = _TIE if place[first] == place[second] else float(place[first] < place[second])
            wins[pair] = wins.get(pair, 0.0) + won
            seen[pair] = seen.get(pair, 0) + 1
    return {pair: wins[pair] / seen[pair] for pair in wins}


def pair_share(label: Label, matrix: PairMatrix) -> float | None:
    """Give the mean over rivals of the label's pair shares, 0 to 1; None if no judge ranked it."""
    shares = [share for (first, _), share in matrix.items() if first == label]
    return sum(shares) / len(shares) if shares else None
