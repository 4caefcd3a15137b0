"""A grade that a judge gave to one answer. Knows no file and no model."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.intervals import t_chance, t_interval
from council.bakeoffs.record_arrays import PRECISION, Floats, Truths
from council.bias.effects import holm
from council.bias.report import Effect

# --- A grade that a judge gave to one answer. Knows no file and no model.

WORST, BEST = 1, 5


class Framing(StrEnum):
    """What a judge was asked to look for."""

    POSITIVE = "pos"  # quality: 5 is best
    NEGATIVE = "neg"  # badness: 1 is best


@dataclass(frozen=True, slots=True)
class Grade:
    """What a judge gave to an author's work on an item; `score` is None where it gave none.

    In either framing 5 is best: a negative grade is converted before.
    """

    item: str
    framing: Framing
    judge: str
    author: str
    score: float | None


def converted(raw: int, framing: Framing) -> int:
    """Give a grade as it was written on the scale where 5 is best: 6 − raw in the negative one."""
    return BEST + WORST - raw if framing is Framing.NEGATIVE else raw


# --- The grades of one framing as arrays, and their means for each item.

Numbers = NDArray[np.int64]

NOBODY = -1  # the author's number of what somebody wrote who never judges


@dataclass(frozen=True, slots=True)
class GradeSheet:
    """Grades that were given, an entry each: which item, by whom, to whose work, and the score.

    Judges go by their place in `judges`, and so do authors that judge; items are counted from 0.
    """

    framing: Framing
    judges: tuple[str, ...]
    items: int
    item: Numbers
    judge: Numbers
    author: Numbers
    score: Floats

    @property
    def by_peers(self) -> Truths:
        """Whether a grade was given to the work of another judge."""
        return np.asarray((self.author != NOBODY) & (self.author != self.judge))

    def own(self, judge: int) -> Floats:
        """Give S, by item: what a judge gave to its own work."""
        return self.means((self.judge == judge) & (self.author == judge))

    def received(self, judge: int) -> Floats:
        """Give R, by item: the mean of what the other judges gave to its work."""
        return self.means((self.judge != judge) & (self.author == judge))

    def given(self, judge: int) -> Floats:
        """Give G, by item: the mean of what it gave to the work of the other judges."""
        return self.means((self.judge == judge) & self.by_peers)

    def in_channel(self, judge: int) -> Floats:
        """Give O, by item: the mean of what the other judges gave to each other's work."""
        return self.means((self.judge != judge) & (self.author != judge) & self.by_peers)

    def means(self, chosen: Truths, score: Floats | None = None) -> Floats:
        """Give the mean score of chosen grades for each item, NaN for an item that has none."""
        scores = self.score if score is None else score
        totals = np.bincount(self.item[chosen], scores[chosen], minlength=self.items)
        counts = np.bincount(self.item[chosen], minlength=self.items)
        none = np.full(self.items, np.nan)
        means: Floats = np.divide(totals, counts, out=none, where=counts > 0)
        return means


def judges_of(grades: Iterable[Grade]) -> tuple[str, ...]:
    """Give everybody who was asked for a grade, by name."""
    return tuple(sorted({grade.judge for grade in grades}))


def sheet_of(grades: Sequence[Grade], judges: Sequence[str], framing: Framing) -> GradeSheet:
    """Give the grades of one framing; those that are absent are in none of its arrays."""
    numbers = {judge: at for at, judge in enumerate(judges)}
    given = [grade for grade in grades if grade.framing is framing and grade.score is not None]
    items: dict[str, int] = {}
    return GradeSheet(
        framing,
        tuple(judges),
        item=np.array([items.setdefault(one.item, len(items)) for one in given], np.int64),
        items=len(items),
        judge=np.array([numbers[one.judge] for one in given], np.int64),
        author=np.array([numbers.get(one.author, NOBODY) for one in given], np.int64),
        score=np.array([one.score for one in given], float),
    )


# --- Differences between paired grades: their mean, its interval, and the chance that it is none.

FEWEST = 3  # items, below which no spread is worth a word
UNIT = "items"


@dataclass(frozen=True, slots=True)
class Paired:
    """A mean difference in grades over items, with the t of Student's paired test."""

    effect: Effect
    t: float | None = None

    def corrected(self, p_holm: float | None) -> "Paired":
        """Give the same with its p as it is among all tests of the report."""
        return replace(self, effect=replace(self.effect, p_holm=p_holm))


def paired(differences: Floats) -> Paired:
    """Test differences, one an item, against a mean of 0: two-sided, with the 95 % t-interval.

    NaN is an item that cannot be compared. Fewer than three leave t, interval and p None. So do
    differences that are all alike, save that p is the sign test's 2^(1 − n) where they are not 0.
    """
    known = differences[~np.isnan(differences)]
    n = len(known)
    if not n:
        return Paired(Effect(0, UNIT))
    mean = float(known.mean())
    if n < FEWEST:
        return Paired(Effect(n, UNIT, mean))
    if np.ptp(known) < PRECISION:
        certain = None if abs(mean) < PRECISION else 2.0 ** (1 - n)
        return Paired(Effect(n, UNIT, mean, p=certain))
    t = mean / (float(known.std(ddof=1)) / sqrt(n))
    interval = t_interval(known)
    effect = Effect(n, UNIT, mean, interval, t_chance(t, n - 1), more=_more(n, mean, interval))
    return Paired(effect, t)


def _more(n: int, mean: float, interval: tuple[float, float]) -> int | None:
    """Give how many more items would shrink the interval to less than the mean, as √n does."""
    if abs(mean) < PRECISION:
        return None
    half = (interval[1] - interval[0]) / 2
    return max(0, ceil(n * (half / mean) ** 2) - n)


# --- How strict each judge is with the same work, beside the judge in the middle.

FEWEST_JUDGES = 3  # of two, either is as strict as the other is lenient


def leniencies(sheet: GradeSheet) -> dict[int, Paired]:
    """Give how much higher each judge grades the same work than the middle judge, its own left out.

    D is the mean over a judge's grades for others of grade less the mean that the rest gave to the
    same work. With judge effects c and complete grades of m judges, D_j − D_k is
    (c_j − c_k)·m/(m − 1); the middle is the judge, or the mean of the two, of median D, so that
    one strict judge does not make all others look lenient. Nothing for fewer than three judges.
    """
    apart = _apart(sheet)
    found = {judge: _by_judge(sheet, apart, judge) for judge in range(len(sheet.judges))}
    told = {judge: each for judge, each in found.items() if not np.isnan(each).all()}
    if len(told) < FEWEST_JUDGES:
        return {}
    order = sorted(told, key=lambda judge: float(np.nanmean(told[judge])))
    middle = order[(len(order) - 1) // 2 : len(order) // 2 + 1]
    zero = sum((told[judge] for judge in middle), np.zeros(sheet.items)) / len(middle)
    shrunk = (len(told) - 1) / len(told)
    return {judge: paired((each - zero) * shrunk) for judge, each in told.items()}


def _apart(sheet: GradeSheet) -> Floats:
    """Give each grade less the mean that the rest gave to the same work, NaN without a rest."""
    work = sheet.author * sheet.items + sheet.item
    _, at = np.unique(np.where(sheet.by_peers, work, -1), return_inverse=True)
    counted = sheet.by_peers.astype(float)
    totals = np.bincount(at, sheet.score * counted)
    rest = np.bincount(at, counted)[at] - 1
    none = np.full(len(sheet.score), np.nan)
    others: Floats = np.divide(totals[at] - sheet.score, rest, out=none, where=rest > 0)
    return np.where(sheet.by_peers, sheet.score - others, np.nan)


def _by_judge(sheet: GradeSheet, apart: Floats, judge: int) -> Floats:
    return sheet.means((sheet.judge == judge) & ~np.isnan(apart), apart)


# --- The report on grades: Table 1 of the thesis, the difference in differences, and leniency.

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


def _row(sheet: GradeSheet, judge: int, leniency: Paired) -> JudgeRow:
    own, given = sheet.own(judge), sheet.given(judge)
    graded = ~np.isnan(own)
    received, elsewhere = sheet.received(judge), sheet.in_channel(judge)
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


# --- What a report on grades found, and where it has too little to say.


class Kind(StrEnum):
    """What is said of a judge; the comparisons of the thesis come last."""

    PREFERENCE = "preference"  # S − G against R − O
    LENIENCY = "leniency"
    OVER_RECEIVED = "over_received"  # S − R, which strictness moves too
    OVER_GIVEN = "over_given"  # S − G, which the quality of its work moves too
    NO_OWN = "no own work"
    TOO_FEW = "too few items"
    ALIKE = "all alike"
    NO_PEERS = "no peers"


_TOO_LITTLE = (Kind.NO_OWN, Kind.TOO_FEW, Kind.ALIKE, Kind.NO_PEERS)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to say of a judge in one framing; `effect` is the one it rests on."""

    kind: Kind
    row: JudgeRow
    effect: Effect

    @property
    def is_found(self) -> bool:
        """Whether something was found, and not only nothing to be said."""
        return self.kind not in _TOO_LITTLE


def findings(report: GradeReport) -> tuple[Finding, ...]:
    """Give what is beyond chance among all tests, kind by kind, then what cannot be told."""
    found = [finding for row in report.rows for finding in _of(row)]
    order = [*Kind]
    return tuple(sorted(found, key=lambda finding: order.index(finding.kind)))


def _of(row: JudgeRow) -> Iterator[Finding]:
    tested = {
        Kind.PREFERENCE: row.preference.effect,
        Kind.LENIENCY: row.leniency.effect,
        Kind.OVER_RECEIVED: row.over_received.effect,
        Kind.OVER_GIVEN: row.over_given.effect,
    }
    for kind, effect in tested.items():
        if effect.is_found:
            yield Finding(kind, row, effect)
    if why := _too_little(row):
        yield Finding(why, row, row.preference.effect)


def _too_little(row: JudgeRow) -> Kind | None:
    """Say what keeps the difference in differences from telling anything."""
    compared = row.preference.effect
    if not row.own.n:
        return Kind.NO_OWN
    if not compared.n:
        return Kind.NO_PEERS
    if compared.n < FEWEST:
        return Kind.TOO_FEW
    return Kind.ALIKE if compared.p is None else None
