"""Bradley-Terry strengths, for boards whose rounds had different panels.

Each round gives each pair its `won`, ties as halves. Strengths s maximise the likelihood of
p(a above b) = 1 / (1 + exp(s_b − s_a)) less RIDGE/2·Σs², which draws members with few rounds to
the middle. Intervals are clustered by round: H⁻¹·(Σ u·uᵀ)·H⁻¹ over the rounds' scores u.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from council.bakeoffs.columns import Block, Columns, Floats
from council.bakeoffs.intervals import ANYTHING, LEVEL, Interval, t_quantile

RIDGE = 0.1
_TURNS = 60  # several times what the furthest strengths take
_LONGEST_STEP = 2.0


@dataclass(frozen=True, slots=True)
class Strength:
    """The share a member should have against every other of the board, with its 95 % interval."""

    share: float
    ci: Interval


def strengths(columns: Columns) -> Mapping[str, Strength]:
    """Give the strength of every member that met another before judges."""
    everybody = columns.members
    wins = _all_wins(columns)
    met = np.flatnonzero((wins + wins.T).any(axis=1))
    if not len(met):
        return {}
    wins = wins[np.ix_(met, met)]
    scores = fitted(wins, wins + wins.T)
    bread = np.linalg.inv(curvature(scores, wins + wins.T))
    all_scores = np.zeros(len(everybody))
    all_scores[met] = scores
    residues = [_residues(block, everybody, all_scores)[:, met] for block in columns.blocks]
    shares, slopes = _expected(scores)
    errors = np.sqrt(
        np.einsum("ij,jk,ik->i", slopes, bread @ _meat(np.concatenate(residues)) @ bread, slopes)
    )
    rounds = (~np.isnan(columns.author("share"))).sum(axis=0)
    return {
        everybody[seat]: Strength(share, _interval(share, error, int(rounds[seat])))
        for seat, share, error in zip(met, shares.tolist(), errors.tolist(), strict=True)
    }


@dataclass(frozen=True, slots=True)
class Score:
    """A strength s in log-odds, and the variance it is known with."""

    value: float = 0.0
    variance: float = 1 / RIDGE


UNKNOWN = Score()  # of whoever met nobody: what the ridge alone says


def scores_of(columns: Columns) -> Mapping[str, Score]:
    """Give the strength s of every member; UNKNOWN for one that met nobody."""
    wins = _all_wins(columns)
    met = wins + wins.T
    scores = fitted(wins, met)
    variances = np.diag(np.linalg.inv(curvature(scores, met)))
    found = zip(columns.members, scores.tolist(), variances.tolist(), strict=True)
    return {member: Score(value, variance) for member, value, variance in found}


def _all_wins(columns: Columns) -> Floats:
    wins = np.zeros((len(columns.members), len(columns.members)))
    for block in columns.blocks:
        wins += _wins(block, columns.members)
    return wins


def _meat(residues: Floats) -> Floats:
    """Give the spread of the rounds' scores, each round as one."""
    rounds = int((residues != 0).any(axis=1).sum())
    spread: Floats = residues.T @ residues * rounds / max(rounds - 1, 1)
    return spread


def _interval(share: float, error: float, rounds: int) -> Interval:
    if rounds < 2:  # noqa: PLR2004
        return ANYTHING
    half = t_quantile((1 + LEVEL) / 2, rounds - 1) * error
    return max(0.0, share - half), min(1.0, share + half)


def _pairs(block: Block, members: tuple[str, ...]) -> list[tuple[int, int]]:
    seats = [members.index(member) for member in block.members]
    return list(combinations(seats, 2))


def _wins(block: Block, members: tuple[str, ...]) -> Floats:
    """Give how often, in rounds, each member was put above each other one."""
    wins = np.zeros((len(members), len(members)))
    for k, (one, other) in enumerate(_pairs(block, members)):
        won = block.won[:, k]
        won = won[~np.isnan(won)]
        wins[one, other] += won.sum()
        wins[other, one] += (1 - won).sum()
    return wins


def _chances(scores: Floats) -> Floats:
    """Give the chance of each member to be put above each other one."""
    return 1 / (1 + np.exp(scores[None, :] - scores[:, None]))


def curvature(scores: Floats, met: Floats, ridge: Floats | float = RIDGE) -> Floats:
    """Give the curvature of the penalised likelihood: the inverse of the strengths' covariance."""
    chances = _chances(scores)
    weights = met * chances * (1 - chances)
    return np.diag(weights.sum(axis=1)) - weights + ridge * np.eye(len(scores))


def fitted(
    wins: Floats, met: Floats, centre: Floats | float = 0.0, ridge: Floats | float = RIDGE
) -> Floats:
    """Give the strengths, by Newton's method; the ridge makes them finite and unique.

    It draws them to the middle, or each to its centre by a ridge of its own.
    """
    scores = np.zeros(len(wins)) + centre
    for _ in range(_TURNS):
        slope = (wins - met * _chances(scores)).sum(axis=1) - ridge * (scores - centre)
        step = np.linalg.solve(curvature(scores, met, ridge), slope)
        scores += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
    return scores


def _residues(block: Block, members: tuple[str, ...], scores: Floats) -> Floats:
    """Give each round's score: what each member won there, less what it should have."""
    chances = _chances(scores)
    found = np.zeros((len(block.where), len(members)))
    for k, (one, other) in enumerate(_pairs(block, members)):
        surplus = np.nan_to_num(block.won[:, k] - chances[one, other])
        found[:, one] += surplus
        found[:, other] -= surplus
    return found


def _expected(scores: Floats) -> tuple[Floats, Floats]:
    """Give the mean chance of each member against all the others, and its slopes."""
    chances = _chances(scores)
    np.fill_diagonal(chances, 0)
    rivals = max(len(scores) - 1, 1)
    slopes = -chances * (1 - chances) / rivals
    slopes[np.diag_indices_from(slopes)] = -slopes.sum(axis=1)
    return chances.sum(axis=1) / rivals, slopes
