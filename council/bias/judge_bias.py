"""Whether judges prefer answers of their own, of their maker, or of whoever they are told it is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from council.bakeoffs.intervals import rate_interval, share_interval
from council.bakeoffs.record_arrays import PRECISION, Floats
from council.bias.effects import FEWEST, SlotShares, described, mean_effect
from council.bias.report import Effect, MakerEffect, Slot
from council.bias.vote_arrays import NOBODY, NOTHING, Block, by_judge, known_mean, lead, sides
from council.tally.agreement import FEWEST_ROUNDS, effective_number

# --- Whether judges prefer answers of their own, of their maker, or of whoever they are told it i

AUDITS, BALLOTS = "audit ballots", "ballots"


def own_preference(blocks: Sequence[Block]) -> dict[str, Effect]:
    """Give Δ = b_jj − mean_k b_kj per judge, over its audit ballots that showed its own answer.

    b_jj is from the audit ballot, b_kj from the counted ballots of the same round's other judges;
    each k is compared on the answers that k ranked too, so that its own, which only j saw, is
    left out on both sides. Paired t over audit ballots.
    """
    return _effects(by_judge(blocks, _own), AUDITS)


def _own(block: Block, judge: int) -> Floats:
    if judge >= block.members:
        return NOTHING
    rounds = block.audits("own", judge)
    given, others = block.audit_shares(rounds)[:, None, :], block.shares[rounds]
    rivals = [author for author in range(block.members) if author != judge]
    # On its own counted ballot the judge's answer is not known, so that it is no other here.
    return known_mean(lead(given, others, judge, rivals), 1)


def family_preference(blocks: Sequence[Block]) -> dict[str, Effect]:
    """Give the same for answers of the judge's maker, its own left out, over counted ballots.

    Compared are judges and rivals of other makers. No effect without another seat of the maker.
    """
    return _effects(by_judge(blocks, _family), BALLOTS)


def _family(block: Block, judge: int) -> Floats:
    kin = _kin(block, judge)
    if not kin:
        return NOTHING
    maker = block.makers[judge]
    strangers = [k for k, other in enumerate(block.makers) if other != maker]
    rivals = [author for author in strangers if author < block.members]
    given, others = block.shares[:, [judge]], block.shares[:, strangers]
    return known_mean(np.stack([lead(given, others, a, rivals) for a in kin]), (0, 2))


def _kin(block: Block, judge: int) -> list[int]:
    """Give the other authors of a judge's maker, where it is known who that is."""
    maker = block.makers[judge]
    if maker.startswith("unknown:"):
        return []
    return [a for a in range(block.members) if a != judge and block.makers[a] == maker]


def named_preference(blocks: Sequence[Block]) -> dict[str, Effect]:
    """Give what answers of the judge's maker gain when it is told who wrote what.

    The share on the audit ballot with names less that on its counted ballot of the same slate.
    """
    return _effects(by_judge(blocks, _named), AUDITS)


def _named(block: Block, judge: int) -> Floats:
    kin = _kin(block, judge)
    return known_mean(_shift(block, judge)[:, kin], 1) if kin else NOTHING


def _shift(block: Block, judge: int) -> Floats:
    rounds = block.audits("named", judge)
    shift: Floats = block.audit_shares(rounds) - block.shares[rounds, judge]
    return shift


def brands(blocks: Sequence[Block]) -> tuple[MakerEffect, ...]:
    """Give what each maker's answers gain when judges are told who wrote what, over all judges."""
    gained: dict[str, list[Floats]] = {}
    for block in blocks:
        shifts = np.concatenate([_shift(block, judge) for judge in range(len(block.judges))])
        written = np.array(block.makers[: block.members])
        for maker in sorted({*block.makers[: block.members]}):
            gains = known_mean(shifts[:, written == maker], 1)
            gained.setdefault(maker, []).append(gains[~np.isnan(gains)])
    found = {maker: np.concatenate(parts) for maker, parts in gained.items()}
    return tuple(MakerEffect(maker, effect) for maker, effect in _effects(found, AUDITS).items())


def _effects(values: dict[str, Floats], unit: str) -> dict[str, Effect]:
    return {name: mean_effect(found, unit) for name, found in values.items()}


def given_by(blocks: Iterable[Block]) -> dict[tuple[str, str], Floats]:
    """Give every Borda share each judge gave each author, its own from audits that showed it."""
    found: dict[tuple[str, str], list[Floats]] = {}
    for block in blocks:
        for j, judge in enumerate(block.judges):
            for a, author in enumerate(block.judges[: block.members]):
                shares = block.shares[:, j, a]
                if a == j:
                    shares = block.audit_shares(block.audits("own", j))[:, a]
                known = shares[~np.isnan(shares)]
                found.setdefault((judge, author), []).append(known)
    return {pair: np.concatenate(parts) for pair, parts in found.items()}


# --- Whether judges rank by where an answer stands, and whether they keep to their order.

_HALF = (-0.5, 0.5)


@dataclass(frozen=True, slots=True)
class PositionBias:
    """What is known of one judge and slots: see JudgeBias."""

    first_slot: Effect
    whole: Effect
    slots: tuple[Slot, ...]


def positions(blocks: Sequence[Block]) -> dict[str, PositionBias]:
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


def _positions(ballots: list[Floats]) -> PositionBias:
    if not ballots:
        none = Effect(0, BALLOTS)
        return PositionBias(none, none, ())
    slots = _curve(ballots)
    first = mean_effect(np.concatenate([part[:, 0] for part in ballots]), BALLOTS, _HALF)
    return PositionBias(first, _whole(ballots, slots), slots)


def _curve(ballots: list[Floats]) -> tuple[Slot, ...]:
    widest = max((part.shape[1] for part in ballots), default=0)
    columns = [[part[:, s] for part in ballots if part.shape[1] > s] for s in range(widest)]
    effects = [mean_effect(np.concatenate(parts), BALLOTS, _HALF) for parts in columns]
    # It is tested as a whole.
    return tuple(Slot(s, replace(effect, p=None)) for s, effect in enumerate(effects, start=1))


def _whole(ballots: list[Floats], slots: tuple[Slot, ...]) -> Effect:
    """Give the slot that stands out most, with the chance of one that does by chance alone."""
    shuffles = SlotShares.of(ballots)
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


# --- How far judges agree over many rounds, and how many judges they amount to.

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
