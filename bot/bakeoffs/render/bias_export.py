"""A bias report as a JSON document and as CSV."""

from collections.abc import Iterator
from dataclasses import asdict, fields

from bot.bakeoffs.render.bias_findings import findings
from bot.bakeoffs.render.bias_tables import (
    BiasView,
    audit_lines,
    caution_lines,
    judge_measures,
    winning_lines,
)
from bot.bakeoffs.render.bias_verdicts import verdict_lines
from bot.bakeoffs.render.leaderboard_export import Document
from bot.render.csv_text import csv_text
from council.bakeoffs.bias.report import ChairmanBias, Effect, JudgeBias


def bias_document(bias: BiasView) -> Document:
    """Return the report; seats by key, shares as fractions, unknown values null."""
    report, coverage = bias.report, bias.coverage
    has_rounds = bool(report.rounds)
    return {
        "rounds": report.rounds,
        "ballots": report.ballots,
        "findings": [*findings(bias)] if has_rounds else [],
        "cautions": [*caution_lines(bias)] if has_rounds else [],
        "judges": [_judge_document(bias, judge) for judge in report.judges],
        "given": [*map(asdict, report.given)],
        "traits": [
            {
                "name": trait.name,
                "winners": trait.winners,
                "rest": trait.rest,
                "difference": _effect_document(trait.difference),
            }
            for trait in report.traits
        ],
        "brands": [
            {"maker": brand.maker, **_effect_document(brand.effect)} for brand in report.brands
        ],
        "wins": [*winning_lines(bias)],
        "audits": dict(report.audits),
        "audit_usd": report.audit_usd,
        "audits_unpriced": report.unpriced,
        "audits_spoiled": report.spoiled_audits,
        "audit_lines": [*audit_lines(bias)],
        "checks": [
            {"kind": check.kind, "seat": check.seat, **_effect_document(check.effect)}
            for check in report.checks
        ],
        "verdicts": [
            {**asdict(one), "agreed": _effect_document(one.agreed)} for one in report.verdicts
        ],
        "verdict_lines": [*verdict_lines(report.verdicts)],
        "chairmen": [_chairman_document(bias, one) for one in report.chairmen],
        "alpha": report.alpha,
        "n_eff": report.n_eff,
        "majority": report.majority,
        "counted": {
            "suite": coverage.suite or None,
            "panel": coverage.panel or None,
            "category": coverage.category or None,
            "since": coverage.since.isoformat() if coverage.since else None,
            "before": coverage.before.isoformat() if coverage.before else None,
        },
    }


def bias_csv(bias: BiasView) -> str:
    """Return a row for each judge and measure; no cell is evaluated as a formula."""
    columns = ("judge", "name", "measure", "value", "ci_low", "ci_high", "n", "unit", "p", "p_holm")
    rows = [*_csv_rows(bias)]
    new = rows[0] if rows else {}  # a number that an effect got later stands last
    return csv_text([*dict.fromkeys((*columns, "found", "more", *new))], rows)


def _judge_document(bias: BiasView, judge: JudgeBias) -> Document:
    effects = {
        measure.key: _effect_document(measure.of(judge)) for measure in judge_measures(judge)
    }
    style = {trait: effects.pop(f"style_{trait}") for trait in judge.style}
    slots = [{"number": slot.number, **_effect_document(slot.effect)} for slot in judge.slots]
    return {
        "judge": judge.judge,
        "name": bias.name(judge.judge),
        "maker": judge.maker,
        **effects,
        "style": style,
        "slots": slots,
    }


def _chairman_document(bias: BiasView, chairman: ChairmanBias) -> Document:
    parts = {field.name: getattr(chairman, field.name) for field in fields(chairman)}
    effects = {
        name: _effect_document(part) for name, part in parts.items() if isinstance(part, Effect)
    }
    return {"name": bias.name(chairman.chairman), **parts, **effects}


def _effect_document(effect: Effect) -> Document:
    own = asdict(effect)
    interval = own.pop("interval")
    return {**own, "ci": interval and [*interval], "found": effect.is_found}


def _csv_rows(bias: BiasView) -> Iterator[Document]:
    for judge in bias.report.judges:
        for measure in judge_measures(judge):
            effect = _effect_document(measure.of(judge))
            low, high = effect.pop("ci") or (None, None)
            yield {
                "judge": judge.judge,
                "name": bias.name(judge.judge),
                "measure": measure.key,
                "ci_low": low,
                "ci_high": high,
                **effect,
            }
