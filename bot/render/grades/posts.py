"""A report on grades as a post: findings first, then the thesis' table in parts that fit."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bot.chat import Heading, Line, Note, Part, Post, Table
from bot.render.figures import counted
from bot.render.grades.cells import chance, ends, mean, short_names, size, statistic
from bot.render.grades.words import finding_lines
from council.research.grades import GradeReport, JudgeRow, Paired

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
