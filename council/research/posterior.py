"""The chance of each answer to be the best, with the leaderboard as prior.

The strength θ_c of an answer, in log-odds, is normal around its member's Bradley-Terry strength on
the leaderboard, with the variance of that strength plus STRAY². The round's ballots are
Bradley-Terry evidence, ties half; a pair on a ballot over m answers weighs 2/m, so that the ballot
counts as the m − 1 choices it takes to rank them. The posterior is approximated as normal around
its mode (Laplace). It is shown next to the official count and never part of it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from council.bakeoffs.pairwise import win_matrix
from council.bakeoffs.record_arrays import Columns, Floats
from council.ballots import Ballot
from council.labels import LabelMap
from council.randomness import digest
from council.tally.borda import ranks
from council.tally.bradley_terry import RIDGE, fit_strengths, information_matrix

ANSWER_SD = 1.0  # standard deviation of an answer around its member: chosen, not fitted
DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class Score:
    """A strength in log-odds, with its variance."""

    value: float = 0.0
    variance: float = 1 / RIDGE


UNKNOWN_SCORE = Score()  # of a member that met no other: the ridge alone


def strength_scores(columns: Columns) -> Mapping[str, Score]:
    """Return the score of every member; UNKNOWN_SCORE for one that met no other."""
    wins = win_matrix(columns)
    met = wins + wins.T
    scores = fit_strengths(wins, met)
    variances = np.diag(np.linalg.inv(information_matrix(scores, met)))
    entries = zip(columns.members, scores.tolist(), variances.tolist(), strict=True)
    return {member: Score(value, variance) for member, value, variance in entries}


@dataclass(frozen=True, slots=True)
class WinChance:
    """An answer's chance of being the round's best, 0 to 1.

    `before` is by the leaderboard alone, `after` includes the round's ballots.
    """

    member: str
    before: float
    after: float


def win_chances(
    labels: LabelMap, ballots: Sequence[Ballot], strengths: Mapping[str, Score], seed: str
) -> tuple[WinChance, ...]:
    """Return the chances of a round's members, the most likely first; each column adds up to 1.

    `strengths` are those of the leaderboard. The result follows from the arguments.
    """
    members = labels.authors
    scores = [strengths.get(member, UNKNOWN_SCORE) for member in members]
    centre = np.array([score.value for score in scores])
    variance = np.array([score.variance for score in scores]) + ANSWER_SD**2
    wins = _win_weights(labels, ballots)
    met = wins + wins.T
    mode = fit_strengths(wins, met, centre, 1 / variance)
    rng = np.random.RandomState(int(digest(seed, "posterior", "")[:8], 16))
    drawn = rng.standard_normal((DRAWS, len(members)))
    before = _best_rates(centre + np.sqrt(variance) * drawn)
    spread = np.linalg.inv(information_matrix(mode, met, 1 / variance))
    after = _best_rates(mode + drawn @ np.linalg.cholesky(spread).T)
    chances = [
        WinChance(member=member, before=prior, after=posterior)
        for member, prior, posterior in zip(members, before, after, strict=True)
    ]
    return tuple(sorted(chances, key=lambda line: (-line.after, line.member)))


def _win_weights(labels: LabelMap, ballots: Sequence[Ballot]) -> Floats:
    """Return the weight with which each answer was ranked above each other one.

    The rankings of a judge weigh as one.
    """
    cast = Counter(ballot.judge for ballot in ballots)
    index = {label: i for i, label in enumerate(labels.labels)}
    wins = np.zeros((len(index), len(index)))
    for ballot in ballots:
        place = ranks(ballot.ranking)
        for one, other in permutations(place, 2):
            won = 0.5 if place[one] == place[other] else float(place[one] < place[other])
            wins[index[one], index[other]] += won * 2 / len(place) / cast[ballot.judge]
    return wins


def _best_rates(strengths: Floats) -> list[float]:
    """Return how often each answer is the strongest."""
    counts = np.bincount(strengths.argmax(axis=1), minlength=strengths.shape[1])
    return [count / len(strengths) for count in counts.tolist()]
