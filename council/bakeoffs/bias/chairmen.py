"""Bias of chairmen: which answers they draw on, and who is right when they depart from the first.

A chairman reads the answers blind, but its own may be among them. Which answers it names is a
conditional logistic regression: given how many it names in a round, on each answer's points, first
place, relative length, place of reading, and whether it is its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from council.bakeoffs.bias.effects import t_effect
from council.bakeoffs.bias.report import ChairmanBias, Effect
from council.bakeoffs.bias.verdict_value import ROUNDS, rate_effect
from council.bakeoffs.intervals import holm
from council.bakeoffs.record_arrays import PRECISION, Booleans, Columns, Floats

MAX_ANSWERS = 12  # read in one round; of more, the ways to name some are too many
MIN_SPARE_ROUNDS = 10  # beyond the number of fitted parameters, or there is no estimate
MIN_OWN_ROUNDS = 10  # in which the chairman read its own answer
RIDGE = 0.1
_NEWTON_STEPS = 30
_MAX_STEP = 2.0
_POINTS, _FIRST, _LENGTH, _EARLY, _OWN = range(5)


def chairman_biases(columns: Columns, preferred: Mapping[str, str]) -> tuple[ChairmanBias, ...]:
    """Return the bias of every chairman; p is corrected for all chairmen's tests (Holm 1979)."""
    chairmen = [chairman for chairman in dict.fromkeys(columns.chairmen) if chairman]
    wrote = np.array(columns.chairmen)
    found = [
        _chairman_bias(chairman, columns.only(wrote == chairman), preferred)
        for chairman in chairmen
    ]
    corrected = holm([effect.p for one in found for effect in (one.own, one.early)])
    pairs = zip(corrected[::2], corrected[1::2], strict=True)
    return tuple(
        replace(one, own=replace(one.own, p_holm=own), early=replace(one.early, p_holm=early))
        for one, (own, early) in zip(found, pairs, strict=True)
    )


def _chairman_bias(chairman: str, columns: Columns, preferred: Mapping[str, str]) -> ChairmanBias:
    fit = _fit_choices([*_choices(columns, chairman)])
    departs = columns.round("departs")
    departed = np.flatnonzero(departs == 1).tolist()
    sides = [side for i in departed if (side := _right_side(columns, preferred, i)) is not None]
    return ChairmanBias(
        chairman=chairman,
        rounds=len(columns.rows),
        own=fit.effect(_OWN),
        own_used=fit.own_used,
        own_expected=fit.own_expected,
        early=fit.effect(_EARLY),
        points=replace(fit.effect(_POINTS), p=None, more=None),
        length=replace(fit.effect(_LENGTH), p=None, more=None),
        departs=rate_effect(len(departed), int((~np.isnan(departs)).sum())),
        backed=rate_effect(sum(sides), len(sides)),
    )


def _right_side(columns: Columns, preferred: Mapping[str, str], i: int) -> bool | None:
    """Return whether a chairman that departed was right, and the first place not; None if unknown.

    Grades decide where the two differ; else people, if they prefer the first answer, or another
    one that the chairman drew on.
    """
    winner = columns.round("winner")[i]
    if np.isnan(winner):
        return None
    first, council = columns.author("correct")[i, int(winner)], columns.round("council_correct")[i]
    if not np.isnan(first) and not np.isnan(council) and first != council:
        return bool(council)
    best = preferred.get(columns.rows[i].round_id)
    if best is None or best not in columns.members:
        return None
    at = columns.members.index(best)
    if at == int(winner):
        return False
    return True if columns.author("drawn_on")[i, at] == 1 else None


# --- Which answers a chairman draws on


@dataclass(frozen=True, slots=True)
class Choices:
    """Rounds in which a chairman read n answers and drew on k of them, neither none nor all.

    `features` are by round, answer and feature, `drawn` by round and answer.
    """

    features: Floats
    drawn: Booleans

    @property
    def subsets(self) -> Floats:
        """All ways to draw on k of n answers, a row of 0 and 1 each."""
        answers, named = self.drawn.shape[1], int(self.drawn[0].sum())
        rows = np.zeros((comb(answers, named), answers))
        for row, chosen in zip(rows, combinations(range(answers), named), strict=True):
            row[list(chosen)] = 1
        return rows


def _choices(columns: Columns, chairman: str) -> Iterator[Choices]:
    slots, drawn = columns.author("chair_slot"), columns.author("drawn_on")
    is_read = ~np.isnan(slots) & ~np.isnan(drawn)
    own = np.broadcast_to(np.array(columns.members) == chairman, slots.shape)
    read, named = is_read.sum(axis=1), np.where(is_read, drawn == 1, 0).sum(axis=1)
    is_first = np.where(columns.author("place") == 1, 1.0, 0.0)
    features = (columns.author("share"), is_first, np.log(columns.author("words")), -slots, own)
    # The answers that were read come first.
    order = np.argsort(np.where(is_read, slots, np.inf), axis=1)
    for answers, k in sorted({*zip(read.tolist(), named.tolist(), strict=True)}):
        if not 0 < k < answers <= MAX_ANSWERS:
            continue
        rounds = np.flatnonzero((read == answers) & (named == k))
        seats = (rounds[:, None], order[rounds, :answers])
        values = np.stack([feature[seats].astype(float) for feature in features], axis=2)
        values[:, :, _EARLY] /= answers - 1
        yield Choices(_centre(values), drawn[seats] == 1)


def _centre(values: Floats) -> Floats:
    """Return features less their mean in the round; what is unknown of one answer counts as 0."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=1, keepdims=True)
    mean = total / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return np.where(known, values - mean, 0.0)


@dataclass(frozen=True, slots=True)
class _Fit:
    """Log-odds and their errors by feature (an error is NaN if it was not estimated)."""

    rounds: int
    fitted: int
    values: Floats
    errors: Floats
    own_used: Effect
    own_expected: float | None = None

    def effect(self, feature: int) -> Effect:
        """Return the effect of a feature, in log-odds."""
        value, error = float(self.values[feature]), float(self.errors[feature])
        if np.isnan(error):
            return Effect(self.rounds, ROUNDS)
        return t_effect(value, error, self.rounds, ROUNDS, self.fitted)


def _fit_choices(parts: Sequence[Choices]) -> _Fit:
    rounds = sum(len(part.drawn) for part in parts)
    has_own = [np.abs(part.features[:, :, _OWN]).max(axis=1) > 0 for part in parts]
    own_rounds = sum(int(own.sum()) for own in has_own)
    hits = sum(int((part.drawn & (part.features[:, :, _OWN] > 0)).sum()) for part in parts)
    own_used = rate_effect(hits, own_rounds)
    used = np.array(
        [any(np.abs(part.features[:, :, f]).max() > PRECISION for part in parts) for f in range(5)]
    )
    used[_OWN] = own_rounds >= MIN_OWN_ROUNDS
    values, errors = np.zeros(5), np.full(5, np.nan)
    if rounds < used.sum() + MIN_SPARE_ROUNDS:
        return _Fit(rounds, 0, values, errors, own_used)
    values[used], errors[used] = fit_conditional_logit(
        [replace(part, features=part.features[:, :, used]) for part in parts]
    )
    expected = None
    if used[_OWN]:
        others = np.where(np.arange(5) == _OWN, 0.0, values)
        chances = sum(
            float((_named_chances(part, others) * (part.features[:, :, _OWN] > 0)).sum())
            for part in parts
        )
        expected = chances / own_rounds
    return _Fit(rounds, int(used.sum()), values, errors, own_used, expected)


def _subset_chances(part: Choices, subsets: Floats, values: Floats) -> Floats:
    """Return the chance of each way to name k answers, by round and way."""
    logits = (part.features @ values) @ subsets.T
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances: Floats = weights / weights.sum(axis=1, keepdims=True)
    return chances


def _named_chances(part: Choices, values: Floats) -> Floats:
    subsets = part.subsets
    chances: Floats = _subset_chances(part, subsets, values) @ subsets
    return chances


def fit_conditional_logit(parts: Iterable[Choices]) -> tuple[Floats, Floats]:
    """Return log-odds by feature and their errors, given how many answers each round names.

    Exact conditional likelihood (McFadden 1974; Gail, Lubin and Rubinstein 1981) with a small
    ridge. An error is the larger of the model's own and the one that is robust by round.
    """
    rounds = [(part, part.subsets) for part in parts]
    width = rounds[0][0].features.shape[2]
    values, step, steps = np.zeros(width), np.ones(width), 0
    while steps < _NEWTON_STEPS and np.abs(step).max() > PRECISION:
        scores, information = _derivatives(rounds, values)
        gradient = scores.sum(axis=0) - RIDGE * values
        step = np.clip(np.linalg.solve(information, gradient), -_MAX_STEP, _MAX_STEP)
        values, steps = values + step, steps + 1
    scores, information = _derivatives(rounds, values)
    inverse = np.linalg.inv(information)
    robust = inverse @ (scores.T @ scores * len(scores) / (len(scores) - width)) @ inverse
    return values, np.sqrt(np.maximum(np.diag(robust), np.diag(inverse)))


def _derivatives(rounds: Iterable[tuple[Choices, Floats]], values: Floats) -> tuple[Floats, Floats]:
    """Return each round's score, and minus the second derivatives of the whole with the ridge."""
    scores, information = [], RIDGE * np.eye(len(values))
    for part, subsets in rounds:
        chances = _subset_chances(part, subsets, values)
        sums = np.einsum("sa,raf->rsf", subsets, part.features)
        means = np.einsum("rs,rsf->rf", chances, sums)
        observed = np.einsum("ra,raf->rf", part.drawn.astype(float), part.features)
        scores.append(observed - means)
        spread = np.einsum("rs,rsf,rsg->fg", chances, sums, sums, optimize=True)
        information += spread - means.T @ means
    return np.concatenate(scores), information
