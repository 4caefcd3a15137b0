"""A report in which every number is one: what is not finite is not known."""

from dataclasses import replace
from math import isfinite

from council.bias.report import BiasReport, Effect, Given, JudgeBias, Slot, Trait


def cleaned(report: BiasReport) -> BiasReport:
    """Give a report in which None stands for whatever is not finite."""
    return replace(
        report,
        audit_usd=_known(report.audit_usd),
        judges=tuple(map(_judge, report.judges)),
        given=tuple(_given(one) for one in report.given),
        traits=tuple(map(_trait, report.traits)),
        alpha=_known(report.alpha),
        n_eff=_known(report.n_eff),
        brands=tuple(replace(brand, effect=_effect(brand.effect)) for brand in report.brands),
    )


def _known(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


def _effect(effect: Effect) -> Effect:
    interval = effect.interval if effect.interval and all(map(isfinite, effect.interval)) else None
    value = _known(effect.value)
    return replace(
        effect,
        value=value,
        interval=interval if value is not None else None,
        p=_known(effect.p),
        p_holm=_known(effect.p_holm),
    )


def _judge(judge: JudgeBias) -> JudgeBias:
    return replace(
        judge,
        own=_effect(judge.own),
        family=_effect(judge.family),
        named=_effect(judge.named),
        first_slot=_effect(judge.first_slot),
        position=_effect(judge.position),
        slots=tuple(Slot(slot.number, _effect(slot.effect)) for slot in judge.slots),
        kept=_effect(judge.kept),
        length=_effect(judge.length),
        style={trait: _effect(effect) for trait, effect in judge.style.items()},
        agreement=_effect(judge.agreement),
        spoiled=_effect(judge.spoiled),
    )


def _given(given: Given) -> Given:
    return replace(given, share=_known(given.share))


def _trait(trait: Trait) -> Trait:
    return replace(
        trait,
        winners=_known(trait.winners),
        rest=_known(trait.rest),
        difference=_effect(trait.difference),
    )
