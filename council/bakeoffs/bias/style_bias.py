"""Measure judges' preference for long or formatted answers: a Bradley-Terry model per judge."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.bias.effects import MIN_UNITS, UNBOUNDED, UNIT_RANGE, mean_effect, t_effect
from council.bakeoffs.bias.judge_bias import BALLOTS, ROUNDS
from council.bakeoffs.bias.report import Effect, Trait
from council.bakeoffs.bias.vote_arrays import ABSENT, Block, known_mean, pair_signs
from council.bakeoffs.bias.votes import STYLE
from council.bakeoffs.record_arrays import PRECISION, Booleans, Floats

RIDGE = 0.1
MAX_BALLOTS = 4_000  # per judge; more are sampled evenly from first to last
MIN_SPARE_BALLOTS = 10  # ballots beyond the number of fitted parameters, or there is no estimate
MIN_BALLOTS_DIFFERING = 5  # ballots whose answers differ in a trait, or it is not estimated
_NEWTON_STEPS = 30
_TRAIT_COUNT = 1 + len(STYLE)


@dataclass(frozen=True, slots=True)
class StylePreference:
    """A judge's preference for length and for each style trait, fitted together, in log-odds."""

    length: Effect
    style: Mapping[str, Effect]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A judge's ballots by ballot and pair: who won (1, ½, 0) and by what; weight 0 is unknown."""

    features: Floats
    won: Floats
    weights: Floats


def style_preferences(blocks: Sequence[Block]) -> dict[str, StylePreference]:
    """Return each judge's preference for length and style.

    It is a bias only as far as long answers are no better: the model accounts for the author of an
    answer, but not for its quality.
    """
    judges = tuple(dict.fromkeys(judge for block in blocks for judge in block.judges))
    authors = tuple(dict.fromkeys(a for block in blocks for a in block.judges[: block.members]))
    spread = _length_sd(blocks)
    return {
        judge: _style_preference([*_judge_pairs(blocks, judge, authors, spread)])
        for judge in judges
    }


def _length_sd(blocks: Sequence[Block]) -> float:
    """Return the standard deviation of Δ tokens over all pairs of answers, in both directions."""
    total, count = 0.0, 0
    for block in blocks:
        one, other = np.triu_indices(block.members, 1)
        gaps = block.lengths[:, one].astype(float) - block.lengths[:, other]
        known = gaps[~np.isnan(gaps)]
        total, count = total + float((known**2).sum()), count + len(known)
    return float(np.sqrt(total / count)) if count else 0.0


def _judge_pairs(
    blocks: Sequence[Block], judge: str, authors: Sequence[str], spread: float
) -> Iterator[_Pairs]:
    seated = [
        (block, j, np.flatnonzero(block.ballots[:, j]))
        for block in blocks
        for j in range(len(block.judges))
        if block.judges[j] == judge
    ]
    step = max(1, -(-sum(len(rounds) for _, _, rounds in seated) // MAX_BALLOTS))
    for block, j, rounds in seated:
        if len(rounds):
            yield _block_pairs(block, rounds[::step], j, authors, spread)


def _block_pairs(
    block: Block, rounds: NDArray[np.intp], judge: int, authors: Sequence[str], spread: float
) -> _Pairs:
    one, other = np.triu_indices(block.members, 1)
    shares, lengths = block.shares[rounds, judge], block.lengths[rounds].astype(float)
    style = np.where(block.style[rounds] == ABSENT, 0, block.style[rounds] > 0).astype(float)
    won = (1 + pair_signs(shares[:, one], shares[:, other])) / 2
    gaps = (lengths[:, one] - lengths[:, other]) / (spread or 1.0)
    known = ~np.isnan(won) & ~np.isnan(gaps)
    features = np.zeros((len(rounds), len(one), len(authors) + _TRAIT_COUNT))
    author_columns = np.array([authors.index(author) for author in block.judges[: block.members]])
    features[:, np.arange(len(one)), author_columns[one]] = 1
    features[:, np.arange(len(one)), author_columns[other]] = -1
    features[:, :, len(authors)] = np.tanh(np.nan_to_num(gaps))
    features[:, :, len(authors) + 1 :] = style[:, one] - style[:, other]
    features *= known[:, :, None]
    return _Pairs(features, np.where(known, won, 0.5), known.astype(float))


def _style_preference(parts: list[_Pairs]) -> StylePreference:
    ballots = sum(len(part.won) for part in parts)
    effects = [Effect(ballots, BALLOTS)] * _TRAIT_COUNT
    is_estimable = _estimable_features(parts) if parts else np.zeros(0, dtype=bool)
    if is_estimable.any() and ballots >= is_estimable.sum() + MIN_SPARE_BALLOTS:
        effects = _fitted_effects(parts, is_estimable, ballots)
    return StylePreference(effects[0], dict(zip(STYLE, effects[1:], strict=True)))


def _estimable_features(parts: list[_Pairs]) -> Booleans:
    """Return which authors and traits the ballots carry information on."""
    showing = sum((part.features != 0).any(axis=1).sum(axis=0) for part in parts)
    needed = np.ones(parts[0].features.shape[2])
    needed[-_TRAIT_COUNT:] = MIN_BALLOTS_DIFFERING
    found: Booleans = showing >= needed
    return found


def _fitted_effects(parts: list[_Pairs], is_estimable: Booleans, ballots: int) -> list[Effect]:
    values, errors = np.zeros((2, len(is_estimable)))
    values[is_estimable], errors[is_estimable] = _fit(
        [part.features[:, :, is_estimable] for part in parts], parts
    )
    return [
        t_effect(float(value), float(error), ballots, BALLOTS, int(is_estimable.sum()))
        if error > PRECISION
        else Effect(ballots, BALLOTS)
        for value, error in zip(values[-_TRAIT_COUNT:], errors[-_TRAIT_COUNT:], strict=True)
    ]


def _fit(features: list[Floats], parts: list[_Pairs]) -> tuple[Floats, Floats]:
    """Return the ridge-penalised maximum of the likelihood, and its errors clustered by round."""
    width = features[0].shape[2]
    values, step, steps = np.zeros(width), np.ones(width), 0
    while steps < _NEWTON_STEPS and np.abs(step).max() > PRECISION:
        scores, information = _derivatives(features, parts, values)
        gradient = sum(part.sum(axis=0) for part in scores) - RIDGE * values
        step = np.linalg.solve(information, gradient)
        values, steps = values + step, steps + 1
    scores, information = _derivatives(features, parts, values)
    rounds = sum(map(len, scores))
    spread = sum(part.T @ part for part in scores) * rounds / (rounds - width)
    inverse = np.linalg.inv(information)
    return values, np.sqrt(np.diag(inverse @ spread @ inverse))


def _derivatives(
    features: list[Floats], parts: list[_Pairs], values: Floats
) -> tuple[list[Floats], Floats]:
    """Return each round's score, and minus the second derivatives of the whole with the ridge."""
    information = RIDGE * np.eye(len(values))
    scores = []
    for each, part in zip(features, parts, strict=True):
        expected = 1 / (1 + np.exp(-np.clip(each @ values, -30, 30)))
        scores.append(np.einsum("rpk,rp->rk", each, (part.won - expected) * part.weights))
        flat = each.reshape(-1, len(values))
        information += flat.T @ (flat * (expected * (1 - expected) * part.weights).reshape(-1, 1))
    return scores, information


LENGTH = "length"


def winning_traits(blocks: Sequence[Block]) -> tuple[Trait, ...]:
    """Return each trait of winners and of other answers, and the mean difference within rounds.

    `length` is in tokens; the other traits are shares of answers that have any. Winners that share
    the first place count by their mean; rounds without a winner or without other answers are left
    out.
    """
    return tuple(
        _trait(name, [_trait_by_round(block, name) for block in blocks])
        for name in (LENGTH, *STYLE)
    )


def _trait_by_round(block: Block, name: str) -> Floats:
    """Return the mean trait of winners and of other answers, a row per round."""
    if name == LENGTH:
        values = block.lengths.astype(float)
    else:
        counts = block.style[:, :, STYLE.index(name)]
        values = np.where(counts == ABSENT, np.nan, counts > 0)
    groups = [
        known_mean(np.where(block.first == is_first, values, np.nan), 1) for is_first in (1, 0)
    ]
    return np.stack(groups, axis=1)


def _trait(name: str, parts: Sequence[Floats]) -> Trait:
    rounds = np.concatenate([*parts, np.empty((0, 2))])
    rounds = rounds[~np.isnan(rounds).any(axis=1)]
    within = UNBOUNDED if name == LENGTH else UNIT_RANGE
    difference = mean_effect(rounds[:, 0] - rounds[:, 1], ROUNDS, within)
    if len(rounds) < MIN_UNITS:
        return Trait(name, None, None, difference)
    winners, rest = rounds.mean(axis=0).tolist()
    return Trait(name, winners, rest, difference)
