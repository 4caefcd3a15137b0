"""Duels: which of two members is ahead, by judges who are neither, looked at after every round."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from council.bakeoffs.intervals import ANYTHING, LEVEL, Interval, t_quantile
from council.bakeoffs.record_arrays import PRECISION, Block, Columns, Floats

# --- Duels: which of two members is ahead, by judges who are neither, looked at after every round

FEWEST_ROUNDS = 10  # before that nobody is claimed ahead
HORIZON = 100
BEND = 0.1  # Wang and Tsiatis' Δ: 0 is O'Brien and Fleming's, ½ Pocock's
CRITICAL = 2.26  # their c, for a chance of .045 in the looks until HORIZON
MIXTURE_ALPHA = 0.005
MIXTURE_BEST_AT = 60  # rounds, where the mixture is tightest


@dataclass(frozen=True, slots=True)
class Duel:
    """Two members held against each other by the judges outside the pair.

    `margin` is the mean over `rounds` of the first's share less the second's, −1 to 1. `ahead` is
    whoever is ahead beyond chance, None while that cannot be told; `since` after how many of
    their rounds it was so for the first time.
    """

    first: str
    second: str
    margin: float
    rounds: int
    ahead: str | None = None
    since: int | None = None


@dataclass(frozen=True, slots=True)
class RunOff:
    """The first two of a board, in the order the judges outside the pair give them.

    `margin` is the first's lead, never negative; `changed` says that the other one came first
    before, with the pair's own ballots counted.
    """

    first: str
    second: str
    margin: float
    rounds: int
    changed: bool


def boundary(rounds: Floats) -> Floats:
    """Give how far from 0 the statistic must be after so many rounds, infinite before FEWEST."""
    early = np.where(rounds <= HORIZON, wang_tsiatis(rounds), np.inf)
    needed: Floats = np.minimum(early, mixture(rounds))
    return np.where(rounds >= FEWEST_ROUNDS, needed, np.inf)


def wang_tsiatis(rounds: Floats) -> Floats:
    """Give the boundary that is watched until HORIZON."""
    return CRITICAL * (rounds / HORIZON) ** (BEND - 0.5)


def mixture(rounds: Floats) -> Floats:
    """Give the boundary that is watched for ever: a confidence sequence, in standard errors."""
    log = -2 * np.log(MIXTURE_ALPHA)
    weight = rounds * (log + np.log(log) + 1) / MIXTURE_BEST_AT
    found: Floats = np.sqrt(2 * (weight + 1) / weight * np.log(np.sqrt(weight + 1) / MIXTURE_ALPHA))
    return found


def crossings(margins: Floats) -> Floats:
    """Say after each round whether it crosses the boundary: 1 for the first, −1 the second, else 0.

    The last axis is the rounds; the ones before it are duels of their own.
    """
    rounds = np.arange(1.0, margins.shape[-1] + 1)
    lengths = np.sqrt(np.cumsum(margins**2, axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        walk = np.nan_to_num(np.cumsum(margins, axis=-1) / lengths)
    crossed: Floats = np.sign(walk) * (np.abs(walk) >= boundary(rounds))
    return crossed


def duels(columns: Columns) -> Iterator[Duel]:
    """Give a duel for every two members that judges outside the pair saw together."""
    for first, second in combinations(columns.members, 2):
        margins = columns.margin(first, second)
        margins = margins[~np.isnan(margins)]
        if len(margins):
            yield _duel(first, second, margins)


def _duel(first: str, second: str, margins: Floats) -> Duel:
    """Give the duel; what was claimed once stands until the opposite is claimed."""
    margin, rounds = float(margins.mean()), len(margins)
    crossed = crossings(margins)
    claimed = crossed[crossed != 0]
    if not len(claimed):
        return Duel(first, second, margin, rounds)
    since = 1 + int(np.flatnonzero(crossed == claimed[-1])[0])
    return Duel(first, second, margin, rounds, first if claimed[-1] > 0 else second, since)


def run_off(duel: Duel, leader: str) -> RunOff:
    """Give the run-off of the two that come first; the leader stays in front of an equal."""
    lead = duel.margin if duel.first == leader else -duel.margin
    other = duel.second if duel.first == leader else duel.first
    if lead < -PRECISION:
        return RunOff(other, leader, -lead, duel.rounds, changed=True)
    return RunOff(leader, other, max(lead, 0.0), duel.rounds, changed=False)


# --- Bradley-Terry strengths, for boards whose rounds had different panels.

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


# --- PeerRank (Li et al. 2023): judges weigh as much as their own answers are found to be worth.

FLOOR = 0.25  # of an equal weight: nobody is left without a voice
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class PeerRank:
    """Scores and weights, an entry a member; weights add up to 1."""

    scores: Floats
    weights: Floats
    turns: int


def peer_rank(win_rates: Floats, floor: float = FLOOR, most_turns: int = 1_000) -> PeerRank:
    """Weigh (judge, candidate) win rates, NaN where a judge was not shown a candidate.

    s_c = Σ_j w_j·r_jc / Σ_j w_j over the judges shown c, w = minmax(s)/Σ, from equal weights until
    Σ|Δw| < 1e-9. A floor keeps each weight at least at that part of an equal one.
    """
    shown, rates = ~np.isnan(win_rates), np.nan_to_num(win_rates)
    found = PeerRank(np.zeros(len(rates)), np.full(len(rates), 1 / len(rates)), 0)
    moved = 1.0
    while moved >= _CLOSE and found.turns < most_turns:
        heard = found.weights @ shown
        scores = found.weights @ rates / np.where(heard > 0, heard, 1.0)
        weights = _weights(scores, floor)
        moved = float(np.abs(weights - found.weights).sum())
        found = PeerRank(scores, weights, found.turns + 1)
    return found


def _weights(scores: Floats, floor: float) -> Floats:
    spread = np.ptp(scores)
    if not spread:
        return np.full(len(scores), 1 / len(scores))
    raw = (scores - scores.min()) / spread
    found: Floats = floor / len(scores) + (1 - floor) * raw / raw.sum()
    return found
