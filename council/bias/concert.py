"""How far judges agree over many rounds, and how many judges they amount to."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from council.bakeoffs.columns import PRECISION, Floats
from council.bakeoffs.intervals import rate_interval
from council.bias.arrays import known_mean, sides
from council.bias.blocks import NOBODY, Block
from council.bias.effects import described
from council.bias.preference import BALLOTS
from council.bias.report import Effect
from council.tally.agreement import FEWEST_ROUNDS, effective_number

Taus = dict[tuple[str, str], Floats]


def pairwise_taus(block: Block) -> Taus:
    """Give Kendall's τ_b of each two judges, a round each, on the answers both ranked."""
    one, other = np.triu_indices(block.members, 1)
    signs = sides(block.shares[:, :, one], block.shares[:, :, other])
    known = ~np.isnan(signs)
    signs = np.where(known, signs, 0.0)
    concord = signs @ np.swapaxes(signs, 1, 2)
    # How many pairs each judge has untied, of those that each other judge ranked too.
    untied = np.abs(signs) @ np.swapaxes(known.astype(float), 1, 2)
    most = np.sqrt(untied * np.swapaxes(untied, 1, 2))
    taus = np.where(most > 0, concord / np.maximum(most, 1.0), np.nan)
    return {
        (block.judges[i], block.judges[k]): taus[:, i, k]
        for i, k in combinations(range(len(block.judges)), 2)
    }


def agreement(taus: Sequence[Taus], judges: Sequence[str]) -> dict[str, Effect]:
    """Give each judge's mean τ_b with the other judges of its rounds; tested against nothing."""
    found: dict[str, Effect] = {}
    for judge in judges:
        rounds = [
            known_mean(np.stack(own), 0)
            for each in taus
            if (own := [found for pair, found in each.items() if judge in pair])
        ]
        values = np.concatenate(rounds) if rounds else np.empty(0)
        found[judge] = described(values[~np.isnan(values)], BALLOTS)
    return found


def n_eff(taus: Sequence[Taus]) -> float | None:
    """Give the effective number of judges, as for one panel; None where some two never met.

    None too before thirty rounds that had any two of them.
    """
    pairs = {pair for each in taus for pair in each}
    judges = {judge for pair in pairs for judge in pair}
    known = {
        frozenset(pair): np.concatenate(
            [each[way] for each in taus for way in (pair, pair[::-1]) if way in each]
        )
        for pair in pairs
    }
    means = [float(known_mean(found, 0)) for found in known.values()]
    rounds = max((int((~np.isnan(found)).sum()) for found in known.values()), default=0)
    is_whole = len(means) == len(judges) * (len(judges) - 1) // 2 and not np.isnan(means).any()
    if rounds < FEWEST_ROUNDS or not is_whole:
        return None
    return effective_number(len(judges), means)


def alpha(blocks: Sequence[Block]) -> float | None:
    """Give Krippendorff's α over all answers of all rounds, as `tally.agreement` has it for one."""
    values = disagreement = total = squares = 0.0
    for block in blocks:
        shares = np.moveaxis(block.shares, 1, 2).reshape(-1, len(block.judges))
        count = (~np.isnan(shares)).sum(axis=1)
        shares, count = np.nan_to_num(shares[count > 1]), count[count > 1]
        sums, own = shares.sum(axis=1), (shares**2).sum(axis=1)
        # Over ordered pairs of k values the squared differences come to 2(kΣv² − (Σv)²).
        disagreement += float((2 * (count * own - sums**2) / (count - 1)).sum())
        values, total = values + float(count.sum()), total + float(sums.sum())
        squares += float(own.sum())
    expected = 2 * (values * squares - total**2)
    if values < 2 or expected < PRECISION:  # noqa: PLR2004
        return None
    return 1 - disagreement / values / (expected / (values * (values - 1)))


def spoiling(blocks: Sequence[Block]) -> dict[str, Effect]:
    """Give the share of the ballots each judge sent that were spoiled, with Wilson's interval."""
    spoiled: dict[str, int] = {}
    sent: dict[str, int] = {}
    for block in blocks:
        counts = np.where(block.spoiled == NOBODY, 0, block.spoiled).sum(axis=0).tolist()
        valid = block.ballots.sum(axis=0).tolist()
        for judge, bad, good in zip(block.judges, counts, valid, strict=True):
            spoiled[judge] = spoiled.get(judge, 0) + bad
            sent[judge] = sent.get(judge, 0) + bad + good
    return {judge: _rate(spoiled[judge], of) for judge, of in sent.items()}


def _rate(hits: int, of: int) -> Effect:
    return Effect(of, BALLOTS, hits / of, rate_interval(hits, of)) if of else Effect(0, BALLOTS)
