"""Whether judges prefer long answers, or well dressed ones: a Bradley-Terry model per judge."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.record_arrays import PRECISION, Floats, Truths
from council.bias.effects import ANY_NUMBER, FEWEST, WITHIN_ONE, effect_by_t, mean_effect
from council.bias.judge_bias import BALLOTS
from council.bias.report import Effect, Trait
from council.bias.vote_arrays import NOBODY, Block, known_mean, sides
from council.bias.votes import STYLE

# --- Whether judges prefer long answers, or well dressed ones: a Bradley-Terry model per judge.

RIDGE = 0.1
MOST_BALLOTS = 4_000  # of a judge; of more, so many are taken evenly from first to last
FEWEST_OVER = 10  # ballots more than numbers fitted to them, below which nothing is said
FEWEST_SHOWING = 5  # ballots on which answers must differ in a trait, or nothing is said of it
_TURNS = 30
_TRAITS = 1 + len(STYLE)


@dataclass(frozen=True, slots=True)
class StylePreference:
    """A judge's fondness of length, and of each trait of style beside it, in log-odds."""

    length: Effect
    style: Mapping[str, Effect]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A judge's ballots, pair by pair: who won (1, ½, 0), and what tells the two answers apart.

    The first axis is the ballot, the second the pair; what is not known weighs nothing.
    """

    features: Floats
    won: Floats
    weights: Floats


def fondness(blocks: Sequence[Block]) -> dict[str, StylePreference]:
    """Give what is known of each judge's fondness of length and style.

    It is fondness only as far as long answers are no better: the model knows who wrote an answer,
    and not how good it is.
    """
    judges = tuple(dict.fromkeys(judge for block in blocks for judge in block.judges))
    authors = tuple(dict.fromkeys(a for block in blocks for a in block.judges[: block.members]))
    spread = _spread(blocks)
    return {judge: _fondness([*_pairs(blocks, judge, authors, spread)]) for judge in judges}


def _spread(blocks: Sequence[Block]) -> float:
    """Give the standard deviation of Δ tokens over all pairs of answers, whichever way round."""
    total, count = 0.0, 0
    for block in blocks:
        one, other = np.triu_indices(block.members, 1)
        gaps = block.lengths[:, one].astype(float) - block.lengths[:, other]
        known = gaps[~np.isnan(gaps)]
        total, count = total + float((known**2).sum()), count + len(known)
    return float(np.sqrt(total / count)) if count else 0.0


def _pairs(
    blocks: Sequence[Block], judge: str, authors: Sequence[str], spread: float
) -> Iterator[_Pairs]:
    """Give the pairs of each block in which the judge sat."""
    seated = [block for block in blocks if judge in block.judges]
    ballots = sum(int(_voted(block, judge).sum()) for block in seated)
    step = max(1, -(-ballots // MOST_BALLOTS))
    for block in seated:
        rounds = np.flatnonzero(_voted(block, judge))[::step]
        if len(rounds):
            yield _of_block(block, rounds, block.judges.index(judge), authors, spread)


def _voted(block: Block, judge: str) -> Truths:
    found: Truths = block.ballots[:, block.judges.index(judge)]
    return found


def _of_block(
    block: Block, rounds: NDArray[np.intp], judge: int, authors: Sequence[str], spread: float
) -> _Pairs:
    one, other = np.triu_indices(block.members, 1)
    shares, lengths = block.shares[rounds, judge], block.lengths[rounds].astype(float)
    style = np.where(block.style[rounds] == NOBODY, 0, block.style[rounds] > 0).astype(float)
    won = (1 + sides(shares[:, one], shares[:, other])) / 2
    gaps = (lengths[:, one] - lengths[:, other]) / (spread or 1.0)
    known = ~np.isnan(won) & ~np.isnan(gaps)
    features = np.zeros((len(rounds), len(one), len(authors) + _TRAITS))
    places = np.array([authors.index(author) for author in block.judges[: block.members]])
    features[:, np.arange(len(one)), places[one]] = 1
    features[:, np.arange(len(one)), places[other]] = -1
    features[:, :, len(authors)] = np.tanh(np.nan_to_num(gaps))
    features[:, :, len(authors) + 1 :] = style[:, one] - style[:, other]
    features *= known[:, :, None]
    return _Pairs(features, np.where(known, won, 0.5), known.astype(float))


def _fondness(parts: list[_Pairs]) -> StylePreference:
    ballots = sum(len(part.won) for part in parts)
    found = [Effect(ballots, BALLOTS)] * _TRAITS
    kept = _told_apart(parts) if parts else np.zeros(0, dtype=bool)
    if kept.any() and ballots >= kept.sum() + FEWEST_OVER:
        found = _effects(parts, kept, ballots)
    return StylePreference(found[0], dict(zip(STYLE, found[1:], strict=True)))


def _told_apart(parts: list[_Pairs]) -> Truths:
    """Say which authors and traits the ballots tell anything of."""
    showing = sum((part.features != 0).any(axis=1).sum(axis=0) for part in parts)
    needed = np.ones(parts[0].features.shape[2])
    needed[-_TRAITS:] = FEWEST_SHOWING
    found: Truths = showing >= needed
    return found


def _effects(parts: list[_Pairs], kept: Truths, ballots: int) -> list[Effect]:
    """Fit what is kept; give the effects of the traits, none for those that were not."""
    values, errors = np.zeros((2, len(kept)))
    values[kept], errors[kept] = _fit([part.features[:, :, kept] for part in parts], parts)
    return [
        effect_by_t(float(value), float(error), ballots, BALLOTS, int(kept.sum()))
        if error > PRECISION
        else Effect(ballots, BALLOTS)
        for value, error in zip(values[-_TRAITS:], errors[-_TRAITS:], strict=True)
    ]


def _fit(features: list[Floats], parts: list[_Pairs]) -> tuple[Floats, Floats]:
    """Give the ridged maximum of the likelihood, and its errors clustered by round."""
    width = features[0].shape[2]
    values, step, turns = np.zeros(width), np.ones(width), 0
    while turns < _TURNS and np.abs(step).max() > PRECISION:
        scores, bend = _slopes(features, parts, values)
        gradient = sum(part.sum(axis=0) for part in scores) - RIDGE * values
        step = np.linalg.solve(bend, gradient)
        values, turns = values + step, turns + 1
    scores, bend = _slopes(features, parts, values)
    rounds = sum(map(len, scores))
    spread = sum(part.T @ part for part in scores) * rounds / (rounds - width)
    inverse = np.linalg.inv(bend)
    return values, np.sqrt(np.diag(inverse @ spread @ inverse))


def _slopes(
    features: list[Floats], parts: list[_Pairs], values: Floats
) -> tuple[list[Floats], Floats]:
    """Give each round's score, and minus the second derivatives of the whole, ridge with them."""
    bend = RIDGE * np.eye(len(values))
    scores = []
    for each, part in zip(features, parts, strict=True):
        expected = 1 / (1 + np.exp(-np.clip(each @ values, -30, 30)))
        scores.append(np.einsum("rpk,rp->rk", each, (part.won - expected) * part.weights))
        flat = each.reshape(-1, len(values))
        bend += flat.T @ (flat * (expected * (1 - expected) * part.weights).reshape(-1, 1))
    return scores, bend


# --- What wins here: how long winners are and how they are dressed, against the rest.

LENGTH = "length"
ROUNDS = "rounds"


def winning_traits(blocks: Sequence[Block]) -> tuple[Trait, ...]:
    """Give each trait of winners and of the rest, and the mean difference within rounds.

    `length` is in tokens, the others are shares of answers that have any. Winners that share the
    first place count by their mean; rounds without a winner, or with nobody else, are left out.
    """
    return tuple(
        _trait(name, [_of_round(block, name) for block in blocks]) for name in (LENGTH, *STYLE)
    )


def _of_round(block: Block, name: str) -> Floats:
    """Give what winners and the rest have of a trait, a round a row."""
    if name == LENGTH:
        values = block.lengths.astype(float)
    else:
        values = (block.style[:, :, STYLE.index(name)] > 0).astype(float)
    groups = [
        known_mean(np.where(block.first == is_first, values, np.nan), 1) for is_first in (1, 0)
    ]
    return np.stack(groups, axis=1)


def _trait(name: str, parts: Sequence[Floats]) -> Trait:
    rounds = np.concatenate([*parts, np.empty((0, 2))])
    rounds = rounds[~np.isnan(rounds).any(axis=1)]
    within = ANY_NUMBER if name == LENGTH else WITHIN_ONE
    difference = mean_effect(rounds[:, 0] - rounds[:, 1], ROUNDS, within)
    if len(rounds) < FEWEST:
        return Trait(name, None, None, difference)
    winners, rest = rounds.mean(axis=0).tolist()
    return Trait(name, winners, rest, difference)
