"""A report on grades for programs: what `council bias FILE --json` prints."""

from typing import Any

from bot.render.grades.words import finding_lines
from council.bias.report import Effect
from council.research.grades import GradeReport, JudgeRow, Mean, Paired

Document = dict[str, Any]


def grades_document(report: GradeReport) -> Document:
    """Give a report at full precision; what there is too little to say of is null."""
    return {
        "rows": [_row(row) for row in report.rows],
        "findings": [*finding_lines(report)],
        "judges": [*report.judges],
        "items": report.items,
        "grades": report.given,
        "absent": report.absent,
    }


def _row(row: JudgeRow) -> Document:
    return {
        "judge": row.judge,
        "framing": row.framing.value,
        "n": row.own.n,
        **_mean("s", row.own),
        **_mean("r", row.received),
        **_compared("r", row.over_received),
        **_mean("g", row.given),
        **_compared("g", row.over_given),
        **_sized("did", row.preference),
        **_sized("leniency", row.leniency),
    }


def _mean(name: str, mean: Mean) -> Document:
    return {name: mean.value, f"{name}_sd": mean.sd}


def _compared(name: str, test: Paired) -> Document:
    effect = test.effect
    return {
        f"t_{name}": test.t,
        f"p_{name}": effect.p,
        f"p_{name}_holm": effect.p_holm,
        f"ci_{name}": _ends(effect),
        f"n_{name}": effect.n,
    }


def _sized(name: str, test: Paired) -> Document:
    effect = test.effect
    return {
        name: effect.value,
        f"{name}_ci": _ends(effect),
        f"{name}_t": test.t,
        f"{name}_p": effect.p,
        f"{name}_p_holm": effect.p_holm,
        f"{name}_n": effect.n,
        f"{name}_more": effect.more,
    }


def _ends(effect: Effect) -> list[float] | None:
    return None if effect.interval is None else [*effect.interval]
