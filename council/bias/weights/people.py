"""What people chose in rounds, and how often each judge chose the same."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from council.bakeoffs.columns import PRECISION, Floats
from council.bakeoffs.intervals import Interval, rate_interval
from council.bias.weights.given import Given

FEWEST_VOTES = 20  # of people on a board, before judges are held against them


@dataclass(frozen=True, slots=True)
class Choice:
    """The member whose answer somebody called the best of a round."""

    round_id: str
    member: str


@dataclass(frozen=True, slots=True)
class WithPeople:
    """How often a judge put the answer a person chose above each other one that it was shown.

    `same` of `ballots`, one for each vote on an answer it saw; a tie is not above. Of m answers
    chance puts the chosen one first in 1/m.
    """

    same: int
    ballots: int

    @property
    def share(self) -> float:
        """The share of ballots."""
        return self.same / self.ballots

    @property
    def ci(self) -> Interval:
        """The 95 % interval of the share (Wilson)."""
        return rate_interval(self.same, self.ballots)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A vote beside a round's ballots: shares by (judge, member), and which member was chosen."""

    given: Given
    shares: Floats
    chosen: int


def comparisons(rounds: Iterable[Given], choices: Sequence[Choice]) -> Iterator[Comparison]:
    """Give each vote with the ballots of its round; votes on other rounds are left out."""
    by_round: dict[str, list[str]] = {}
    for choice in choices:
        by_round.setdefault(choice.round_id, []).append(choice.member)
    for given in rounds:
        for i, round_id in enumerate(given.rounds):
            for member in by_round.get(round_id, ()):
                if member in given.members:
                    yield Comparison(given, given.shares[i], given.members.index(member))


def with_people(rounds: Iterable[Given], choices: Sequence[Choice]) -> Mapping[str, WithPeople]:
    """Give each judge's agreement with people; nobody's before there are twenty votes."""
    held = [*comparisons(rounds, choices)]
    if len(held) < FEWEST_VOTES:
        return {}
    found: dict[str, WithPeople] = {}
    for one in held:
        for judge, row in zip(one.given.judges, one.shares, strict=True):
            if not np.isnan(row[one.chosen]):
                before = found.get(judge, WithPeople(0, 0))
                same = before.same + _is_above(row, one.chosen)
                found[judge] = WithPeople(same, before.ballots + 1)
    return found


def _is_above(row: Floats, chosen: int) -> bool:
    others = np.delete(row, chosen)
    return bool(np.nanmax(others) < row[chosen] - PRECISION)
