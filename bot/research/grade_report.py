"""Render the report on grades: numbers, sentences, the post and the JSON document."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from bot.chat import Caution, Heading, Line, Note, Part, Post, Table
from bot.render.formatting import count_noun, join_words
from council.bakeoffs.bias.report import Effect
from council.research.grades import (
    BEST,
    FEW_GROUPS,
    UNIT,
    Finding,
    FindingKind,
    Framing,
    GradeReport,
    JudgeRow,
    Mean,
    PairedTest,
    findings,
)

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
    render: Callable[[JudgeRow], str]


_JUDGE_COLUMNS = (
    _Column("Judge", lambda row: row.judge),
    _Column("V", lambda row: row.framing.value),
    _Column("N", lambda row: str(row.own.n)),
)
_MEAN_COLUMNS = (
    *_JUDGE_COLUMNS,
    _Column("S", lambda row: format_mean(row.own)),
    _Column("R", lambda row: format_mean(row.received)),
    _Column("G", lambda row: format_mean(row.given)),
)


def _test_columns(title: str, test: Callable[[JudgeRow], PairedTest]) -> tuple[_Column, ...]:
    return (
        *_JUDGE_COLUMNS[:2],
        _Column("N", lambda row: str(test(row).effect.n)),
        _Column(title, lambda row: format_effect(test(row).effect)),
        _Column("95 %", lambda row: format_interval(test(row).effect)),
        _Column("t", lambda row: format_t(test(row))),
        _Column("p", lambda row: format_p(test(row).effect)),
    )


_TABLES = {
    "What a judge gives itself (S), its peers give it (R), and it gives them (G)": _MEAN_COLUMNS,
    ("Own work, compared with what peers give it"): _test_columns(
        "S − R", lambda row: row.over_received
    ),
    "Own work, compared with the work of peers": _test_columns("S − G", lambda row: row.over_given),
    "The difference in differences": _test_columns("Preference", lambda row: row.preference),
    "The same work by different judges": _test_columns("Leniency", lambda row: row.leniency),
    "Own work, net of its objective score": _test_columns("Net", lambda row: row.net),
}
_NET_NOTE = (
    "Net is S − G less what the objective score explains: the slope of grades on that score, "
    "fitted on the work of peers, times the difference in score. Its intervals take the slope as "
    "known."
)
_CEILING = 0.5  # of a judge's grades; if more are the best one, better work cannot show


def grades_post(report: GradeReport) -> Post:
    """Return the whole report on grades as a post."""
    lines = finding_lines(report)
    return Post((Heading(TITLE), *_parts(report, lines)), f"{TITLE} · {lines[0] if lines else ''}")


def _parts(report: GradeReport, lines: Sequence[str]) -> Iterator[Part]:
    yield from map(Line, lines)
    yield from map(Caution, caution_lines(report))
    has_truth = any(row.net.effect.n for row in report.rows)
    for heading, columns in list(_TABLES.items())[: None if has_truth else -1]:
        yield Heading(heading)
        yield _table(report, columns)
    yield Note(_LEGEND)
    yield Note(_SET_ASIDE)
    if has_truth:
        yield Note(_NET_NOTE)
    yield Note(_counts_sentence(report))


def _table(report: GradeReport, columns: Sequence[_Column]) -> Table:
    names = short_names(report.judges)
    rows = tuple(
        (names[row.judge], *(column.render(row) for column in columns[1:])) for row in report.rows
    )
    titles = tuple(column.title for column in columns)
    return Table(titles, rows, frozenset(range(len(_JUDGE_COLUMNS) - 1, len(columns))))


def _counts_sentence(report: GradeReport) -> str:
    absent = f", {report.absent:,} absent" if report.absent else ""
    judges, items = count_noun(len(report.judges), "judge"), count_noun(report.items, "item")
    groups = f" from {count_noun(report.groups, 'group')}" if report.groups else ""
    return f"{report.given:,} grades{absent}, by {judges} on {items}{groups}."


def caution_lines(report: GradeReport) -> tuple[str, ...]:
    """Return what weakens the report: few independent groups, and grades at the ceiling."""
    lines = []
    if 0 < report.groups < FEW_GROUPS:
        lines.append(
            f"All numbers rest on {count_noun(report.groups, 'group')} of items, however many "
            f"items there are ({report.items}). Add groups, not items."
        )
    by_all = {row: row.at_best for row in report.rows if (row.at_best or 0) > _CEILING}
    if by_all:
        lines.append(
            f"More than half of the grades are the best one, {BEST}, by {_whose(by_all)}. Better "
            "work cannot show there, so differences look smaller than they are. Harder items, or a "
            "longer scale, tell more."
        )
    others = [row for row in report.rows if row not in by_all]
    by_own = {row: row.own_at_best for row in others if (row.own_at_best or 0) > _CEILING}
    if by_own:
        lines.append(
            f"More than half of the grades for their own work are the best one, {BEST}, by "
            f"{_whose(by_own)}. They cannot put it higher, so their preference may be larger than "
            "it looks."
        )
    return tuple(lines)


def _whose(shares: Mapping[JudgeRow, float | None]) -> str:
    return join_words(
        f"{row.judge} ({share:.0%} {FRAMING_WORDS[row.framing]})" for row, share in shares.items()
    )


# --- JSON document

Document = dict[str, Any]


def grades_document(report: GradeReport) -> Document:
    """Return the report at full precision, as `council bias FILE --json` prints it.

    Values with too little data are null.
    """
    return {
        "rows": [_row_document(row) for row in report.rows],
        "findings": [*finding_lines(report)],
        "cautions": [*caution_lines(report)],
        "judges": [*report.judges],
        "items": report.items,
        "grades": report.given,
        "absent": report.absent,
        "groups": report.groups,
    }


def _row_document(row: JudgeRow) -> Document:
    return {
        "judge": row.judge,
        "framing": row.framing.value,
        "n": row.own.n,
        **_mean_document("s", row.own),
        **_mean_document("r", row.received),
        **_paired_document("r", row.over_received),
        **_mean_document("g", row.given),
        **_paired_document("g", row.over_given),
        **_effect_document("did", row.preference),
        **_effect_document("leniency", row.leniency),
        **_effect_document("net", row.net),
        "at_best": row.at_best,
        "own_at_best": row.own_at_best,
    }


def _mean_document(name: str, mean: Mean) -> Document:
    return {name: mean.value, f"{name}_sd": mean.sd}


def _paired_document(name: str, test: PairedTest) -> Document:
    effect = test.effect
    return {
        f"t_{name}": test.t,
        f"p_{name}": effect.p,
        f"p_{name}_holm": effect.p_holm,
        f"ci_{name}": _interval_document(effect),
        f"n_{name}": effect.n,
    }


def _effect_document(name: str, test: PairedTest) -> Document:
    effect = test.effect
    return {
        name: effect.value,
        f"{name}_ci": _interval_document(effect),
        f"{name}_t": test.t,
        f"{name}_p": effect.p,
        f"{name}_p_holm": effect.p_holm,
        f"{name}_n": effect.n,
        f"{name}_more": effect.more,
    }


def _interval_document(effect: Effect) -> list[float] | None:
    return None if effect.interval is None else [*effect.interval]


# --- Sentences

FRAMING_WORDS = {Framing.POSITIVE: "when 5 is best", Framing.NEGATIVE: "when 1 is best"}
MAX_MORE_FACTOR = 20  # times as many items as there are; more is not worth suggesting

_POSITIVE_SENTENCES = {
    FindingKind.PREFERENCE: "prefers its own work by {size} of a grade {within}, adjusted for "
    "how strict it is and how good its work is",
    FindingKind.NET: "prefers its own work by {size} of a grade {within}, net of the objective "
    "score",
    FindingKind.LENIENCY: "is lenient: it gives the same work {size} more than the middle judge "
    "{within}",
}
_NEGATIVE_SENTENCES = {
    FindingKind.PREFERENCE: "is harder on its own work by {size} of a grade {within}, adjusted "
    "for how strict it is and how good its work is",
    FindingKind.NET: "is harder on its own work by {size} of a grade {within}, net of the "
    "objective score",
    FindingKind.LENIENCY: "is strict: it gives the same work {size} less than the middle judge "
    "{within}",
}
_COMPARISON_WORDS = {
    FindingKind.OVER_RECEIVED: (
        "than their peers grade it",
        "that alone may be strictness, theirs or their peers'",
    ),
    FindingKind.OVER_GIVEN: ("than their peers' work", "that alone may be the quality of the work"),
}
_MISSING_DATA_WORDS = {
    FindingKind.NO_OWN: "it graded no work of its own",
    FindingKind.TOO_FEW: "this needs at least three items on which it and its peers graded each "
    "other",
    FindingKind.FEW_GROUPS: "the items come from fewer than three groups, so nothing can be said "
    "beyond them, however many items there are",
    FindingKind.ALIKE: "all its differences are the same, so there is no spread to judge by",
    FindingKind.NO_PEERS: "this needs at least two other judges that graded its work and each "
    "other's",
}


def finding_lines(report: GradeReport) -> tuple[str, ...]:
    """Return the findings as sentences, self-preference first, then what lacks data."""
    all_findings = findings(report)
    lines = [
        _finding_sentence(finding)
        for finding in all_findings
        if finding.kind in _POSITIVE_SENTENCES
    ]
    if not any(finding.kind is FindingKind.PREFERENCE for finding in all_findings):
        lines[:0] = _no_preference_lines(report, all_findings)
    for kind in _COMPARISON_WORDS:
        lines.extend(
            _comparison_sentence([finding for finding in all_findings if finding.kind is kind])
        )
    return (
        *lines,
        *_missing_data_sentences(finding for finding in all_findings if not finding.is_found),
    )


def _no_preference_lines(report: GradeReport, all_findings: Sequence[Finding]) -> Iterator[str]:
    rows_without_data = {finding.row for finding in all_findings if not finding.is_found}
    tested = [row for row in report.rows if row not in rows_without_data]
    if not tested:
        return
    over = f", over {tested[0].preference.effect.n} {tested[0].preference.effect.unit}"
    basis = over if 0 < report.groups < FEW_GROUPS else ""
    yield f"No judge's preference for its own work is beyond chance{basis}."
    near = [row for row in tested if _is_within_reach(row.preference.effect)]
    if near:
        nearest = min(near, key=lambda row: row.preference.effect.more or 0)
        more = count_noun(nearest.preference.effect.more or 0, "more item")
        yield (
            f"{nearest.judge} is closest, {FRAMING_WORDS[nearest.framing]}: about {more} would "
            "settle it, if the effect is as large as it looks."
        )


def _is_within_reach(effect: Effect) -> bool:
    return bool(effect.more) and (effect.more or 0) <= effect.n * MAX_MORE_FACTOR


def _finding_sentence(finding: Finding) -> str:
    effect = finding.effect
    words = (_POSITIVE_SENTENCES if _is_higher(finding) else _NEGATIVE_SENTENCES)[finding.kind]
    sentence = words.format(size=format_magnitude(effect), within=format_basis(effect))
    return f"{finding.row.judge} {sentence}, {FRAMING_WORDS[finding.row.framing]}."


def _comparison_sentence(same_kind: Sequence[Finding]) -> Iterator[str]:
    """Yield one sentence on whose own work is graded higher, and whose lower."""
    if not same_kind:
        return
    judges_by_direction = {
        "higher": join_words(map(_judge_with_amount, filter(_is_higher, same_kind))),
        "lower": join_words(
            _judge_with_amount(finding) for finding in same_kind if not _is_higher(finding)
        ),
    }
    than, but = _COMPARISON_WORDS[same_kind[0].kind]
    directions = "; ".join(
        f"{way} {than}: {who}" for way, who in judges_by_direction.items() if who
    )
    yield f"These grade their own work {directions}; {but}."


def _judge_with_amount(finding: Finding) -> str:
    effect, framing = finding.effect, FRAMING_WORDS[finding.row.framing]
    groups = "" if effect.unit == UNIT else f", {effect.n} {effect.unit}"
    return f"{finding.row.judge} ({format_magnitude(effect)} {framing}{groups})"


def _is_higher(finding: Finding) -> bool:
    return (finding.effect.value or 0) > 0


def _missing_data_sentences(without_data: Iterable[Finding]) -> Iterator[str]:
    for kind, same_kind in groupby(without_data, key=lambda finding: finding.kind):
        judges = dict.fromkeys(finding.row.judge for finding in same_kind)
        yield f"Too little data about {join_words(judges)}: {_MISSING_DATA_WORDS[kind]}."


# --- Numbers, to the precision the thesis prints

DASH = "–"
_MIN_P = 0.001


def short_names(judges: Sequence[str]) -> dict[str, str]:
    """Return each judge's name without its provider, unless two names would be the same."""
    last = {judge: judge.rpartition("/")[2] or judge for judge in judges}
    return last if len({*last.values()}) == len(last) else {judge: judge for judge in judges}


def format_mean(value: Mean) -> str:
    """Return a mean with its sample standard deviation: "4.07 ± 0.29"."""
    if value.value is None:
        return DASH
    return f"{value.value:.2f}" if value.sd is None else f"{value.value:.2f} ± {value.sd:.2f}"


def format_t(test: PairedTest) -> str:
    """Return a t: "-6.74"."""
    return DASH if test.t is None else f"{test.t:.2f}"


def format_p(effect: Effect) -> str:
    """Return a p: "< 0.1%", "23.5%"; a star follows if it is significant among all tests."""
    if effect.p is None:
        return DASH
    return f"{format_percent(effect.p)}{' *' if effect.is_found else ''}"


def format_percent(p: float) -> str:
    """Return a p as the thesis prints it: "< 0.1%", "23.5%"."""
    return "< 0.1%" if p < _MIN_P else f"{p:.1%}"


def format_interval(effect: Effect) -> str:
    """Return an interval: "(-0.36, -0.20)"."""
    if effect.interval is None:
        return DASH
    return f"({_format_number(effect.interval[0])}, {_format_number(effect.interval[1])})"


def _format_number(number: float) -> str:
    return f"{round(number, 2) + 0.0:.2f}"  # nothing has no sign


def format_effect(effect: Effect) -> str:
    """Return an effect with its sign: "+0.42"."""
    return DASH if effect.value is None else f"{round(effect.value, 2) + 0.0:+.2f}"


def format_magnitude(effect: Effect) -> str:
    """Return the size of an effect without its sign: "0.42"."""
    return f"{abs(effect.value or 0):.2f}"


def format_basis(effect: Effect) -> str:
    """Return the interval of the magnitude and its units: "(0.27 to 0.57, 100 items)"."""
    over = f"{effect.n} {effect.unit}"
    if effect.interval is None:
        return f"({over}, each alike)"
    low, high = sorted(end if (effect.value or 0) > 0 else -end for end in effect.interval)
    return f"({_format_number(low)} to {_format_number(high)}, {over})"
