"""Bradley-Terry strengths: one fit of pairwise comparisons, and of names over many pools of texts.

A name's strength is in log-odds: it beats a rival with the chance 1 / (1 + exp(theirs − its own)).
A tie counts half, and a small ridge keeps the strength of one that always wins finite.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from council.tally.borda import PairMatrix
from council.tally.distributions import LEVEL, t_quantile

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
OpenInterval = tuple[float | None, float | None]

RIDGE = 0.1
PRECISION = 1e-6  # shares this close are equal
_NEWTON_STEPS = 60  # several times what the furthest strengths take
_NEWTON_TOLERANCE = 1e-10  # of the last step, which squares the error
_MAX_STEP = 2.0


def win_chances(scores: Floats) -> Floats:
    """Return the chance of each (row) to beat each other (column)."""
    return 1 / (1 + np.exp(scores[None, :] - scores[:, None]))


def information_matrix(scores: Floats, met: Floats, ridge: Floats | float = RIDGE) -> Floats:
    """Return the curvature of the penalised likelihood: the inverse covariance of the strengths."""
    chances = win_chances(scores)
    weights = met * chances * (1 - chances)
    return np.diag(weights.sum(axis=1)) - weights + ridge * np.eye(len(scores))


def fit_strengths(
    wins: Floats,
    met: Floats,
    centre: Floats | float = 0.0,
    ridge: Floats | float = RIDGE,
    start: Floats | None = None,
) -> Floats:
    """Return the Bradley-Terry log-odds (Newton's method); the ridge shrinks them to `centre`.

    They are the same from wherever it starts; a start near them saves steps.
    """
    scores = np.zeros(len(wins)) + (centre if start is None else start)
    steps, moved = 0, np.inf
    while steps < _NEWTON_STEPS and moved > _NEWTON_TOLERANCE:
        gradient = (wins - met * win_chances(scores)).sum(axis=1) - ridge * (scores - centre)
        step = np.linalg.solve(information_matrix(scores, met, ridge), gradient)
        scores += np.clip(step, -_MAX_STEP, _MAX_STEP)
        steps, moved = steps + 1, float(np.abs(step).max())
    return scores


def expected_shares(scores: Floats) -> tuple[Floats, Floats]:
    """Return each one's mean chance against all the others, and the slopes of these means."""
    chances = win_chances(scores)
    np.fill_diagonal(chances, 0)
    rivals = max(len(scores) - 1, 1)
    slopes = -chances * (1 - chances) / rivals
    slopes[np.diag_indices_from(slopes)] = -slopes.sum(axis=1)
    return chances.sum(axis=1) / rivals, slopes


# --- Many pools


@dataclass(frozen=True, slots=True)
class FittedStrength:
    """A name's strength over all pools of its group, in log-odds; the mean of a group is 0.

    `ci` is the 95 % interval of `strength`; None is an end that the pools leave open.
    `expected_share` is the share of comparisons it should win against the others of its group.
    Names of different groups never met, not even through others: they cannot be compared.
    """

    name: str
    strength: float
    ci: OpenInterval
    pools: int
    expected_share: float
    group: int


def fit_pools(pools: Iterable[PairMatrix]) -> tuple[FittedStrength, ...]:
    """Return the strength of every name, best first within its group; the largest group is first.

    A pool has, for each pair of its names that judges saw (in both directions), the share of judges
    who ranked the first higher, as `pair_matrix` returns it. Each pool is one observation of a
    pair, however many judges it had. Names that nobody compared are left out.
    """
    matches = [{pair: pool[pair] for pair in pool if pair[0] < pair[1]} for pool in pools]
    names = sorted({name for shares in matches for pair in shares for name in pair})
    seats = {name: seat for seat, name in enumerate(names)}
    seated = [
        [(seats[one], seats[other], share) for (one, other), share in shares.items()]
        for shares in matches
    ]
    met = np.zeros((len(names), len(names)), bool)
    for comparisons in seated:
        for one, other, _ in comparisons:
            met[one, other] = met[other, one] = True
    connected = _reachable(met)
    groups = sorted({tuple(np.flatnonzero(row).tolist()) for row in connected}, key=_largest_first)
    return tuple(
        strength
        for number, group in enumerate(groups, start=1)
        for strength in _fit_group(number, [names[seat] for seat in group], _within(seated, group))
    )


_Comparison = tuple[int, int, float]


def _largest_first(group: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return -len(group), group


def _within(
    pools: Sequence[Sequence[_Comparison]], group: Sequence[int]
) -> list[list[_Comparison]]:
    """Return the pools that compare names of a group, by their seats in it."""
    seats = {seat: index for index, seat in enumerate(group)}
    within = (
        [(seats[one], seats[other], share) for one, other, share in pool if one in seats]
        for pool in pools
    )
    return [pool for pool in within if pool]


def _reachable(edges: Booleans) -> Booleans:
    """Return which seat reaches which along edges; each reaches itself."""
    reached = edges | np.eye(len(edges), dtype=bool)
    while (further := reached @ reached).sum() > reached.sum():
        reached = further
    return reached


def _fit_group(
    number: int, names: Sequence[str], pools: Sequence[Sequence[_Comparison]]
) -> list[FittedStrength]:
    wins = np.zeros((len(names), len(names)))
    for pool in pools:
        for one, other, share in pool:
            wins[one, other] += share
            wins[other, one] += 1 - share
    scores = fit_strengths(wins, wins + wins.T)
    shares, _ = expected_shares(scores)
    took_part = _participation(len(names), pools).sum(axis=0)
    ends = _intervals(wins, scores, pools)
    lines = [
        FittedStrength(*line, number)
        for line in zip(
            names, scores.tolist(), ends, took_part.tolist(), shares.tolist(), strict=True
        )
    ]
    return sorted(lines, key=lambda line: (-line.strength, line.name))


def _participation(seats: int, pools: Sequence[Sequence[_Comparison]]) -> Booleans:
    """Return which pool (row) compares which name."""
    found = np.zeros((len(pools), seats), bool)
    for row, pool in zip(found, pools, strict=True):
        for one, other, _ in pool:
            row[[one, other]] = True
    return found


def _intervals(
    wins: Floats, scores: Floats, pools: Sequence[Sequence[_Comparison]]
) -> Iterator[OpenInterval]:
    """Yield each name's interval: Student's, by errors clustered by pool, and wider where needed.

    Where every pool says the same, errors are 0 or nearly so although little is known. There, the
    interval reaches at least to what would be fitted if a share u of these pools had gone the other
    way: as many of n pools can be missed with the chance .025, u = 1 − .025^(1/n). One that no
    other can be linked to by wins in both directions has an open end: likelihood alone would put it
    at infinity.
    """
    errors, took_part = _clustered_errors(wins, scores, pools), _participation(len(scores), pools)
    beats = _reachable(wins > PRECISION)
    varied = _varied_names(len(scores), pools)
    for seat, (score, error) in enumerate(zip(scores.tolist(), errors.tolist(), strict=True)):
        count = int(took_part[:, seat].sum())
        if count < 2:  # noqa: PLR2004
            yield None, None
            continue
        half = t_quantile((1 + LEVEL) / 2, count - 1) * error
        linked = beats[seat] & beats[:, seat]
        doubtful = [] if linked.all() else [linked]
        if not varied[seat]:
            doubtful.append(np.arange(len(scores)) == seat)
        lows, highs = [score - half], [score + half]
        for side in doubtful:
            n = int((took_part[:, side].any(axis=1) & took_part[:, ~side].any(axis=1)).sum())
            unseen = 1 - ((1 - LEVEL) / 2) ** (1 / n)
            lows.append(float(_refit(wins, scores, side, unseen)[seat]))
            highs.append(float(_refit(wins, scores, ~side, unseen)[seat]))
        is_unbeaten = not (beats[:, seat] & ~linked).any()
        is_winless = not (beats[seat] & ~linked).any()
        yield (min(lows) if is_unbeaten else None), (max(highs) if is_winless else None)


def _clustered_errors(
    wins: Floats, scores: Floats, pools: Sequence[Sequence[_Comparison]]
) -> Floats:
    """Return the roots of the diagonal of H⁻¹ (Σ u uᵀ) H⁻¹; u are the pools' surplus wins."""
    chances = win_chances(scores)
    surplus = np.zeros((len(pools), len(scores)))
    for row, pool in zip(surplus, pools, strict=True):
        for one, other, share in pool:
            row[one] += share - chances[one, other]
            row[other] -= share - chances[one, other]
    moves = surplus @ np.linalg.inv(information_matrix(scores, wins + wins.T))
    count = len(pools)
    errors: Floats = np.sqrt((moves**2).sum(axis=0) * count / max(count - 1, 1))
    return errors


def _varied_names(seats: int, pools: Sequence[Sequence[_Comparison]]) -> Booleans:
    """Return the names about which two pools disagree: the same pair with another share."""
    first: dict[tuple[int, int], float] = {}
    varied = np.zeros(seats, bool)
    for pool in pools:
        for one, other, share in pool:
            if abs(first.setdefault((one, other), share) - share) > PRECISION:
                varied[[one, other]] = True
    return varied


def _refit(wins: Floats, scores: Floats, losers: Booleans, unseen: float) -> Floats:
    """Return the strengths if `losers` had lost a share of what they won against the others."""
    otherwise, outside = wins.copy(), np.ix_(losers, ~losers)
    lost = unseen * wins[outside]
    otherwise[outside] -= lost
    otherwise[np.ix_(~losers, losers)] += lost.T
    return fit_strengths(otherwise, otherwise + otherwise.T, start=scores)
