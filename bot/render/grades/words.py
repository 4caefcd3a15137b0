"""What was found in grades, in plain sentences."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from bot.render.figures import counted, listed
from bot.render.grades.cells import amount, within
from council.bias.report import Effect
from council.research.grades import Finding, Framing, GradeReport, Kind, findings

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
