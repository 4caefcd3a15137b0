"""A report on grades as a post: findings first, then the thesis' table in parts that fit."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bot.chat import Heading, Line, Note, Part, Post, Table
from bot.render.figures import counted
from bot.render.grades.cells import chance, ends, mean, size, statistic
from bot.render.grades.words import finding_lines
from council.bias.grades.report import GradeReport, JudgeRow
from council.bias.report import Effect

TITLE = "Self-preference by grades"
_LEGEND = (
    "S is what a judge gives its own work, R what its peers give it, G what it gives its peers; "
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
_AGAINST_RECEIVED = (
    *_WHO,
    _Column("S", lambda row: mean(row.own)),
    _Column("R", lambda row: mean(row.received)),
    _Column("t", lambda row: statistic(row.over_received)),
    _Column("p", lambda row: chance(row.over_received.effect)),
    _Column("S − R", lambda row: ends(row.over_received.effect)),
)
_AGAINST_GIVEN = (
    *_WHO,
    _Column("S", lambda row: mean(row.own)),
    _Column("G", lambda row: mean(row.given)),
    _Column("t", lambda row: statistic(row.over_given)),
    _Column("p", lambda row: chance(row.over_given.effect)),
    _Column("S − G", lambda row: ends(row.over_given.effect)),
)


def _sized(title: str, effect: Callable[[JudgeRow], Effect]) -> tuple[_Column, ...]:
    return (
        _Column(title, lambda row: size(effect(row))),
        _Column("95 %", lambda row: ends(effect(row))),
        _Column("p", lambda row: chance(effect(row))),
    )


_SET_APART = (
    *_WHO,
    *_sized("Preference", lambda row: row.preference.effect),
    *_sized("Leniency", lambda row: row.leniency.effect),
)


def grades_post(report: GradeReport) -> Post:
    """Give all that a report on grades says."""
    lines = finding_lines(report)
    return Post((Heading(TITLE), *_parts(report, lines)), f"{TITLE} · {lines[0] if lines else ''}")


def _parts(report: GradeReport, lines: Sequence[str]) -> Iterator[Part]:
    yield from map(Line, lines)
    yield Heading("Own work: what the judge gives it, and what its peers give it")
    yield _table(report, _AGAINST_RECEIVED)
    yield Heading("What the judge gives its own work, and its peers' work")
    yield _table(report, _AGAINST_GIVEN)
    yield Heading("Strictness and quality set aside: the difference in differences")
    yield _table(report, _SET_APART)
    yield Note(_LEGEND)
    yield Note(_SET_ASIDE)
    yield Note(_counts(report))


def _table(report: GradeReport, columns: Sequence[_Column]) -> Table:
    rows = tuple(tuple(column.shown(row) for column in columns) for row in report.rows)
    titles = tuple(column.title for column in columns)
    return Table(titles, rows, frozenset(range(len(_WHO) - 1, len(columns))))


def _counts(report: GradeReport) -> str:
    absent = f", {report.absent:,} absent" if report.absent else ""
    judges, items = counted(len(report.judges), "judge"), counted(report.items, "item")
    return f"{report.given:,} grades{absent}, by {judges} on {items}."
