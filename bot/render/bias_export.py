"""A bias report for programs: the document that `council bias --rounds --json` prints, and CSV."""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

from bot.render.bias_findings import findings
from bot.render.bias_tables import audit_lines, caution_lines, winning_lines
from bot.render.bias_view import ShownBias, judge_measures
from bot.render.leaderboard_export import escape_formula
from council.bias.report import Effect, JudgeBias

Document = dict[str, Any]

_COLUMNS = (
    "judge",
    "name",
    "measure",
    "value",
    "ci_low",
    "ci_high",
    "n",
    "unit",
    "p",
    "p_holm",
    "found",
    "more",
)


def bias_document(shown: ShownBias) -> Document:
    """Give a report; seats by key, shares as fractions, what is not known null."""
    report = shown.report
    has_rounds = bool(report.rounds)
    return {
        "rounds": report.rounds,
        "ballots": report.ballots,
        "findings": [*findings(shown)] if has_rounds else [],
        "cautions": [*caution_lines(shown)] if has_rounds else [],
        "judges": [_judge_document(shown, judge) for judge in report.judges],
        "given": [
            {"judge": one.judge, "author": one.author, "share": one.share, "n": one.n}
            for one in report.given
        ],
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
        "wins": [*winning_lines(shown)],
        "audits": dict(report.audits),
        "audit_usd": report.audit_usd,
        "audits_unpriced": report.unpriced,
        "audits_spoiled": report.spoiled_audits,
        "audit_lines": [*audit_lines(shown)],
        "alpha": report.alpha,
        "n_eff": report.n_eff,
        "majority": report.majority,
        "counted": _coverage_document(shown),
    }


def bias_csv(shown: ShownBias) -> str:
    """Give a row for each judge and measure; no cell of it is worked out by a spreadsheet."""
    written = StringIO()
    writer = csv.DictWriter(written, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_csv_rows(shown))
    return written.getvalue()


def _judge_document(shown: ShownBias, judge: JudgeBias) -> Document:
    named = {measure.key: _effect_document(measure.of(judge)) for measure in judge_measures(judge)}
    style = {trait: named.pop(f"style_{trait}") for trait in judge.style}
    slots = [{"number": slot.number, **_effect_document(slot.effect)} for slot in judge.slots]
    return {
        "judge": judge.judge,
        "name": shown.name(judge.judge),
        "maker": judge.maker,
        **named,
        "style": style,
        "slots": slots,
    }


def _effect_document(effect: Effect) -> Document:
    return {
        "value": effect.value,
        "ci": None if effect.interval is None else [*effect.interval],
        "n": effect.n,
        "unit": effect.unit,
        "p": effect.p,
        "p_holm": effect.p_holm,
        "found": effect.is_found,
        "more": effect.more,
    }


def _coverage_document(shown: ShownBias) -> Document:
    coverage = shown.coverage
    return {
        "suite": coverage.suite or None,
        "panel": coverage.panel or None,
        "category": coverage.category or None,
        "since": coverage.since.isoformat() if coverage.since else None,
        "before": coverage.before.isoformat() if coverage.before else None,
    }


def _csv_rows(shown: ShownBias) -> Iterator[Document]:
    for judge in shown.report.judges:
        for measure in judge_measures(judge):
            found = _effect_document(measure.of(judge))
            low, high = found.pop("ci") or (None, None)
            yield {
                "judge": escape_formula(judge.judge),
                "name": escape_formula(shown.name(judge.judge)),
                "measure": measure.key,
                "ci_low": low,
                "ci_high": high,
                **found,
            }
