"""What wins here: how long winners are and how they are dressed, against the rest."""

from collections.abc import Sequence

import numpy as np

from council.bakeoffs.columns import Floats
from council.bias.arrays import known_mean
from council.bias.blocks import Block
from council.bias.effects import ANY_NUMBER, FEWEST, WITHIN_ONE, mean_effect
from council.bias.report import Trait
from council.bias.traits import STYLE

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
