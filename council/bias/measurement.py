"""Measure the bias report from the votes of many rounds, corrected for multiple tests."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from council.bakeoffs.intervals import holm
from council.bias.judge_bias import (
    PositionBias,
    family_preference,
    maker_effects,
    mean_agreement,
    named_preference,
    order_consistency,
    own_preference,
    pairwise_taus,
    pooled_alpha,
    pooled_effective_judges,
    position_bias,
    shares_given,
    spoiled_rates,
)
from council.bias.report import BiasReport, Effect, GivenShare, JudgeBias
from council.bias.style_bias import StylePreference, style_preferences, winning_traits
from council.bias.vote_arrays import AUDIT_KINDS, Block

Effects = Mapping[str, Effect]
Change = Callable[[Effect], Effect]


def measure_bias(blocks: Sequence[Block]) -> BiasReport:
    """Return the bias of every judge of these rounds; rounds without any ballot are left out.

    Every `p_holm` is corrected for all tests of the report.
    """
    blocks = [voted for block in blocks if len((voted := block.voted).audit)]
    makers = {
        judge: maker
        for block in blocks
        for judge, maker in zip(block.judges, block.makers, strict=True)
    }
    taus = [pairwise_taus(block) for block in blocks]
    measures = _Measures.of(blocks, mean_agreement(taus, [*makers]))
    audit_counts = Counter(kind for block in blocks for kind in block.audit.tolist())
    known_costs, unpriced = _audit_costs(blocks)
    return correct_for_all_tests(
        BiasReport(
            rounds=sum(len(block.audit) for block in blocks),
            ballots=sum(int(block.ballots.sum()) for block in blocks),
            audits={
                kind: audit_counts[AUDIT_KINDS.index(kind)] for kind in ("own", "order", "named")
            },
            audit_usd=None if unpriced and not known_costs else round(sum(known_costs), 6),
            judges=tuple(measures.judge(judge, maker) for judge, maker in makers.items()),
            given=tuple(_given_shares(blocks)),
            traits=winning_traits(blocks),
            alpha=pooled_alpha(blocks),
            n_eff=pooled_effective_judges(taus),
            majority=_majority_maker([*makers.values()]),
            brands=maker_effects(blocks),
            unpriced=unpriced,
            spoiled_audits=audit_counts[AUDIT_KINDS.index("spoiled")],
        )
    )


@dataclass(frozen=True, slots=True)
class _Measures:
    """All measures, each by judge."""

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
            positions=position_bias(blocks),
            kept=order_consistency(blocks),
            fondness=style_preferences(blocks),
            agreement=agreement,
            spoiled=spoiled_rates(blocks),
        )

    def judge(self, judge: str, maker: str) -> JudgeBias:
        """Return all measures of one judge."""
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


def _audit_costs(blocks: Sequence[Block]) -> tuple[list[float], int]:
    """Return the known costs of audit ballots, and how many costs are unknown."""
    audited = [block.usd[block.audit > 0].astype(float) for block in blocks]
    known = [float(usd) for part in audited for usd in part[~np.isnan(part)]]
    return known, sum(int(np.isnan(part).sum()) for part in audited)


def _given_shares(blocks: Sequence[Block]) -> Iterator[GivenShare]:
    for (judge, author), shares in shares_given(blocks).items():
        share = float(shares.mean()) if len(shares) else None
        yield GivenShare(judge, author, share, len(shares))


def _majority_maker(makers: Sequence[str]) -> str | None:
    """Return the maker that holds most of the seats, if there is one and it is known."""
    for maker, seats in Counter(makers).most_common(1):
        if 2 * seats > len(makers) and not maker.startswith("unknown:"):
            return maker
    return None


def correct_for_all_tests(report: BiasReport) -> BiasReport:
    """Return the report with every p-value corrected for all its tests (Holm 1979)."""
    p_values: list[float | None] = []

    def collect(effect: Effect) -> Effect:
        p_values.append(effect.p)
        return effect

    _map_effects(report, collect)
    p_holm_values = iter(holm(p_values))

    def correct(effect: Effect) -> Effect:
        return replace(effect, p_holm=next(p_holm_values))

    return _map_effects(report, correct)


def _map_effects(report: BiasReport, change: Change) -> BiasReport:
    """Return the report with every effect changed, always in the same order."""
    return replace(
        report,
        judges=tuple(_map_judge_effects(judge, change) for judge in report.judges),
        traits=tuple(replace(t, difference=change(t.difference)) for t in report.traits),
        brands=tuple(replace(brand, effect=change(brand.effect)) for brand in report.brands),
    )


def _map_judge_effects(judge: JudgeBias, change: Change) -> JudgeBias:
    values = {field.name: getattr(judge, field.name) for field in fields(judge)}
    effects: dict[str, Any] = {
        name: change(value) for name, value in values.items() if isinstance(value, Effect)
    }
    return replace(
        judge,
        slots=tuple(replace(slot, effect=change(slot.effect)) for slot in judge.slots),
        style={trait: change(effect) for trait, effect in judge.style.items()},
        **effects,
    )
