"""Whether judges rank by where an answer stands, and whether they keep to their order.

The balanced design has every answer stand everywhere equally often, so that what a judge gives a
slot has mean ½ whatever the answers are worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from council.bakeoffs.columns import Floats
from council.bakeoffs.intervals import share_interval
from council.bias.arrays import NOTHING, by_judge, known_mean, sides
from council.bias.blocks import Block
from council.bias.effects import FEWEST, mean_effect
from council.bias.preference import AUDITS, BALLOTS
from council.bias.report import Effect, Slot
from council.bias.shuffles import Shuffles

_HALF = (-0.5, 0.5)


@dataclass(frozen=True, slots=True)
class Positions:
    """What is known of one judge and slots: see JudgeBias."""

    first_slot: Effect
    whole: Effect
    slots: tuple[Slot, ...]


def positions(blocks: Sequence[Block]) -> dict[str, Positions]:
    """Give, per judge, the mean share at each slot less ½, and a permutation test of them all."""
    return {judge: _positions(ballots) for judge, ballots in _ballots(blocks).items()}


def curves(blocks: Sequence[Block]) -> dict[str, tuple[Slot, ...]]:
    """Give, per judge, the mean share at each slot less ½, without the test of them all."""
    return {judge: _curve(ballots) for judge, ballots in _ballots(blocks).items()}


def _ballots(blocks: Sequence[Block]) -> dict[str, list[Floats]]:
    judges = dict.fromkeys(judge for block in blocks for judge in block.judges)
    return {judge: _by_slot(blocks, judge) for judge in judges}


def _by_slot(blocks: Sequence[Block], judge: str) -> list[Floats]:
    """Give a judge's shares less ½ in the order shown, an array for each size of slate."""
    found: dict[int, list[Floats]] = {}
    for block in blocks:
        if judge not in block.judges:
            continue
        j = block.judges.index(judge)
        shares, slots = block.shares[:, j], block.slots[:, j]
        sizes = np.where(np.isnan(shares), 0, 1).sum(axis=1)
        # What was not shown has slot 0 and would come first.
        ordered = np.take_along_axis(shares, np.where(slots == 0, 255, slots).argsort(axis=1), 1)
        for size in np.unique(sizes[sizes > 1]).tolist():
            found.setdefault(size, []).append(ordered[sizes == size, :size] - 0.5)
    return [np.concatenate(found[size]) for size in sorted(found)]


def _positions(ballots: list[Floats]) -> Positions:
    if not ballots:
        none = Effect(0, BALLOTS)
        return Positions(none, none, ())
    slots = _curve(ballots)
    first = mean_effect(np.concatenate([part[:, 0] for part in ballots]), BALLOTS, _HALF)
    return Positions(first, _whole(ballots, slots), slots)


def _curve(ballots: list[Floats]) -> tuple[Slot, ...]:
    widest = max((part.shape[1] for part in ballots), default=0)
    columns = [[part[:, s] for part in ballots if part.shape[1] > s] for s in range(widest)]
    effects = [mean_effect(np.concatenate(parts), BALLOTS, _HALF) for parts in columns]
    # It is tested as a whole.
    return tuple(Slot(s, replace(effect, p=None)) for s, effect in enumerate(effects, start=1))


def _whole(ballots: list[Floats], slots: tuple[Slot, ...]) -> Effect:
    """Give the slot that stands out most, with the chance of one that does by chance alone."""
    shuffles = Shuffles.of(ballots)
    n = sum(len(part) for part in ballots)
    if n < FEWEST or shuffles is None:
        return Effect(n, BALLOTS)
    p, needed = shuffles.chance(), shuffles.needed()
    effect = slots[shuffles.most].effect
    more = None if needed is None else max(0, needed - n)
    return Effect(n, BALLOTS, effect.value, effect.interval, p, more=more)


def consistency(blocks: Sequence[Block]) -> dict[str, Effect]:
    """Give the share of pairs that a judge kept in order when it saw them in another.

    A tie on one of the two ballots alone is a change. Over audit ballots; tested against nothing,
    since nobody keeps all.
    """
    found = by_judge(blocks, _kept)
    return {judge: _share(values) for judge, values in found.items()}


def _kept(block: Block, judge: int) -> Floats:
    rounds = block.audits("order", judge)
    if not rounds.any():
        return NOTHING
    first, again = block.shares[rounds, judge], block.audit_shares(rounds)
    one, other = np.triu_indices(block.members, 1)
    before, after = sides(first[:, one], first[:, other]), sides(again[:, one], again[:, other])
    kept = np.where(before == after, 1.0, 0.0)
    return known_mean(np.where(np.isnan(before) | np.isnan(after), np.nan, kept), 1)


def _share(values: Floats) -> Effect:
    if len(values) < FEWEST:
        return Effect(len(values), AUDITS)
    return Effect(len(values), AUDITS, float(values.mean()), share_interval(values))
