"""A round's answers with the leaderboard as prior: what the board would have said.

The strength θ_c of an answer, in log-odds, is normal around its member's Bradley-Terry strength on
the leaderboard, with the variance that strength is known with and STRAY² more. The round's ballots
are Bradley-Terry evidence, ties half; a pair on a ballot over m answers weighs 2/m, so that the
ballot counts as the m − 1 choices it takes to rank them. The posterior is taken as normal around
its mode (Laplace).
Shown beside the official count, never inside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from council.bakeoffs.pairwise import UNKNOWN, Score, curvature, fitted
from council.bakeoffs.record_arrays import Floats
from council.ballots import Ballot
from council.labels import LabelMap
from council.randomness import digest
from council.tally.standings import ranks

STRAY = 1.0  # how far a single answer strays from its member: chosen, not fitted
DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class WinChance:
    """An answer's chance, 0 to 1, of being the round's best.

    `before` is by the leaderboard alone, `after` with the round's ballots.
    """

    member: str
    before: float
    after: float


def posterior(
    labels: LabelMap, ballots: Sequence[Ballot], strengths: Mapping[str, Score], seed: str
) -> tuple[WinChance, ...]:
    """Give the chances of a round's members, the likeliest first; each column adds up to 1.

    `strengths` are those of the leaderboard. Everything follows from these and the seed.
    """
    members = labels.authors
    known = [strengths.get(member, UNKNOWN) for member in members]
    centre = np.array([one.value for one in known])
    variance = np.array([one.variance for one in known]) + STRAY**2
    wins = _wins(labels, ballots)
    met = wins + wins.T
    mode = fitted(wins, met, centre, 1 / variance)
    noise = np.random.RandomState(int(digest(seed, "posterior", "")[:8], 16))
    drawn = noise.standard_normal((DRAWS, len(members)))
    before = _best(centre + np.sqrt(variance) * drawn)
    spread = np.linalg.inv(curvature(mode, met, 1 / variance))
    after = _best(mode + drawn @ np.linalg.cholesky(spread).T)
    lines = zip(members, before, after, strict=True)
    likely = [WinChance(*line) for line in lines]
    return tuple(sorted(likely, key=lambda line: (-line.after, line.member)))


def _wins(labels: LabelMap, ballots: Sequence[Ballot]) -> Floats:
    """Give the weight with which each answer was put above each other one."""
    at = {label: i for i, label in enumerate(labels.labels)}
    wins = np.zeros((len(at), len(at)))
    for ballot in ballots:
        place = ranks(ballot.ranking)
        for one, other in permutations(place, 2):
            won = 0.5 if place[one] == place[other] else float(place[one] < place[other])
            wins[at[one], at[other]] += won * 2 / len(place)
    return wins


def _best(strengths: Floats) -> list[float]:
    """Give how often each is the strongest."""
    counts = np.bincount(strengths.argmax(axis=1), minlength=strengths.shape[1])
    return [count / len(strengths) for count in counts.tolist()]
