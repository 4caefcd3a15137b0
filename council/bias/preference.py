"""Whether judges prefer answers of their own, of their maker, or of whoever they are told it is.

Each value is a share of rivals beaten on a common set: what a judge gives an answer less what the
others give it, on the answers both ranked. Differences in strictness cannot enter, since a ranking
has none.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from council.bakeoffs.columns import Floats
from council.bias.arrays import NOTHING, by_judge, known_mean, lead
from council.bias.blocks import Block
from council.bias.effects import mean_effect
from council.bias.report import Brand, Effect

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


def brands(blocks: Sequence[Block]) -> tuple[Brand, ...]:
    """Give what each maker's answers gain when judges are told who wrote what, over all judges."""
    gained: dict[str, list[Floats]] = {}
    for block in blocks:
        shifts = np.concatenate([_shift(block, judge) for judge in range(len(block.judges))])
        written = np.array(block.makers[: block.members])
        for maker in sorted({*block.makers[: block.members]}):
            gains = known_mean(shifts[:, written == maker], 1)
            gained.setdefault(maker, []).append(gains[~np.isnan(gains)])
    found = {maker: np.concatenate(parts) for maker, parts in gained.items()}
    return tuple(Brand(maker, effect) for maker, effect in _effects(found, AUDITS).items())


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
