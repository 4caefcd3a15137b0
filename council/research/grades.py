"""Grades that judges gave to answers: the self-preference and leniency report, and its findings."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from council.bakeoffs.bias.report import Effect
from council.bakeoffs.intervals import holm, t_interval
from council.bakeoffs.record_arrays import PRECISION, Booleans, Floats
from council.tally.distributions import LEVEL, t_p_value, t_quantile

WORST, BEST = 1, 5


class Framing(StrEnum):
    """What a judge was asked to grade."""

    POSITIVE = "pos"  # quality: 5 is best
    NEGATIVE = "neg"  # badness: 1 is best


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade a judge gave an author's answer to an item; `score` is None if it gave none.

    In both framings 5 is best: grades of the negative framing are converted first. Items of one
    `group` are not independent, such as answers to one task; "" is none. `truth` is an objective
    score of the work, on any scale, higher for better work.
    """

    item: str
    framing: Framing
    judge: str
    author: str
    score: float | None
    group: str = ""
    truth: float | None = None


def normalize_grade(raw: int, framing: Framing) -> int:
    """Return a grade as written on the scale where 5 is best: 6 − raw in the negative framing."""
    return BEST + WORST - raw if framing is Framing.NEGATIVE else raw


Numbers = NDArray[np.int64]

NO_GROUPS: Numbers = np.empty(0, np.int64)
NOT_A_JUDGE = -1  # the index of an author that never judges


@dataclass(frozen=True, slots=True)
class GradeSheet:
    """The grades of one framing as arrays, an entry per grade: item, judge, author and score.

    `judge` and `author` are indexes into `judges`; items are numbered from 0. `group` is by item,
    empty if the grades name no groups; `truth` is NaN where unknown.
    """

    framing: Framing
    judges: tuple[str, ...]
    items: int
    item: Numbers
    judge: Numbers
    author: Numbers
    score: Floats
    group: Numbers
    truth: Floats

    @property
    def by_peers(self) -> Booleans:
        """Which grades were given to the work of another judge."""
        return np.asarray((self.author != NOT_A_JUDGE) & (self.author != self.judge))

    def own(self, judge: int) -> Floats:
        """Return S by item: what a judge gave its own work."""
        return self.means((self.judge == judge) & (self.author == judge))

    def received(self, judge: int) -> Floats:
        """Return R by item: the mean of what the other judges gave its work."""
        return self.means((self.judge != judge) & (self.author == judge))

    def given(self, judge: int) -> Floats:
        """Return G by item: the mean of what it gave the work of the other judges."""
        return self.means((self.judge == judge) & self.by_peers)

    def among_peers(self, judge: int) -> Floats:
        """Return O by item: the mean of what the other judges gave each other's work."""
        return self.means((self.judge != judge) & (self.author != judge) & self.by_peers)

    def truth_lead(self, judge: int) -> Floats:
        """Return by item how far the truth puts its own work above the peers' work it graded."""
        own = self.means((self.judge == judge) & (self.author == judge), self.truth)
        return own - self.means((self.judge == judge) & self.by_peers, self.truth)

    @property
    def truth_slope(self) -> float | None:
        """How many grades a unit of truth is worth to judges, on the work of others.

        Least squares with an intercept for each judge, so that strictness is none of it; None if
        the truth of what each judge graded is unknown or always the same.
        """
        known = self.by_peers & ~np.isnan(self.truth)
        judge, score, truth = self.judge[known], self.score[known], self.truth[known]
        counts = np.maximum(np.bincount(judge), 1)
        truth = truth - (np.bincount(judge, truth) / counts)[judge]
        spread = float((truth**2).sum())
        return float((truth * score).sum()) / spread if spread > PRECISION else None

    def means(self, chosen: Booleans, score: Floats | None = None) -> Floats:
        """Return the mean score of the chosen grades by item, NaN for an item without any."""
        scores = self.score if score is None else score
        totals = np.bincount(self.item[chosen], scores[chosen], minlength=self.items)
        counts = np.bincount(self.item[chosen], minlength=self.items)
        none = np.full(self.items, np.nan)
        means: Floats = np.divide(totals, counts, out=none, where=counts > 0)
        return means


def judge_names(grades: Iterable[Grade]) -> tuple[str, ...]:
    """Return all judges that were asked for a grade, by name."""
    return tuple(sorted({grade.judge for grade in grades}))


def build_sheet(grades: Sequence[Grade], judges: Sequence[str], framing: Framing) -> GradeSheet:
    """Return the grades of one framing; missing scores are left out."""
    numbers = {judge: at for at, judge in enumerate(judges)}
    given = [grade for grade in grades if grade.framing is framing and grade.score is not None]
    items: dict[str, int] = {}
    group_of = {grade.item: grade.group or grade.item for grade in given}
    is_grouped = any(grade.group for grade in given)
    names = {one: number for number, one in enumerate(dict.fromkeys(group_of.values()))}
    return GradeSheet(
        framing,
        tuple(judges),
        item=np.array([items.setdefault(grade.item, len(items)) for grade in given], np.int64),
        items=len(items),
        judge=np.array([numbers[grade.judge] for grade in given], np.int64),
        author=np.array([numbers.get(grade.author, NOT_A_JUDGE) for grade in given], np.int64),
        score=np.array([grade.score for grade in given], float),
        group=np.array([names[one] for one in group_of.values() if is_grouped], np.int64),
        truth=np.array([grade.truth for grade in given], float),  # None becomes NaN
    )


MIN_ITEMS = 3  # fewer give no interval and no p
UNIT = "items"
FEW_GROUPS = 10  # of fewer independent groups, every effect says on how few it rests


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A mean difference in grades over items, with the t of Student's paired test.

    `groups` is how many independent groups the items come from, 0 if they are independent.
    """

    effect: Effect
    t: float | None = None
    groups: int = 0

    def corrected(self, p_holm: float | None) -> "PairedTest":
        """Return a copy with this corrected p."""
        return replace(self, effect=replace(self.effect, p_holm=p_holm))


def paired_t_test(differences: Floats, group: Numbers = NO_GROUPS) -> PairedTest:
    """Test differences by item against a mean of 0: two-sided, with the 95 % t-interval.

    NaN marks an item that cannot be compared. Below three items, t, interval and p are None. If all
    differences are alike, t and interval are None and p is that of the sign test, 2^(1 − n), or
    None if they are 0. With the `group` of each item, these count groups instead of items: see
    `_clustered_test`.
    """
    is_known = ~np.isnan(differences)
    known = differences[is_known]
    if len(group) and len(known):
        return _clustered_test(known, group[is_known])
    n = len(known)
    if not n:
        return PairedTest(Effect(0, UNIT))
    mean = float(known.mean())
    if n < MIN_ITEMS:
        return PairedTest(Effect(n, UNIT, mean))
    if np.ptp(known) < PRECISION:
        certain = None if abs(mean) < PRECISION else 2.0 ** (1 - n)
        return PairedTest(Effect(n, UNIT, mean, p=certain))
    t = mean / (float(known.std(ddof=1)) / sqrt(n))
    interval = t_interval(known)
    effect = Effect(
        n, UNIT, mean, interval, t_p_value(t, n - 1), more=_items_needed(n, mean, interval)
    )
    return PairedTest(effect, t)


def _clustered_test(differences: Floats, group: Numbers) -> PairedTest:
    """Test differences whose items come in groups, with cluster-robust errors.

    The variance of the mean is G/(G − 1) · Σ_g (Σ_i (d_i − mean))² / n² over G groups, and t has
    G − 1 degrees of freedom (Cameron and Miller 2015, CR1 for a mean).
    """
    names, index = np.unique(group, return_inverse=True)
    groups, n, mean = len(names), len(differences), float(differences.mean())
    unit = f"{UNIT} from {'only ' if groups < FEW_GROUPS else ''}{groups} groups"
    if groups < MIN_ITEMS:
        return PairedTest(Effect(n, unit, mean), groups=groups)
    if np.ptp(differences) < PRECISION:
        certain = None if abs(mean) < PRECISION else 2.0 ** (1 - groups)
        return PairedTest(Effect(n, unit, mean, p=certain), groups=groups)
    sums = np.bincount(index, differences - mean)
    error = sqrt(groups / (groups - 1) * float((sums**2).sum())) / n
    if error < PRECISION:  # groups that are all alike tell of no spread between them
        return PairedTest(Effect(n, unit, mean), groups=groups)
    half = t_quantile((1 + LEVEL) / 2, groups - 1) * error
    p = t_p_value(mean / error, groups - 1)
    return PairedTest(Effect(n, unit, mean, (mean - half, mean + half), p), mean / error, groups)


def _items_needed(n: int, mean: float, interval: tuple[float, float]) -> int | None:
    """Return how many more items would shrink the interval to less than the mean, as √n does."""
    if abs(mean) < PRECISION:
        return None
    half = (interval[1] - interval[0]) / 2
    return max(0, ceil(n * (half / mean) ** 2) - n)


MIN_JUDGES = 3  # of two judges, either is as strict as the other is lenient


def leniencies(sheet: GradeSheet) -> dict[int, PairedTest]:
    """Return how much higher each judge grades the same work than the middle judge.

    A judge's own work is left out. D is the mean over a judge's grades for others of the grade
    minus the mean that the rest gave the same work. With judge effects c and complete grades of m
    judges, D_j − D_k is (c_j − c_k)·m/(m − 1). The middle is the judge, or the mean of the two,
    with the median D, so that one strict judge does not make all others look lenient. Empty for
    fewer than three judges.
    """
    deviations = _deviations(sheet)
    by_judge = {
        judge: _judge_deviations(sheet, deviations, judge) for judge in range(len(sheet.judges))
    }
    known = {judge: each for judge, each in by_judge.items() if not np.isnan(each).all()}
    if len(known) < MIN_JUDGES:
        return {}
    order = sorted(known, key=lambda judge: float(np.nanmean(known[judge])))
    middle = order[(len(order) - 1) // 2 : len(order) // 2 + 1]
    zero = sum((known[judge] for judge in middle), np.zeros(sheet.items)) / len(middle)
    scale = (len(known) - 1) / len(known)
    return {
        judge: paired_t_test((each - zero) * scale, sheet.group) for judge, each in known.items()
    }


def _deviations(sheet: GradeSheet) -> Floats:
    """Return each grade minus the mean that the rest gave the same work, NaN without a rest."""
    work = sheet.author * sheet.items + sheet.item
    _, work_index = np.unique(np.where(sheet.by_peers, work, -1), return_inverse=True)
    counted = sheet.by_peers.astype(float)
    totals = np.bincount(work_index, sheet.score * counted)
    rest = np.bincount(work_index, counted)[work_index] - 1
    none = np.full(len(sheet.score), np.nan)
    others: Floats = np.divide(totals[work_index] - sheet.score, rest, out=none, where=rest > 0)
    return np.where(sheet.by_peers, sheet.score - others, np.nan)


def _judge_deviations(sheet: GradeSheet, deviations: Floats, judge: int) -> Floats:
    return sheet.means((sheet.judge == judge) & ~np.isnan(deviations), deviations)


NO_TEST = PairedTest(Effect(0, "items"))
TESTS = ("over_received", "over_given", "preference", "leniency", "net")


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over items, with the sample standard deviation (n − 1); None for too few items."""

    n: int
    value: float | None = None
    sd: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One judge in one framing, over the items on which it graded its own work.

    `own` is S, what it gave itself; `received` is R, what its peers gave it; `given` is G, what it
    gave its peers. `over_received` is S − R, `over_given` is S − G. `preference` is the difference
    in differences (S − G) − (R − O), where O is what its peers gave each other: neither its
    strictness nor the quality of its work affects it. `leniency` is how much higher it grades the
    same work than the middle judge. `net` is S − G less what the truth explains of it: the slope of
    grades on truth, fitted on the work of peers, times how much better the truth says its own work
    is. Peers are the other judges. `at_best` is the share of its grades that are the best one,
    `own_at_best` that of its grades for its own work.
    """

    judge: str
    framing: Framing
    own: Mean
    received: Mean
    given: Mean
    over_received: PairedTest
    over_given: PairedTest
    preference: PairedTest
    leniency: PairedTest
    net: PairedTest = NO_TEST
    at_best: float | None = None
    own_at_best: float | None = None


@dataclass(frozen=True, slots=True)
class GradeReport:
    """What grades say of every judge, by name, the positive framing first.

    `absent` grades were asked for and not given; every p_holm is corrected over all tests of all
    rows. `groups` are those of the items, 0 if none are named.
    """

    rows: tuple[JudgeRow, ...]
    judges: tuple[str, ...]
    items: int
    given: int
    absent: int
    groups: int = 0


def build_grade_report(grades: Sequence[Grade]) -> GradeReport:
    """Return the report on grades; each judge, framing, author and item must occur only once."""
    judges = judge_names(grades)
    rows = [row for framing in Framing for row in _rows(grades, judges, framing)]
    absent = sum(grade.score is None for grade in grades)
    return GradeReport(
        rows=tuple(sorted(_correct_for_all_tests(rows), key=lambda row: row.judge)),
        judges=judges,
        items=len({grade.item for grade in grades}),
        given=len(grades) - absent,
        absent=absent,
        groups=len({grade.group for grade in grades if grade.group}),
    )


def _rows(grades: Sequence[Grade], judges: Sequence[str], framing: Framing) -> Iterator[JudgeRow]:
    asked = {grade.judge for grade in grades if grade.framing is framing}
    sheet = build_sheet(grades, judges, framing)
    lenient = leniencies(sheet)
    for number, judge in enumerate(judges):
        if judge in asked:
            yield _row(sheet, number, lenient.get(number, NO_TEST))


def _row(sheet: GradeSheet, judge: int, leniency: PairedTest) -> JudgeRow:
    own, given = sheet.own(judge), sheet.given(judge)
    graded = ~np.isnan(own)
    received, elsewhere = sheet.received(judge), sheet.among_peers(judge)
    slope = sheet.truth_slope
    scores = sheet.score[(sheet.judge == judge) & (sheet.author != NOT_A_JUDGE)]
    test = partial(paired_t_test, group=sheet.group)
    return JudgeRow(
        sheet.judges[judge],
        sheet.framing,
        _mean(own[graded]),
        _mean(received[graded]),
        _mean(given[graded]),
        over_received=test(own - received),
        over_given=test(own - given),
        preference=test((own - given) - (received - elsewhere)),
        leniency=leniency,
        net=NO_TEST if slope is None else test(own - given - slope * sheet.truth_lead(judge)),
        at_best=float((scores == BEST).mean()) if len(scores) else None,
        own_at_best=float((own[graded] == BEST).mean()) if graded.any() else None,
    )


def _mean(values: Floats) -> Mean:
    known = values[~np.isnan(values)]
    n = len(known)
    if not n:
        return Mean(0)
    return Mean(n, float(known.mean()), float(known.std(ddof=1)) if n > 1 else None)


def _correct_for_all_tests(rows: Sequence[JudgeRow]) -> Iterator[JudgeRow]:
    """Return the rows with every p corrected for all tests of all rows."""
    tests = [getattr(row, name) for row in rows for name in TESTS]
    p_holm_values = iter(holm([test.effect.p for test in tests]))
    for row in rows:
        yield replace(
            row, **{name: getattr(row, name).corrected(next(p_holm_values)) for name in TESTS}
        )


class FindingKind(StrEnum):
    """What is reported of a judge; the comparisons of the thesis follow, then missing data."""

    PREFERENCE = "preference"  # S − G against R − O
    NET = "net of truth"  # S − G against the objective score
    LENIENCY = "leniency"
    OVER_RECEIVED = "over_received"  # S − R, which also depends on strictness
    OVER_GIVEN = "over_given"  # S − G, which also depends on the quality of its work
    NO_OWN = "no own work"
    TOO_FEW = "too few items"
    FEW_GROUPS = "too few groups"
    ALIKE = "all alike"
    NO_PEERS = "no peers"


_MISSING_DATA = (
    FindingKind.NO_OWN,
    FindingKind.TOO_FEW,
    FindingKind.FEW_GROUPS,
    FindingKind.ALIKE,
    FindingKind.NO_PEERS,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding on a judge in one framing; `effect` is what it is based on."""

    kind: FindingKind
    row: JudgeRow
    effect: Effect

    @property
    def is_found(self) -> bool:
        """Whether this is a result and not a lack of data."""
        return self.kind not in _MISSING_DATA


def findings(report: GradeReport) -> tuple[Finding, ...]:
    """Return all significant effects by kind, then what lacks data."""
    all_findings = [finding for row in report.rows for finding in _row_findings(row)]
    order = [*FindingKind]
    return tuple(sorted(all_findings, key=lambda finding: order.index(finding.kind)))


def _row_findings(row: JudgeRow) -> Iterator[Finding]:
    tested = {
        FindingKind.PREFERENCE: row.preference.effect,
        FindingKind.NET: row.net.effect,
        FindingKind.LENIENCY: row.leniency.effect,
        FindingKind.OVER_RECEIVED: row.over_received.effect,
        FindingKind.OVER_GIVEN: row.over_given.effect,
    }
    for kind, effect in tested.items():
        if effect.is_found:
            yield Finding(kind, row, effect)
    if why := _missing_data(row):
        yield Finding(why, row, row.preference.effect)


def _missing_data(row: JudgeRow) -> FindingKind | None:
    """Return why the difference in differences cannot be tested, None if it can."""
    compared = row.preference.effect
    if not row.own.n:
        return FindingKind.NO_OWN
    if not compared.n:
        return FindingKind.NO_PEERS
    if compared.n < MIN_ITEMS:
        return FindingKind.TOO_FEW
    if 0 < row.preference.groups < MIN_ITEMS:
        return FindingKind.FEW_GROUPS
    return FindingKind.ALIKE if compared.p is None else None
