"""Estimate effects: mean with interval and p-value, permutation test."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, inf, isfinite, log, sqrt
from typing import NamedTuple

import numpy as np

from council.bakeoffs.bias.report import Effect
from council.bakeoffs.intervals import Interval
from council.bakeoffs.record_arrays import PRECISION, Floats
from council.tally.distributions import LEVEL, normal_quantile, t_p_value, t_quantile

MIN_UNITS = 3  # fewer give no estimate
MAX_NEEDED = 1_000_000  # a larger number of further units is reported as unknown

UNIT_RANGE: Interval = (-1.0, 1.0)
UNBOUNDED: Interval = (-inf, inf)


def mean_effect(values: Floats, unit: str, within: Interval = UNIT_RANGE) -> Effect:
    """Return the mean of independent values as an effect, by Student's t; none below MIN_UNITS.

    The values lie `within` two bounds. If all are alike they have no spread; the interval then
    allows for a chance of 1 − .025^(1/n) that a value differs, as far as the bounds allow. `p` is
    at least 2^(1 − k) if k values all lie on one side of 0 (sign test).
    """
    n = len(values)
    if n < MIN_UNITS:
        return Effect(n, unit)
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    if spread < PRECISION:
        return _constant_effect(mean, n, unit, within)
    error = spread / sqrt(n)
    sign_test_p = 2.0 ** (1 - int((np.abs(values) > PRECISION).sum()))
    effect = t_effect(mean, error, n, unit)
    low, high = effect.interval or within
    p = None if effect.p is None else min(1.0, max(effect.p, sign_test_p))
    return replace(effect, interval=(max(low, within[0]), min(high, within[1])), p=p)


def t_effect(value: float, error: float, n: int, unit: str, fitted: int = 1) -> Effect:
    """Return an effect from its standard error over n units, with `fitted` fitted parameters."""
    freedom = n - fitted
    half = t_quantile((1 + LEVEL) / 2, freedom) * error
    return Effect(
        n,
        unit,
        value,
        (value - half, value + half),
        t_p_value(value / error, freedom),
        more=_units_needed(value, error, n, fitted),
    )


def _constant_effect(mean: float, n: int, unit: str, within: Interval) -> Effect:
    p = 1.0 if abs(mean) < PRECISION else 2.0 ** (1 - n)
    if not all(map(isfinite, within)):
        return Effect(n, unit, mean, p=p)
    unseen = 1 - ((1 - LEVEL) / 2) ** (1 / n)
    low, high = mean - (mean - within[0]) * unseen, mean + (within[1] - mean) * unseen
    more = None
    if abs(mean) >= PRECISION:
        far = within[0] if mean > 0 else within[1]
        needed = log((1 - LEVEL) / 2) / log(far / (far - mean))
        more = max(0, ceil(needed) - n)
    return Effect(n, unit, mean, (low, high), p, more=more)


def _units_needed(value: float, error: float, n: int, fitted: int) -> int | None:
    """Return how many more units would make the interval exclude 0, if the value stays the same."""
    if abs(value) < PRECISION:
        return None
    # The error falls with the root of the units; the t quantile falls with the degrees of freedom.
    needed, each = float(n), error * sqrt(n) / abs(value)
    if each * normal_quantile((1 + LEVEL) / 2) > sqrt(MAX_NEEDED):
        return None
    for _ in range(20):
        before = needed
        needed = (each * t_quantile((1 + LEVEL) / 2, max(1.0, needed - fitted))) ** 2
        if abs(needed - before) < 0.01:  # noqa: PLR2004
            break
    return max(0, ceil(needed) - n)


PERMUTATIONS = 2_000
# Where hardly any draw comes near, so that many tests can be corrected for.
MAX_PERMUTATIONS = 20_000
MIN_HITS = 10  # with fewer hits, MAX_PERMUTATIONS are drawn
MAX_SHUFFLED_BALLOTS = 100  # beyond, sums are drawn from their normal limit
_SEED = 20261121


class SlotTest(NamedTuple):
    """The index of the slot that stands out most, its p, and how many ballots would settle it."""

    most: int
    p: float
    needed: int | None


def slot_test(parts: Sequence[Floats]) -> SlotTest | None:
    """Test by permutation one judge's shares minus ½ by slot, an array for each slate size.

    None if every ballot ties all it saw; `needed` is None if no slot stands out.
    """
    sums, variance = np.zeros((2, max(part.shape[1] for part in parts)))
    for part in parts:
        sums[: part.shape[1]] += part.sum(axis=0)
        variance[: part.shape[1]] += (part**2).mean(axis=1).sum()
    has_spread = variance > PRECISION
    if not has_spread.any():
        return None
    # A slot without any spread cannot stand out.
    scale = np.sqrt(np.where(has_spread, variance, np.inf))
    statistics = np.abs(sums) / scale
    highest, draws = float(statistics.max()), PERMUTATIONS
    drawn = _drawn_statistics(parts, scale, draws)
    needed = None
    if highest >= PRECISION:
        limit = float(np.quantile(drawn, 0.95))
        needed = ceil(sum(map(len, parts)) * (limit / highest) ** 2)
    hits = int((drawn >= highest - PRECISION).sum())
    if hits < MIN_HITS:
        draws = MAX_PERMUTATIONS
        hits = int((_drawn_statistics(parts, scale, draws) >= highest - PRECISION).sum())
    return SlotTest(int(np.argmax(statistics)), (1 + hits) / (1 + draws), needed)


def _drawn_statistics(parts: Sequence[Floats], scale: Floats, draws: int) -> Floats:
    rng = np.random.RandomState(_SEED)
    sums = np.zeros((draws, len(scale)))
    for part in parts:
        draw_sums = _shuffled_sums if len(part) <= MAX_SHUFFLED_BALLOTS else _normal_sums
        sums[:, : part.shape[1]] += draw_sums(part, draws, rng)
    found: Floats = (np.abs(sums) / scale).max(axis=1)
    return found


def _shuffled_sums(part: Floats, draws: int, rng: np.random.RandomState) -> Floats:
    """Return the slots' sums with the shares of each ballot shuffled, by draw."""
    sums = np.zeros((draws, part.shape[1]))
    for ballot in part:
        sums += ballot[rng.random_sample(sums.shape).argsort(axis=1)]
    return sums


def _normal_sums(part: Floats, draws: int, rng: np.random.RandomState) -> Floats:
    """Return the same from the normal limit: slots of equal variance whose sum is 0."""
    slots = part.shape[1]
    variance = (part**2).mean(axis=1).sum() * slots / (slots - 1)
    independent = rng.standard_normal((draws, slots))
    found: Floats = (independent - independent.mean(axis=1, keepdims=True)) * np.sqrt(variance)
    return found
