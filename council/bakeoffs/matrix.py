"""Matrix of a bake-off, from records without texts: each model on each question, and two runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from council.bakeoffs.changes import Changes
from council.bakeoffs.models import Bakeoff, SuiteQuestion, split_round_id
from council.bakeoffs.record_arrays import Columns, record_columns
from council.bakeoffs.records import AUTHOR_FIELDS, PackedRecord
from council.ports import RoundSummary
from council.rubric_grader import GraderAgreement
from council.tally.verdict import Strength

_DISPUTED = frozenset({Strength.TIED, Strength.NO_CONSENSUS})
_CELL_FIELDS = ("place", "share", "correct", "cost_usd", "seconds", "absent")
_WHOLE_FIELDS = ("winner", "council_correct", "cost_usd", "seconds")


@dataclass(frozen=True, slots=True)
class Cell:
    """How a member fared on one question; None means unknown or not applicable."""

    member: str
    place: int | None = None
    share: float | None = None
    grade: bool | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    absent: bool = False
    is_ungraded: bool = False  # its question has a grader, which gave it no grade


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One question; `round_id` is "" until it was asked.

    `winner` is the member in first place or, of several that share it, the one whose answer stands
    in for the council's.
    `cells` are by member. Without `has_council` no chairman was asked. `cost_usd` and `seconds` are
    those of the whole round, `tau_b` is the judges' mean agreement.
    """

    number: int
    question: SuiteQuestion
    round_id: str = ""
    failure: str = ""
    strength: str = ""
    cells: Mapping[str, Cell] = field(default_factory=dict)
    winner: str = ""
    council_grade: bool | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    tau_b: float | None = None
    has_council: bool = True

    @property
    def is_over(self) -> bool:
        """Whether it was asked, and answered or failed."""
        return bool(self.cells or self.failure)

    @property
    def is_disputed(self) -> bool:
        """Whether the judges named no single winner."""
        return self.strength in _DISPUTED and self.has_council

    def grade_of(self, cell: Cell) -> bool | None:
        """Return the grade of an answer; no answer to a graded question is wrong."""
        return False if cell.absent and self.question.is_graded else cell.grade

    @property
    def is_tied(self) -> bool:
        """Whether several members share the first place."""
        return sum(cell.place == 1 for cell in self.cells.values()) > 1

    @property
    def sole_winner(self) -> str:
        """The member alone in first place; "" if there is none."""
        return "" if self.is_tied else self.winner

    @property
    def winner_grade(self) -> bool | None:
        """The grade of the winner's answer."""
        return self.cells[self.winner].grade if self.winner else None


@dataclass(frozen=True, slots=True)
class Matrix:
    """All questions of a suite in their order; `members` are in panel order, stand-ins last."""

    members: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    method: str = ""  # of questions that name none

    @property
    def answered(self) -> tuple[str, ...]:
        """The members that answered at least one question."""
        cells = [cell for row in self.rows for cell in row.cells.values()]
        answered = {cell.member for cell in cells if not cell.absent}
        return tuple(member for member in self.members if member in answered)


def build_matrix(
    bakeoff: Bakeoff,
    rounds: Iterable[RoundSummary],
    records: Sequence[PackedRecord],
    failures: Mapping[int, str],
) -> Matrix:
    """Return the matrix; a round without a record, such as one that is running, has no cells.

    `failures` say why questions failed, by number, those without a round too.
    """
    columns = record_columns(records)
    panel = [seat.key for seat in bakeoff.panel.members]
    members = tuple(dict.fromkeys((*panel, *columns.members)))
    started = {split_round_id(one.id)[1]: one for one in rounds}
    results = _results(columns)
    rows = []
    for number, question in enumerate(bakeoff.suite.questions, start=1):
        row = results.get(number, MatrixRow(number, question))
        failure = failures.get(number, "")
        if one := started.get(number):
            failure = failure or one.failure or ""
            row = replace(row, round_id=one.id, strength=one.strength)
        if question.reference:
            cells = {
                key: replace(cell, is_ungraded=cell.grade is None and not cell.absent)
                for key, cell in row.cells.items()
            }
            row = replace(row, cells=cells)
        has_council = bakeoff.panel.trial is None
        rows.append(replace(row, question=question, failure=failure, has_council=has_council))
    return Matrix(members, tuple(rows), bakeoff.panel.terms.method)


def _results(columns: Columns) -> Mapping[int, MatrixRow]:
    """Return what records say about each question, by its number."""
    wanted = [AUTHOR_FIELDS.index(name) for name in _CELL_FIELDS]
    authored = columns.authored[:, :, wanted].tolist()
    wholes = zip(*(columns.round(name).tolist() for name in _WHOLE_FIELDS), strict=True)
    results: dict[int, MatrixRow] = {}
    agreed = columns.judge("tau_b").tolist()
    together = zip(columns.rows, authored, wholes, agreed, strict=True)
    for record, answers, whole, taus in together:
        winner, council, cost, seconds = map(_known, whole)
        seated = zip(columns.members, answers, strict=True)
        cells = {name: _cell(name, values) for name, values in seated if values[5] == values[5]}
        results[record.number] = MatrixRow(
            record.number,
            SuiteQuestion(""),
            cells=cells,
            winner="" if winner is None else columns.members[int(winner)],
            council_grade=None if council is None else bool(council),
            cost_usd=cost,
            seconds=seconds,
            tau_b=_mean(map(_known, taus)),
        )
    return results


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


@dataclass(frozen=True, slots=True)
class MethodLine:
    """How one method of a bake-off fared; unknown means are None.

    The council's answer was right on so many of the `graded` questions, the winning answer on so
    many of the `winners_graded`; a method that ranks nothing has no winner. Agreement, cost and
    time are means a round. Rounds that failed count only as `failed`.
    """

    method: str
    over: int
    failed: int
    graded: int
    winners_graded: int
    winner_right: int | None
    council_right: int
    tau_b: float | None
    cost_usd: float | None
    seconds: float | None


def compare_methods(matrix: Matrix) -> tuple[MethodLine, ...]:
    """Return a line for each method of a bake-off, in the order they were named."""
    methods = dict.fromkeys(row.question.method for row in matrix.rows if row.question.method)
    return tuple(
        _method_line(method, [x for x in matrix.rows if x.question.method == method and x.is_over])
        for method in methods
    )


def _method_line(method: str, over: Sequence[MatrixRow]) -> MethodLine:
    rows = [row for row in over if not row.failure]
    graded = [row for row in rows if row.council_grade is not None]
    winners = [row.winner_grade for row in rows if row.strength and row.winner_grade is not None]
    is_ranked = any(row.winner for row in rows)  # a method that ranks nothing has no winners
    return MethodLine(
        method,
        over=len(over),
        failed=len(over) - len(rows),
        graded=len(graded),
        winners_graded=len(winners),
        winner_right=sum(winners) if is_ranked else None,
        council_right=sum(bool(row.council_grade) for row in graded),
        tau_b=_mean(row.tau_b for row in rows),
        cost_usd=_mean(row.cost_usd for row in rows),
        seconds=_mean(row.seconds for row in rows),
    )


def _cell(member: str, values: Sequence[float]) -> Cell:
    place, share, grade, cost, seconds, absent = map(_known, values)
    return Cell(
        member,
        None if place is None else int(place),
        share,
        None if grade is None else bool(grade),
        cost,
        seconds,
        bool(absent),
    )


def _known(value: float) -> float | None:
    """Return a single-precision number without its invented digits; None for NaN."""
    return None if value != value else float(f"{value:.7g}")  # noqa: PLR0124 - NaN differs from itself


# --- Two runs


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run next to an earlier one, matched by the words of their questions.

    `before` holds the earlier row of each question that both asked, by its number now. `dropped`
    are questions that only the earlier run asked; `left` and `joined` are members of only one,
    `only_before` and `only_now` those that answered only in the earlier run, and only in this one.
    """

    before: Mapping[int, MatrixRow]
    dropped: tuple[MatrixRow, ...]
    left: tuple[str, ...]
    joined: tuple[str, ...]
    only_before: tuple[str, ...] = ()
    only_now: tuple[str, ...] = ()


def compare_runs(now: Matrix, before: Matrix) -> Comparison:
    """Match two runs, whose suites and panels may differ; equal questions match in their order.

    If one of them has several methods, a question matches under the same method alone.
    """
    is_single = not any(row.question.method for row in (*now.rows, *before.rows))
    earlier = dict(_keyed_rows(before, is_single=is_single))
    rows = _keyed_rows(now, is_single=is_single)
    matched = {row.number: earlier.pop(key) for key, row in rows if key in earlier}
    return Comparison(
        matched,
        tuple(earlier.values()),
        tuple(member for member in before.members if member not in now.members),
        tuple(member for member in now.members if member not in before.members),
        tuple(member for member in before.answered if member not in now.answered),
        tuple(member for member in now.answered if member not in before.answered),
    )


def _keyed_rows(
    matrix: Matrix, *, is_single: bool
) -> Iterator[tuple[tuple[str, str, str, int], MatrixRow]]:
    """Yield each row with its question's text, context and method, and how often it came before."""
    counts = Counter[tuple[str, str, str]]()
    for row in matrix.rows:
        method = "" if is_single else row.question.method or matrix.method
        words = (row.question.text, row.question.context, method)
        yield (*words, counts[words]), row
        counts[words] += 1


def has_changed(now: MatrixRow, before: MatrixRow) -> bool:
    """Return whether a grade or the winner differs, or only one of both failed."""
    if (now.sole_winner, now.council_grade) != (before.sole_winner, before.council_grade):
        return True
    return bool(now.failure) != bool(before.failure) or bool([*changed_grades(now, before)])


def changed_grades(now: MatrixRow, before: MatrixRow) -> Iterator[bool]:
    """Yield the new grade of each member whose answer both graded, and differently.

    On a graded question, no answer is a wrong one.
    """
    for member, cell in now.cells.items():
        if past := before.cells.get(member):
            grades = now.grade_of(cell), before.grade_of(past)
            if None not in grades and grades[0] is not grades[1]:
                yield bool(grades[0])


FILTERS = ("failed", "disputed", "changed")


@dataclass(frozen=True, slots=True)
class RunMatrix:
    """A bake-off's matrix; `earlier`, `against` and `changes` if it is compared with another run.

    `changes` are those beyond noise over the questions of both; None if there are none to compare.
    `agreement` is that of the outside judges that graded its answers.
    """

    bakeoff: Bakeoff
    matrix: Matrix
    against: Bakeoff | None = None
    earlier: Comparison | None = None
    changes: Changes | None = None
    agreement: GraderAgreement | None = None

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of its questions, sorted."""
        return tuple(sorted({row.question.category for row in self.matrix.rows} - {""}))

    @property
    def pairs(self) -> list[tuple[MatrixRow, MatrixRow]]:
        """The rows of the questions that both runs finished, each with its earlier row."""
        before = self.earlier.before if self.earlier else {}
        pairs = ((row, before[row.number]) for row in self.matrix.rows if row.number in before)
        return [(row, past) for row, past in pairs if row.is_over and past.is_over]

    @property
    def changed(self) -> frozenset[int]:
        """The numbers of the questions whose result changed since the other run."""
        return frozenset(row.number for row, past in self.pairs if has_changed(row, past))


def select_rows(run: RunMatrix, show: str = "", category: str = "") -> list[MatrixRow]:
    """Return the rows of one of FILTERS and of a category; "" is all."""
    rows = [row for row in run.matrix.rows if category in {"", row.question.category}]
    match show:
        case "failed":
            return [row for row in rows if row.failure]
        case "disputed":
            return [row for row in rows if row.is_disputed]
        case "changed":
            changed = run.changed
            return [row for row in rows if row.number in changed]
    return rows
