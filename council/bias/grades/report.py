"""The report on grades: Table 1 of the thesis, the difference in differences, and leniency.

Source: Attila M. Magyar, "Bias in LLM self-evaluation" (ELTE, 2025), §3.3 and Table 1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from council.bakeoffs.columns import Floats
from council.bias.grades.grade import Framing, Grade
from council.bias.grades.leniency import leniencies
from council.bias.grades.paired import Paired, paired
from council.bias.grades.sheet import Sheet, judges_of, sheet_of
from council.bias.holm import holm
from council.bias.report import Effect

NOTHING = Paired(Effect(0, "items"))
TESTS = ("over_received", "over_given", "preference", "leniency")


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over items, with the sample standard deviation (n − 1); None for too few."""

    n: int
    value: float | None = None
    sd: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One judge in one framing, over the items on which it graded its own work.

    `own` is S, what it gave itself; `received` R, what its peers gave it; `given` G, what it gave
    its peers. `over_received` is S − R, `over_given` S − G. `preference` is the difference in
    differences (S − G) − (R − O), O being what its peers gave each other: neither how strict it is
    nor how good its work is moves it. `leniency` is how much higher it grades the same work than
    the middle judge. Peers are the other judges.
    """

    judge: str
    framing: Framing
    own: Mean
    received: Mean
    given: Mean
    over_received: Paired
    over_given: Paired
    preference: Paired
    leniency: Paired


@dataclass(frozen=True, slots=True)
class GradeReport:
    """What grades say of every judge, by name, the positive framing first.

    `absent` are grades that were asked for and not given; every p_holm is over all tests of all
    rows.
    """

    rows: tuple[JudgeRow, ...]
    judges: tuple[str, ...]
    items: int
    given: int
    absent: int


def grade_report(grades: Sequence[Grade]) -> GradeReport:
    """Give the report on grades, each of which judge, framing, author and item occur once in."""
    judges = judges_of(grades)
    rows = [row for framing in Framing for row in _rows(grades, judges, framing)]
    absent = sum(grade.score is None for grade in grades)
    return GradeReport(
        rows=tuple(sorted(_corrected(rows), key=lambda row: row.judge)),
        judges=judges,
        items=len({grade.item for grade in grades}),
        given=len(grades) - absent,
        absent=absent,
    )


def _rows(grades: Sequence[Grade], judges: Sequence[str], framing: Framing) -> Iterator[JudgeRow]:
    asked = {grade.judge for grade in grades if grade.framing is framing}
    sheet = sheet_of(grades, judges, framing)
    lenient = leniencies(sheet)
    for number, judge in enumerate(judges):
        if judge in asked:
            yield _row(sheet, number, lenient.get(number, NOTHING))


def _row(sheet: Sheet, judge: int, leniency: Paired) -> JudgeRow:
    own, given = sheet.own(judge), sheet.given(judge)
    graded = ~np.isnan(own)
    received, elsewhere = sheet.received(judge), sheet.elsewhere(judge)
    return JudgeRow(
        sheet.judges[judge],
        sheet.framing,
        _mean(own[graded]),
        _mean(received[graded]),
        _mean(given[graded]),
        over_received=paired(own - received),
        over_given=paired(own - given),
        preference=paired((own - given) - (received - elsewhere)),
        leniency=leniency,
    )


def _mean(values: Floats) -> Mean:
    known = values[~np.isnan(values)]
    n = len(known)
    if not n:
        return Mean(0)
    return Mean(n, float(known.mean()), float(known.std(ddof=1)) if n > 1 else None)


def _corrected(rows: Sequence[JudgeRow]) -> Iterator[JudgeRow]:
    """Give the rows with every p corrected for all tests of all rows."""
    tests = [getattr(row, name) for row in rows for name in TESTS]
    chances = iter(holm([test.effect.p for test in tests]))
    for row in rows:
        yield replace(row, **{name: getattr(row, name).corrected(next(chances)) for name in TESTS})
