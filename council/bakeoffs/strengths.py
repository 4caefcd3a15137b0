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
_TURNS = 200
_LONGEST_STEP = 2.0
_CLOSE = 1e-10


@dataclass(frozen=True, slots=True)
class Strength:
    """The share a member should have against every other of the board, with its 95 % interval."""

    share: float
    ci: Interval


def strengths(columns: Columns) -> Mapping[str, Strength]:
    """Give the strength of every member that met another before judges."""
    members = columns.members
    wins = sum((_wins(block, members) for block in columns.blocks), np.zeros((len(members),) * 2))
    met = wins + wins.T
    if not met.any():
        return {}
    scores = _fitted(wins, met)
    bread = np.linalg.inv(_curvature(scores, met))
    residues = np.concatenate([_residues(block, members, scores) for block in columns.blocks])
    counts = (residues != 0).any(axis=1).sum()
    meat = residues.T @ residues * counts / max(counts - 1, 1)
    shares, slopes = _expected(scores)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", slopes, bread @ meat @ bread, slopes))
    rounds = (~np.isnan(columns.author("share"))).sum(axis=0)
    return {
        member: Strength(float(shares[i]), _interval(shares[i], errors[i], int(rounds[i])))
        for i, member in enumerate(members)
        if met[i].any()
    }


def _interval(share: float, error: float, rounds: int) -> Interval:
    if rounds < 2:  # noqa: PLR2004
        return ANYTHING
    half = t_quantile((1 + LEVEL) / 2, rounds - 1) * float(error)
    return max(0.0, float(share) - half), min(1.0, float(share) + half)


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


def _curvature(scores: Floats, met: Floats) -> Floats:
    chances = _chances(scores)
    weights = met * chances * (1 - chances)
    return np.diag(weights.sum(axis=1)) - weights + RIDGE * np.eye(len(scores))


def _fitted(wins: Floats, met: Floats) -> Floats:
    """Give the strengths, by Newton's method; the ridge makes them finite and unique."""
    scores = np.zeros(len(wins))
    for _ in range(_TURNS):
        slope = (wins - met * _chances(scores)).sum(axis=1) - RIDGE * scores
        step = np.linalg.solve(_curvature(scores, met), slope)
        scores += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        if np.abs(step).max() < _CLOSE:
            break
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
