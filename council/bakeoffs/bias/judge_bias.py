"""Measures of judge bias: preference for own or kin answers, position, consistency, agreement."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from council.bakeoffs.bias.effects import MIN_UNITS, mean_effect, slot_test
from council.bakeoffs.bias.report import CheckRate, Effect, MakerEffect, Slot
from council.bakeoffs.bias.vote_arrays import (
    ABSENT,
    NO_VALUES,
    Block,
    known_mean,
    pair_signs,
    pairwise_lead,
    values_by_judge,
)
from council.bakeoffs.intervals import share_interval, wilson_interval
from council.bakeoffs.record_arrays import Floats
from council.tally.agreement import MIN_ROUNDS, effective_number

AUDITS, BALLOTS, ROUNDS = "audit ballots", "ballots", "rounds"


def own_preference(blocks: Sequence[Block]) -> dict[str, Effect]:
    """Return Δ = b_jj − mean_k b_kj per judge, over its audit ballots that showed its own answer.

    b_jj is from the audit ballot, b_kj from the counted ballots of the other judges of the round.
    Each k is compared on the answers that k ranked too; k's own answer, which only j saw, is left
    out on both sides. Paired t over audit ballots.
    """
    return _mean_effects(values_by_judge(blocks, _own_leads), AUDITS)


def _own_leads(block: Block, judge: int) -> Floats:
    if judge >= block.members:
        return NO_VALUES
    rounds = block.audits("own", judge)
    own_shares, others = block.audit_shares(rounds)[:, None, :], block.shares[rounds]
    rivals = [author for author in range(block.members) if author != judge]
    # The judge's counted ballot does not rank its own answer, so it drops out of `others`.
    return known_mean(pairwise_lead(own_shares, others, judge, rivals), 1)


def family_preference(blocks: Sequence[Block]) -> dict[str, Effect]:
    """Return the same for its maker's other answers, against judges and rivals of others."""
    return _mean_effects(values_by_judge(blocks, _family_leads), BALLOTS)


def _family_leads(block: Block, judge: int) -> Floats:
    kin = _same_maker_authors(block, judge)
    if not kin:
        return NO_VALUES
    maker = block.makers[judge]
    strangers = [k for k, other in enumerate(block.makers) if other != maker]
    rivals = [author for author in strangers if author < block.members]
    own_shares, others = block.shares[:, [judge]], block.shares[:, strangers]
    return known_mean(np.stack([pairwise_lead(own_shares, others, a, rivals) for a in kin]), (0, 2))


def _same_maker_authors(block: Block, judge: int) -> list[int]:
    """Return the other authors of a judge's maker; none if the maker is unknown."""
    maker = block.makers[judge]
    if maker.startswith("unknown:"):
        return []
    return [a for a in range(block.members) if a != judge and block.makers[a] == maker]


def named_preference(blocks: Sequence[Block]) -> dict[str, Effect]:
    """Return what other answers of the judge's maker gain on the same slate with authors named."""
    return _mean_effects(values_by_judge(blocks, _named_gains), AUDITS)


def _named_gains(block: Block, judge: int) -> Floats:
    kin = _same_maker_authors(block, judge)
    return known_mean(_naming_shift(block, judge)[:, kin], 1) if kin else NO_VALUES


def _naming_shift(block: Block, judge: int) -> Floats:
    rounds = block.audits("named", judge)
    shares: Floats = block.audit_shares(rounds) - block.shares[rounds, judge]
    return shares


def maker_effects(blocks: Sequence[Block]) -> tuple[MakerEffect, ...]:
    """Return what each maker's answers gain over all judges when authors are named."""
    gained: dict[str, list[Floats]] = {}
    for block in blocks:
        shifts = np.concatenate([_naming_shift(block, judge) for judge in range(len(block.judges))])
        written = np.array(block.makers[: block.members])
        for maker in sorted({*block.makers[: block.members]}):
            gains = known_mean(shifts[:, written == maker], 1)
            gained.setdefault(maker, []).append(gains[~np.isnan(gains)])
    gains_by_maker = {maker: np.concatenate(parts) for maker, parts in gained.items()}
    return tuple(
        MakerEffect(maker, effect)
        for maker, effect in _mean_effects(gains_by_maker, AUDITS).items()
    )


def _mean_effects(values: dict[str, Floats], unit: str) -> dict[str, Effect]:
    return {name: mean_effect(samples, unit) for name, samples in values.items()}


def shares_given(blocks: Iterable[Block]) -> dict[tuple[str, str], Floats]:
    """Return every Borda share each judge gave each author, its own from audits that showed it."""
    shares_by_pair: dict[tuple[str, str], list[Floats]] = {}
    for block in blocks:
        for j, judge in enumerate(block.judges):
            for a, author in enumerate(block.judges[: block.members]):
                shares = block.shares[:, j, a]
                if a == j:
                    shares = block.audit_shares(block.audits("own", j))[:, a]
                known = shares[~np.isnan(shares)]
                shares_by_pair.setdefault((judge, author), []).append(known)
    return {pair: np.concatenate(parts) for pair, parts in shares_by_pair.items()}


# --- Position and consistency

_SHARE_RANGE = (-0.5, 0.5)


@dataclass(frozen=True, slots=True)
class PositionBias:
    """The position measures of one judge: see JudgeBias."""

    first_slot: Effect
    whole: Effect
    slots: tuple[Slot, ...]


def position_bias(blocks: Sequence[Block]) -> dict[str, PositionBias]:
    """Return per judge the mean share at each slot minus ½, and a permutation test of all slots."""
    judges = dict.fromkeys(judge for block in blocks for judge in block.judges)
    return {judge: _position_bias(_shares_by_slot(blocks, judge)) for judge in judges}


def _shares_by_slot(blocks: Sequence[Block], judge: str) -> list[Floats]:
    """Return a judge's shares minus ½ in the order shown, an array for each slate size."""
    parts_by_size: dict[int, list[Floats]] = {}
    for block in blocks:
        if judge not in block.judges:
            continue
        j = block.judges.index(judge)
        shares, slots = block.shares[:, j], block.slots[:, j]
        sizes = np.where(np.isnan(shares), 0, 1).sum(axis=1)
        # Answers that were not shown have slot 0, which would sort first.
        ordered = np.take_along_axis(shares, np.where(slots == 0, 255, slots).argsort(axis=1), 1)
        for size in np.unique(sizes[sizes > 1]).tolist():
            parts_by_size.setdefault(size, []).append(ordered[sizes == size, :size] - 0.5)
    return [np.concatenate(parts_by_size[size]) for size in sorted(parts_by_size)]


def _position_bias(ballots: list[Floats]) -> PositionBias:
    if not ballots:
        none = Effect(0, BALLOTS)
        return PositionBias(none, none, ())
    widest = max(part.shape[1] for part in ballots)
    columns = [[part[:, s] for part in ballots if part.shape[1] > s] for s in range(widest)]
    effects = [mean_effect(np.concatenate(parts), BALLOTS, _SHARE_RANGE) for parts in columns]
    # All slots are tested together.
    slots = tuple(Slot(s, replace(effect, p=None)) for s, effect in enumerate(effects, start=1))
    return PositionBias(effects[0], _position_test(ballots, slots), slots)


def _position_test(ballots: list[Floats], slots: tuple[Slot, ...]) -> Effect:
    """Return the effect of the slot that stands out most, with the p of the permutation test."""
    n = sum(map(len, ballots))
    if n < MIN_UNITS or (test := slot_test(ballots)) is None:
        return Effect(n, BALLOTS)
    effect = slots[test.most].effect
    more = None if test.needed is None else max(0, test.needed - n)
    return Effect(n, BALLOTS, effect.value, effect.interval, test.p, more=more)


def order_consistency(blocks: Sequence[Block]) -> dict[str, Effect]:
    """Return the share of pairs kept in order (a tie on one ballot is a change), without a test."""
    return {
        judge: Effect(len(kept), AUDITS, float(kept.mean()), share_interval(kept))
        if len(kept) >= MIN_UNITS
        else Effect(len(kept), AUDITS)
        for judge, kept in values_by_judge(blocks, _kept_pairs).items()
    }


def _kept_pairs(block: Block, judge: int) -> Floats:
    rounds = block.audits("order", judge)
    if not rounds.any():
        return NO_VALUES
    first, again = block.shares[rounds, judge], block.audit_shares(rounds)
    one, other = np.triu_indices(block.members, 1)
    before, after = (pair_signs(each[:, one], each[:, other]) for each in (first, again))
    kept = np.where(before == after, 1.0, 0.0)
    return known_mean(np.where(np.isnan(before) | np.isnan(after), np.nan, kept), 1)


# --- Agreement

Taus = dict[tuple[str, str], Floats]


def pairwise_taus(block: Block) -> Taus:
    """Return Kendall's τ_b of every two judges by round, on the answers both ranked."""
    one, other = np.triu_indices(block.members, 1)
    signs = pair_signs(block.shares[:, :, one], block.shares[:, :, other])
    known = ~np.isnan(signs)
    signs = np.where(known, signs, 0.0)
    concord = signs @ np.swapaxes(signs, 1, 2)
    # The number of pairs each judge did not tie, among those that each other judge ranked too.
    untied = np.abs(signs) @ np.swapaxes(known.astype(float), 1, 2)
    max_concord = np.sqrt(untied * np.swapaxes(untied, 1, 2))
    taus = np.where(max_concord > 0, concord / np.maximum(max_concord, 1.0), np.nan)
    return {
        (block.judges[i], block.judges[k]): taus[:, i, k]
        for i, k in combinations(range(len(block.judges)), 2)
    }


def mean_agreement(taus: Sequence[Taus], judges: Sequence[str]) -> dict[str, Effect]:
    """Return each judge's mean τ_b with the other judges of its rounds, without a test."""
    effects: dict[str, Effect] = {}
    for judge in judges:
        rounds = [
            known_mean(np.stack(own), 0)
            for each in taus
            if (own := [values for pair, values in each.items() if judge in pair])
        ]
        values = np.concatenate(rounds) if rounds else np.empty(0)
        effect = mean_effect(values[~np.isnan(values)], BALLOTS)
        effects[judge] = replace(effect, p=None, more=None)
    return effects


def pooled_effective_judges(taus: Sequence[Taus]) -> float | None:
    """Return N_eff; None if two judges never met, or below thirty rounds with any two."""
    pairs = {pair for each in taus for pair in each}
    judges = {judge for pair in pairs for judge in pair}
    known = {
        frozenset(pair): np.concatenate(
            [each[way] for each in taus for way in (pair, pair[::-1]) if way in each]
        )
        for pair in pairs
    }
    means = [float(known_mean(values, 0)) for values in known.values()]
    rounds = max((int((~np.isnan(values)).sum()) for values in known.values()), default=0)
    is_complete = len(means) == len(judges) * (len(judges) - 1) // 2 and not np.isnan(means).any()
    if rounds < MIN_ROUNDS or not is_complete:
        return None
    return effective_number(len(judges), means)


def check_rates(blocks: Iterable[Block]) -> tuple[CheckRate, ...]:
    """Return how often each check found something, by kind, then in the order of the seats."""
    found, rounds = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for block in blocks:
        for key, seen in zip(block.checked, block.checks.sum(axis=0).tolist(), strict=True):
            found[key] += seen
            rounds[key] += len(block.checks)
    rates = (
        CheckRate(
            kind=kind,
            seat=seat,
            effect=Effect(
                n=n,
                unit=ROUNDS,
                value=found[kind, seat] / n,
                interval=wilson_interval(found[kind, seat], n),
            ),
        )
        for (kind, seat), n in rounds.items()
    )
    return tuple(sorted(rates, key=lambda rate: rate.kind))


def spoiled_rates(blocks: Sequence[Block]) -> dict[str, Effect]:
    """Return the share of each judge's ballots that were spoiled, with Wilson's interval."""
    spoiled, sent = Counter[str](), Counter[str]()
    for block in blocks:
        counts = np.where(block.spoiled == ABSENT, 0, block.spoiled).sum(axis=0).tolist()
        valid = block.ballots.sum(axis=0).tolist()
        for judge, bad, good in zip(block.judges, counts, valid, strict=True):
            spoiled[judge] += bad
            sent[judge] += bad + good
    return {
        judge: Effect(of, BALLOTS, spoiled[judge] / of, wilson_interval(spoiled[judge], of))
        if of
        else Effect(0, BALLOTS)
        for judge, of in sent.items()
    }
