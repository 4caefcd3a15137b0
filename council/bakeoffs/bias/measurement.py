"""Measure the bias report from the votes of many rounds, corrected for multiple tests."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from council.bakeoffs.bias.judge_bias import (
    check_rates,
    family_preference,
    maker_effects,
    mean_agreement,
    named_preference,
    order_consistency,
    own_preference,
    pairwise_taus,
    pooled_effective_judges,
    position_bias,
    shares_given,
    spoiled_rates,
)
from council.bakeoffs.bias.report import BiasReport, Effect, GivenShare, JudgeBias
from council.bakeoffs.bias.style_bias import style_preferences, winning_traits
from council.bakeoffs.bias.vote_arrays import AUDIT_KINDS, Block
from council.bakeoffs.intervals import holm
from council.tally.agreement import pooled_alpha

Change = Callable[[Effect], Effect]


def measure_bias(blocks: Sequence[Block]) -> BiasReport:
    """Return the bias of every judge of these rounds, each `p_holm` corrected for all tests."""
    blocks = [voted for block in blocks if len((voted := block.voted).audit)]
    makers = {
        judge: maker
        for block in blocks
        for judge, maker in zip(block.judges, block.makers, strict=True)
    }
    taus = [pairwise_taus(block) for block in blocks]
    audit_counts = Counter(kind for block in blocks for kind in block.audit.tolist())
    audited = [block.usd[block.audit > 0].astype(float) for block in blocks]
    costs = np.concatenate([*audited, np.empty(0)])
    unpriced = int(np.isnan(costs).sum())
    return correct_for_all_tests(
        BiasReport(
            rounds=sum(len(block.audit) for block in blocks),
            ballots=sum(int(block.ballots.sum()) for block in blocks),
            audits={
                kind: audit_counts[AUDIT_KINDS.index(kind)] for kind in ("own", "order", "named")
            },
            audit_usd=None
            if 0 < unpriced == len(costs)
            else round(sum(costs[~np.isnan(costs)].tolist()), 6),
            judges=tuple(_judge_biases(blocks, makers, mean_agreement(taus, [*makers]))),
            given=tuple(
                GivenShare(
                    judge=judge,
                    author=author,
                    share=float(shares.mean()) if len(shares) else None,
                    n=len(shares),
                )
                for (judge, author), shares in shares_given(blocks).items()
            ),
            traits=winning_traits(blocks),
            alpha=pooled_alpha(
                np.moveaxis(block.shares, 1, 2).reshape(-1, len(block.judges)) for block in blocks
            ),
            n_eff=pooled_effective_judges(taus),
            majority=_majority_maker([*makers.values()]),
            brands=maker_effects(blocks),
            unpriced=unpriced,
            spoiled_audits=audit_counts[AUDIT_KINDS.index("spoiled")],
            checks=check_rates(blocks),
        )
    )


def _judge_biases(
    blocks: Sequence[Block], makers: Mapping[str, str], agreement: Mapping[str, Effect]
) -> Iterator[JudgeBias]:
    own, family, named = (
        measure(blocks) for measure in (own_preference, family_preference, named_preference)
    )
    positions, fondness = position_bias(blocks), style_preferences(blocks)
    kept, spoiled = order_consistency(blocks), spoiled_rates(blocks)
    for judge, maker in makers.items():
        yield JudgeBias(
            judge=judge,
            maker=maker,
            own=own[judge],
            family=family[judge],
            named=named[judge],
            first_slot=positions[judge].first_slot,
            position=positions[judge].whole,
            slots=positions[judge].slots,
            kept=kept[judge],
            length=fondness[judge].length,
            style=fondness[judge].style,
            agreement=agreement[judge],
            spoiled=spoiled[judge],
        )


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
    corrected: BiasReport = _map_effects(
        report, lambda effect: replace(effect, p_holm=next(p_holm_values))
    )
    return corrected


def _map_effects(value: Any, change: Change) -> Any:  # noqa: ANN401 - any part of a report
    """Return the value with every effect in it changed, always in the same order."""
    if isinstance(value, Effect):
        return change(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        parts = {name: _map_effects(getattr(value, name), change) for name in names}
        return replace(value, **parts)
    if isinstance(value, tuple):
        return tuple(_map_effects(part, change) for part in value)
    if isinstance(value, Mapping):
        return {name: _map_effects(part, change) for name, part in value.items()}
    return value
