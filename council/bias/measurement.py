"""From the votes of many rounds to the report of bias, corrected for all it tests together."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from council.bias.effects import holm
from council.bias.judge_bias import (
    PositionBias,
    agreement,
    alpha,
    brands,
    consistency,
    family_preference,
    given_by,
    n_eff,
    named_preference,
    own_preference,
    pairwise_taus,
    positions,
    spoiling,
)
from council.bias.report import BiasReport, Effect, GivenShare, JudgeBias
from council.bias.style_bias import StylePreference, fondness, winning_traits
from council.bias.vote_arrays import KINDS, Block

Effects = Mapping[str, Effect]
Change = Callable[[Effect], Effect]


def measured(blocks: Sequence[Block]) -> BiasReport:
    """Give the bias of every judge of these rounds; those in which nobody voted are left out.

    Every `p_holm` is corrected for all tests of the report.
    """
    blocks = [voted for block in blocks if len((voted := block.voted).audit)]
    makers = {
        judge: maker
        for block in blocks
        for judge, maker in zip(block.judges, block.makers, strict=True)
    }
    taus = [pairwise_taus(block) for block in blocks]
    found = _Measures.of(blocks, agreement(taus, [*makers]))
    casts = Counter(kind for block in blocks for kind in block.audit.tolist())
    known, unknown = _costs(blocks)
    return corrected(
        BiasReport(
            rounds=sum(len(block.audit) for block in blocks),
            ballots=sum(int(block.ballots.sum()) for block in blocks),
            audits={kind: casts[KINDS.index(kind)] for kind in ("own", "order", "named")},
            audit_usd=None if unknown and not known else round(sum(known), 6),
            judges=tuple(found.judge(judge, maker) for judge, maker in makers.items()),
            given=tuple(_given(blocks)),
            traits=winning_traits(blocks),
            alpha=alpha(blocks),
            n_eff=n_eff(taus),
            majority=_majority([*makers.values()]),
            brands=brands(blocks),
            unpriced=unknown,
            spoiled_audits=casts[KINDS.index("spoiled")],
        )
    )


@dataclass(frozen=True, slots=True)
class _Measures:
    """Every measure, by judge."""

    own: Effects
    family: Effects
    named: Effects
    positions: Mapping[str, PositionBias]
    kept: Effects
    fondness: Mapping[str, StylePreference]
    agreement: Effects
    spoiled: Effects

    @classmethod
    def of(cls, blocks: Sequence[Block], agreement: Effects) -> "_Measures":
        return cls(
            own=own_preference(blocks),
            family=family_preference(blocks),
            named=named_preference(blocks),
            positions=positions(blocks),
            kept=consistency(blocks),
            fondness=fondness(blocks),
            agreement=agreement,
            spoiled=spoiling(blocks),
        )

    def judge(self, judge: str, maker: str) -> JudgeBias:
        """Give all that is known of one judge."""
        position, fondness = self.positions[judge], self.fondness[judge]
        return JudgeBias(
            judge=judge,
            maker=maker,
            own=self.own[judge],
            family=self.family[judge],
            named=self.named[judge],
            first_slot=position.first_slot,
            position=position.whole,
            slots=position.slots,
            kept=self.kept[judge],
            length=fondness.length,
            style=fondness.style,
            agreement=self.agreement[judge],
            spoiled=self.spoiled[judge],
        )


def _costs(blocks: Sequence[Block]) -> tuple[list[float], int]:
    """Give the known costs of audit ballots, and of how many the cost is not known."""
    audited = [block.usd[block.audit > 0].astype(float) for block in blocks]
    known = [float(usd) for part in audited for usd in part[~np.isnan(part)]]
    return known, sum(int(np.isnan(part).sum()) for part in audited)


def _given(blocks: Sequence[Block]) -> Iterator[GivenShare]:
    for (judge, author), shares in given_by(blocks).items():
        share = float(shares.mean()) if len(shares) else None
        yield GivenShare(judge, author, share, len(shares))


def _majority(makers: Sequence[str]) -> str | None:
    """Give the maker that holds most of the seats, if one does and it is known who it is."""
    for maker, seats in Counter(makers).most_common(1):
        if 2 * seats > len(makers) and not maker.startswith("unknown:"):
            return maker
    return None


def corrected(report: BiasReport) -> BiasReport:
    """Give the report with every chance corrected for how many it tells of (Holm 1979)."""
    chances: list[float | None] = []

    def note(effect: Effect) -> Effect:
        chances.append(effect.p)
        return effect

    _each(report, note)
    by_turn = iter(holm(chances))

    def correct(effect: Effect) -> Effect:
        return replace(effect, p_holm=next(by_turn))

    return _each(report, correct)


def _each(report: BiasReport, change: Change) -> BiasReport:
    """Give the report with every effect in it changed, always in the same order."""
    return replace(
        report,
        judges=tuple(_of_judge(judge, change) for judge in report.judges),
        traits=tuple(replace(t, difference=change(t.difference)) for t in report.traits),
        brands=tuple(replace(brand, effect=change(brand.effect)) for brand in report.brands),
    )


def _of_judge(judge: JudgeBias, change: Change) -> JudgeBias:
    own = {field.name: getattr(judge, field.name) for field in fields(judge)}
    effects: dict[str, Any] = {
        name: change(value) for name, value in own.items() if isinstance(value, Effect)
    }
    return replace(
        judge,
        slots=tuple(replace(slot, effect=change(slot.effect)) for slot in judge.slots),
        style={trait: change(effect) for trait, effect in judge.style.items()},
        **effects,
    )
