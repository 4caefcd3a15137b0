"""Compare members pairwise: sequential duels and Bradley-Terry strengths."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from council.bakeoffs.intervals import FULL_RANGE, LEVEL, Interval, t_quantile
from council.bakeoffs.record_arrays import PRECISION, Block, Columns, Floats

MIN_ROUNDS = 10  # no member is called ahead before
HORIZON = 100
WANG_TSIATIS_DELTA = 0.1  # Δ: 0 is O'Brien and Fleming's boundary, ½ Pocock's
WANG_TSIATIS_C = 2.26  # c, for an error of .045 over all looks up to HORIZON
MIXTURE_ALPHA = 0.005
MIXTURE_OPTIMAL_ROUNDS = 60  # where the mixture boundary is tightest


@dataclass(frozen=True, slots=True)
class Duel:
    """Two members compared by the judges outside the pair, tested after every round.

    `margin` is the mean over `rounds` of the first's share minus the second's, −1 to 1. `ahead` is
    the member that is ahead beyond chance, None if neither is.
    """

    first: str
    second: str
    margin: float
    rounds: int
    ahead: str | None = None


@dataclass(frozen=True, slots=True)
class RunOff:
    """The top two of a board, in the order given by the judges outside the pair.

    `margin` is the first's lead, never negative; `changed` means that this reverses their order on
    the board, which counts the pair's own ballots.
    """

    first: str
    second: str
    margin: float
    rounds: int
    changed: bool


def boundary(rounds: Floats) -> Floats:
    """Return how far from 0 the statistic must be; infinite before MIN_ROUNDS.

    The lower of Wang and Tsiatis' boundary (1987), used up to HORIZON, and the normal-mixture
    confidence sequence in standard errors, valid for ever.
    """
    until_horizon = WANG_TSIATIS_C * (rounds / HORIZON) ** (WANG_TSIATIS_DELTA - 0.5)
    log = -2 * np.log(MIXTURE_ALPHA)
    weight = rounds * (log + np.log(log) + 1) / MIXTURE_OPTIMAL_ROUNDS
    mixture = np.sqrt(2 * (weight + 1) / weight * np.log(np.sqrt(weight + 1) / MIXTURE_ALPHA))
    threshold = np.where(rounds <= HORIZON, np.minimum(until_horizon, mixture), mixture)
    return np.where(rounds >= MIN_ROUNDS, threshold, np.inf)


def crossings(margins: Floats) -> Floats:
    """Return by round (last axis) who crossed: 1 for the first, −1 for the second, else 0."""
    rounds = np.arange(1.0, margins.shape[-1] + 1)
    lengths = np.sqrt(np.cumsum(margins**2, axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        walk = np.nan_to_num(np.cumsum(margins, axis=-1) / lengths)
    return np.sign(walk) * (np.abs(walk) >= boundary(rounds))


def duels(columns: Columns) -> Iterator[Duel]:
    """Yield a duel for every two members that judges outside the pair saw together."""
    for first, second in combinations(columns.members, 2):
        margins = columns.margin(first, second)
        margins = margins[~np.isnan(margins)]
        if len(margins):
            crossed = crossings(margins)
            decisions = crossed[crossed != 0]
            ahead = None
            if len(decisions):  # one stands until the opposite is decided
                ahead = first if decisions[-1] > 0 else second
            yield Duel(first, second, float(margins.mean()), len(margins), ahead)


def run_off(duel: Duel, leader: str) -> RunOff:
    """Return the run-off of the top two; the leader stays first in a tie."""
    lead = duel.margin if duel.first == leader else -duel.margin
    other = duel.second if duel.first == leader else duel.first
    if lead < -PRECISION:
        return RunOff(other, leader, -lead, duel.rounds, changed=True)
    return RunOff(leader, other, max(lead, 0.0), duel.rounds, changed=False)


RIDGE = 0.1
_NEWTON_STEPS = 60  # several times what the furthest strengths take
_MAX_STEP = 2.0


@dataclass(frozen=True, slots=True)
class Strength:
    """A member's expected share against every other member of the board, with its 95 % interval."""

    share: float
    ci: Interval


def strengths(columns: Columns) -> Mapping[str, Strength]:
    """Return the strength of every member that met another, with errors clustered by round."""
    members = columns.members
    wins = win_matrix(columns)
    met = np.flatnonzero((wins + wins.T).any(axis=1))
    if not len(met):
        return {}
    wins = wins[np.ix_(met, met)]
    scores = fit_strengths(wins, wins + wins.T)
    inverse = np.linalg.inv(information_matrix(scores, wins + wins.T))
    all_scores = np.zeros(len(members))
    all_scores[met] = scores
    block_scores = [_block_scores(block, members, all_scores)[:, met] for block in columns.blocks]
    shares, slopes = _expected_shares(scores)
    clusters = np.concatenate(block_scores)  # each round is one
    count = int((clusters != 0).any(axis=1).sum())
    moves = clusters @ inverse @ slopes.T  # of each share by each round; their squares add up
    errors = np.sqrt((moves**2).sum(axis=0) * count / max(count - 1, 1))
    rounds = (~np.isnan(columns.author("share"))).sum(axis=0)
    return {
        members[seat]: Strength(share, _interval(share, error, int(rounds[seat])))
        for seat, share, error in zip(met, shares.tolist(), errors.tolist(), strict=True)
    }


def win_matrix(columns: Columns) -> Floats:
    """Return in how many rounds each member beat each other one; a split round counts in part."""
    wins = np.zeros((len(columns.members), len(columns.members)))
    for block in columns.blocks:
        for k, (one, other) in enumerate(_member_pairs(block, columns.members)):
            won = block.won[:, k]
            won = won[~np.isnan(won)]
            wins[one, other] += won.sum()
            wins[other, one] += (1 - won).sum()
    return wins


def _interval(share: float, error: float, rounds: int) -> Interval:
    if rounds < 2:  # noqa: PLR2004
        return FULL_RANGE
    half = t_quantile((1 + LEVEL) / 2, rounds - 1) * error
    return max(0.0, share - half), min(1.0, share + half)


def _member_pairs(block: Block, members: tuple[str, ...]) -> list[tuple[int, int]]:
    seats = [members.index(member) for member in block.members]
    return [*combinations(seats, 2)]


def _win_chances(scores: Floats) -> Floats:
    return 1 / (1 + np.exp(scores[None, :] - scores[:, None]))


def information_matrix(scores: Floats, met: Floats, ridge: Floats | float = RIDGE) -> Floats:
    """Return the curvature of the penalised likelihood: the inverse covariance of the strengths."""
    chances = _win_chances(scores)
    weights = met * chances * (1 - chances)
    return np.diag(weights.sum(axis=1)) - weights + ridge * np.eye(len(scores))


def fit_strengths(
    wins: Floats, met: Floats, centre: Floats | float = 0.0, ridge: Floats | float = RIDGE
) -> Floats:
    """Return the Bradley-Terry log-odds (Newton's method); the ridge shrinks them to `centre`."""
    scores = np.zeros(len(wins)) + centre
    for _ in range(_NEWTON_STEPS):
        gradient = (wins - met * _win_chances(scores)).sum(axis=1) - ridge * (scores - centre)
        step = np.linalg.solve(information_matrix(scores, met, ridge), gradient)
        scores += np.clip(step, -_MAX_STEP, _MAX_STEP)
    return scores


def _block_scores(block: Block, members: tuple[str, ...], scores: Floats) -> Floats:
    """Return each round's score: each member's wins minus the expected ones."""
    chances = _win_chances(scores)
    scores_by_round = np.zeros((len(block.where), len(members)))
    for k, (one, other) in enumerate(_member_pairs(block, members)):
        surplus = np.nan_to_num(block.won[:, k] - chances[one, other])
        scores_by_round[:, one] += surplus
        scores_by_round[:, other] -= surplus
    return scores_by_round


def _expected_shares(scores: Floats) -> tuple[Floats, Floats]:
    """Return each member's mean chance against all the others, and the slopes of these means."""
    chances = _win_chances(scores)
    np.fill_diagonal(chances, 0)
    rivals = max(len(scores) - 1, 1)
    slopes = -chances * (1 - chances) / rivals
    slopes[np.diag_indices_from(slopes)] = -slopes.sum(axis=1)
    return chances.sum(axis=1) / rivals, slopes
