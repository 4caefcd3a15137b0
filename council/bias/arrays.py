"""Means over what is known, and who beats whom, over many rounds at once; unknown is NaN."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from council.bakeoffs.columns import PRECISION, Floats, Truths
from council.bias.blocks import Block


def known_mean(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """Give the mean of what is known along axes, NaN where nothing is."""
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    found: Floats = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return found


def sides(one: Floats, other: Floats) -> Floats:
    """Give 1 where the first is greater, −1 where the other is, 0 where they tie."""
    difference = one - other
    found: Floats = np.where(np.abs(difference) < PRECISION, 0.0, np.sign(difference))
    return found


def lead(one: Floats, other: Floats, author: int, rivals: Sequence[int]) -> Floats:
    """Give the share of rivals an author beats by `one` less what it beats by `other`.

    Both are Borda shares with authors on the last axis. Only rivals count that both judged beside
    the author: with slates that differ, whole shares would not compare.
    """
    by_one = sides(one[..., [author]], one[..., rivals])
    by_other = sides(other[..., [author]], other[..., rivals])
    return known_mean((by_one - by_other) / 2, -1)


def by_judge(
    blocks: Iterable[Block], values_of: Callable[[Block, int], Floats]
) -> dict[str, Floats]:
    """Gather, for each judge of any block, the values it has in all of them; unknown ones go."""
    found: dict[str, list[Floats]] = {}
    for block in blocks:
        for i, judge in enumerate(block.judges):
            found.setdefault(judge, []).append(values_of(block, i))
    return {judge: _known(np.concatenate(parts)) for judge, parts in found.items()}


def _known(values: Floats) -> Floats:
    unknown: Truths = np.isnan(values)
    return values[~unknown]


NOTHING: Floats = np.empty(0)
