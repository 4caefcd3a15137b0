"""The numbers of a report on grades to the precision the thesis prints; a dash where none is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from bot.chat import Heading, Line, Note, Part, Post, Table
from bot.render.formatting import counted, listed
from council.bias.report import Effect
from council.research.grades import (
    Finding,
    Framing,
    GradeReport,
    JudgeRow,
    Kind,
    Mean,
    Paired,
    findings,
)

# --- The numbers of a report on grades to the precision the thesis prints; a dash where none is.

NONE = "–"
_LEAST = 0.001


def short_names(judges: Sequence[str]) -> dict[str, str]:
    """Give each judge's name without its route, where that leaves no two alike."""
    last = {judge: judge.rpartition("/")[2] or judge for judge in judges}
    return last if len({*last.values()}) == len(last) else {judge: judge for judge in judges}


def mean(value: Mean) -> str:
    """Give a mean with its sample standard deviation: "4.07 ± 0.29"."""
    if value.value is None:
        return NONE
    return f"{value.value:.2f}" if value.sd is None else f"{value.value:.2f} ± {value.sd:.2f}"


def statistic(test: Paired) -> str:
    """Give a t: "-6.74"."""
    return NONE if test.t is None else f"{test.t:.2f}"


def chance(effect: Effect) -> str:
    """Give a p: "< 0.1%", "23.5%"; a star follows where it holds among all tests."""
    if effect.p is None:
        return NONE
    return f"{percent(effect.p)}{' *' if effect.is_found else ''}"


def percent(p: float) -> str:
    """Give a p as the thesis does: "< 0.1%", "23.5%"."""
    return "< 0.1%" if p < _LEAST else f"{p:.1%}"


def ends(effect: Effect) -> str:
    """Give an interval: "(-0.36, -0.20)"."""
    if effect.interval is None:
        return NONE
    return f"({_end(effect.interval[0])}, {_end(effect.interval[1])})"


def _end(number: float) -> str:
    return f"{round(number, 2) + 0.0:.2f}"  # nothing has no sign


def size(effect: Effect) -> str:
    """Give an effect with its sign: "+0.42"."""
    return NONE if effect.value is None else f"{round(effect.value, 2) + 0.0:+.2f}"


def amount(effect: Effect) -> str:
    """Give how large an effect is that was found, whichever way it goes: "0.42"."""
    return f"{abs(effect.value or 0):.2f}"


def within(effect: Effect) -> str:
    """Give what an amount rests on: "(0.27 to 0.57, 100 items)"."""
    over = f"{effect.n} {effect.unit}"
    if effect.interval is None:
        return f"({over}, each alike)"
    low, high = sorted(end if (effect.value or 0) > 0 else -end for end in effect.interval)
    return f"({_end(low)} to {_end(high)}, {over})"


# --- What was found in grades, in plain sentences.

FRAMED = {Framing.POSITIVE: "when 5 is best", Framing.NEGATIVE: "when 1 is best"}
MOST_MORE = 20  # times as many items as there are; more is as good as never

_HIGHER = {
    Kind.PREFERENCE: "prefers its own work by {size} of a grade {within}, its strictness and the "
    "quality of its work set aside",
    Kind.LENIENCY: "is lenient: it gives the same work {size} more than the middle judge {within}",
}
_LOWER = {
    Kind.PREFERENCE: "is harder on its own work by {size} of a grade {within}, its strictness and "
    "the quality of its work set aside",
    Kind.LENIENCY: "is strict: it gives the same work {size} less than the middle judge {within}",
}
_COMPARED = {
    Kind.OVER_RECEIVED: (
        "than their peers grade it",
        "that alone may be strictness, theirs or their peers'",
    ),
    Kind.OVER_GIVEN: ("than their peers' work", "that alone may be the quality of the work"),
}
_TOO_LITTLE = {
    Kind.NO_OWN: "it graded no work of its own",
    Kind.TOO_FEW: "at least three items are needed on which it and its peers graded each other",
    Kind.ALIKE: "all its differences are alike, so there is no spread to judge by",
    Kind.NO_PEERS: "at least two other judges are needed that graded its work and each other's",
}


def finding_lines(report: GradeReport) -> tuple[str, ...]:
    """Give what was found in sentences, self-preference first, then what cannot be told."""
    told = findings(report)
    lines = [_found(finding) for finding in told if finding.kind in _HIGHER]
    if not any(finding.kind is Kind.PREFERENCE for finding in told):
        lines[:0] = _none(report, told)
    for kind in _COMPARED:
        lines.extend(_compared([finding for finding in told if finding.kind is kind]))
    return (*lines, *_untold(finding for finding in told if not finding.is_found))


def _none(report: GradeReport, told: Sequence[Finding]) -> Iterator[str]:
    untold = {finding.row for finding in told if not finding.is_found}
    able = [row for row in report.rows if row not in untold]
    if not able:
        return
    yield "No judge's preference for its own work is beyond chance."
    near = [row for row in able if _is_near(row.preference.effect)]
    if near:
        nearest = min(near, key=lambda row: row.preference.effect.more or 0)
        more = counted(nearest.preference.effect.more or 0, "more item")
        yield (
            f"{nearest.judge} comes nearest, {FRAMED[nearest.framing]}: about {more} would settle "
            "it, if it is as large as it looks."
        )


def _is_near(effect: Effect) -> bool:
    return bool(effect.more) and (effect.more or 0) <= effect.n * MOST_MORE


def _found(finding: Finding) -> str:
    effect = finding.effect
    words = (_HIGHER if _is_higher(finding) else _LOWER)[finding.kind]
    said = words.format(size=amount(effect), within=within(effect))
    return f"{finding.row.judge} {said}, {FRAMED[finding.row.framing]}."


def _compared(alike: Sequence[Finding]) -> Iterator[str]:
    """Say in one sentence whose own work is graded higher, and whose lower."""
    if not alike:
        return
    ways = {
        "higher": listed(map(_named, filter(_is_higher, alike))),
        "lower": listed(_named(finding) for finding in alike if not _is_higher(finding)),
    }
    than, but = _COMPARED[alike[0].kind]
    said = "; ".join(f"{way} {than}: {who}" for way, who in ways.items() if who)
    yield f"These grade their own work {said}; {but}."


def _named(finding: Finding) -> str:
    return f"{finding.row.judge} ({amount(finding.effect)} {FRAMED[finding.row.framing]})"


def _is_higher(finding: Finding) -> bool:
    return (finding.effect.value or 0) > 0


def _untold(told: Iterable[Finding]) -> Iterator[str]:
    for kind, alike in groupby(told, key=lambda finding: finding.kind):
        judges = dict.fromkeys(finding.row.judge for finding in alike)
        yield f"Too little to say of {listed(judges)}: {_TOO_LITTLE[kind]}."


# --- A report on grades as a post: findings first, then the thesis' table in parts that fit.

TITLE = "Self-preference by grades"
_LEGEND = (
    "± is the sample standard deviation over items, brackets are 95 % intervals of the mean "
    "difference, p is two-sided, and a star marks what stays below 5 % after Holm's correction for "
    "all tests of the report."
)
_SET_ASIDE = (
    "The difference in differences is (S − G) − (R − O), O being what the peers give each other: "
    "how strict the judge is and how good its work is cancel. Leniency is how much more it gives "
    "the same work than the middle judge."
)


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    shown: Callable[[JudgeRow], str]


_WHO = (
    _Column("Judge", lambda row: row.judge),
    _Column("V", lambda row: row.framing.value),
    _Column("N", lambda row: str(row.own.n)),
)
_MEANS = (
    *_WHO,
    _Column("S", lambda row: mean(row.own)),
    _Column("R", lambda row: mean(row.received)),
    _Column("G", lambda row: mean(row.given)),
)


def _tested(title: str, test: Callable[[JudgeRow], Paired]) -> tuple[_Column, ...]:
    return (
        *_WHO[:2],
        _Column("N", lambda row: str(test(row).effect.n)),
        _Column(title, lambda row: size(test(row).effect)),
        _Column("95 %", lambda row: ends(test(row).effect)),
        _Column("t", lambda row: statistic(test(row))),
        _Column("p", lambda row: chance(test(row).effect)),
    )


_TABLES = {
    "What a judge gives itself (S), its peers give it (R), and it gives them (G)": _MEANS,
    "Own work, beside what peers give it": _tested("S − R", lambda row: row.over_received),
    "Own work, beside the work of peers": _tested("S − G", lambda row: row.over_given),
    "The difference in differences": _tested("Preference", lambda row: row.preference),
    "The same work by different judges": _tested("Leniency", lambda row: row.leniency),
}


def grades_post(report: GradeReport) -> Post:
    """Give all that a report on grades says."""
    lines = finding_lines(report)
    return Post((Heading(TITLE), *_parts(report, lines)), f"{TITLE} · {lines[0] if lines else ''}")


def _parts(report: GradeReport, lines: Sequence[str]) -> Iterator[Part]:
    yield from map(Line, lines)
    for heading, columns in _TABLES.items():
        yield Heading(heading)
        yield _table(report, columns)
    yield Note(_LEGEND)
    yield Note(_SET_ASIDE)
    yield Note(_counts(report))


def _table(report: GradeReport, columns: Sequence[_Column]) -> Table:
    names = short_names(report.judges)
    rows = tuple(
        (names[row.judge], *(column.shown(row) for column in columns[1:])) for row in report.rows
    )
    titles = tuple(column.title for column in columns)
    return Table(titles, rows, frozenset(range(len(_WHO) - 1, len(columns))))


def _counts(report: GradeReport) -> str:
    absent = f", {report.absent:,} absent" if report.absent else ""
    judges, items = counted(len(report.judges), "judge"), counted(report.items, "item")
    return f"{report.given:,} grades{absent}, by {judges} on {items}."


# --- A report on grades for programs: what `council bias FILE --json` prints.

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
        **_paired_document("r", row.over_received),
        **_mean("g", row.given),
        **_paired_document("g", row.over_given),
        **_sized("did", row.preference),
        **_sized("leniency", row.leniency),
    }


def _mean(name: str, mean: Mean) -> Document:
    return {name: mean.value, f"{name}_sd": mean.sd}


def _paired_document(name: str, test: Paired) -> Document:
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
