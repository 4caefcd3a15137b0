"""Whether a judge puts the same answers in the same order when it ranks them again."""

from dataclasses import dataclass
from itertools import combinations

from council.ballots import Ranking
from council.tally.borda import ranks


@dataclass(frozen=True, slots=True)
class Repetition:
    """How many of the pairs on both rankings stand otherwise on the second."""

    changed: int
    pairs: int


def repetition(first: Ranking, again: Ranking) -> Repetition:
    """Compare two rankings pair by pair; a tie on one of them alone is a change."""
    one, other = ranks(first), ranks(again)
    pairs = [
        (_side(one[x] - one[y]), _side(other[x] - other[y]))
        for x, y in combinations([label for label in one if label in other], 2)
    ]
    return Repetition(sum(before != after for before, after in pairs), len(pairs))


def _side(difference: float) -> int:
    return (difference > 0) - (difference < 0)
