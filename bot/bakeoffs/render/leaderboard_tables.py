"""Leaderboard view model: what was counted, the chart's data, and the columns of its tables."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, TypeVar

from bot.chat import Part, Table
from bot.render.formatting import count_noun, duration, join_words, known_text, money
from council.bakeoffs.changes import Changes, TrendRun
from council.bakeoffs.council_value import CouncilValue
from council.bakeoffs.intervals import Interval
from council.bakeoffs.leaderboard import (
    Absences,
    AuthorLine,
    Board,
    HumanAgreement,
    JudgeBoard,
    RankedBy,
)

MAX_RUNS = 24  # the newest runs; more would be too dense to read
_VERSION_LENGTH = 8


# --- Numbers


def percent(share: float) -> str:
    """Return a share as a whole percentage: "62 %"."""
    return f"{share * 100:.0f} %"


def signed_points(share: float) -> str:
    """Return a difference of shares in points: "+4", "−6"."""
    return f"{share * 100:+.0f}".replace("-", "−")


def lead_text(lead: float | None, interval: Interval | None) -> str:
    """Return how much more often one is right than another: "+4 (−6 to +14) points"."""
    if lead is None:
        return ""
    ends = " to ".join(map(signed_points, interval or ()))
    return f"{signed_points(lead)}{f' ({ends})' if ends else ''} points"


# --- Coverage


@dataclass(frozen=True, slots=True)
class Coverage:
    """The rounds that a leaderboard counts.

    `suites` holds (name, version, rounds), with ("", "") for rounds of no suite; `left_out` holds
    (version, rounds) for other versions of the suite.
    """

    rounds: int = 0
    suite: str = ""
    version: str = ""
    panel: str = ""
    category: str = ""
    first: datetime | None = None
    last: datetime | None = None
    panels: tuple[str, ...] = ()
    suites: tuple[tuple[str, str, int], ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()
    since: datetime | None = None
    before: datetime | None = None

    @property
    def filters(self) -> list[str]:
        """The filters in words, such as "suite sql"."""
        named = ((kind, getattr(self, kind)) for kind in ("suite", "panel", "category"))
        return [f"{kind} {name}" for kind, name in named if name]


def coverage_line(coverage: Coverage) -> str:
    """Return what is counted and what is not."""
    line = f"{_counted_text(coverage)}{_window_text(coverage)}."
    if not coverage.left_out:
        return line
    number = sum(rounds for _, rounds in coverage.left_out)
    versions = count_noun(len(coverage.left_out), "other version")
    is_are = "is" if number == 1 else "are"
    return f"{line} {count_noun(number, 'round')} of {versions} {is_are} not included."


def no_rounds_line(coverage: Coverage) -> str:
    """Return that there is nothing to count yet, and what to do."""
    if coverage.left_out:
        versions = join_words(version[:_VERSION_LENGTH] for version, _ in coverage.left_out)
        return (
            f"No rounds yet for suite {coverage.suite} in version {coverage.version}; there are "
            f"rounds of {versions}."
        )
    filters = coverage.filters
    if filters != [f"suite {coverage.suite}"] and (filters or coverage.since or coverage.before):
        what = f" of {join_words(filters)}" if filters else ""
        when = " in this period" if coverage.since or coverage.before else ""
        return f"No finished rounds{what}{when}. Check the spelling, or ask for less."
    if coverage.suite:
        return (
            f"No rounds yet for suite {coverage.suite}. Run it with `/council bakeoff "
            f"{coverage.suite}`."
        )
    return "No rounds yet. Ask a question, or run a suite with `/council bakeoff SUITE`."


def _counted_text(coverage: Coverage) -> str:
    text = count_noun(coverage.rounds, "round")
    if coverage.suite:
        text += f" of suite {coverage.suite}, version {coverage.version[:_VERSION_LENGTH]}"
    elif suites := [*_suite_counts(coverage)]:
        text += f": {join_words(suites)}"
    if coverage.category:
        text += f", category {coverage.category}"
    if coverage.panel:
        return f"{text}, panel {coverage.panel}"
    if len(coverage.panels) > 1:
        return f"{text}, panels {join_words(coverage.panels)}"
    return f"{text}, panel {coverage.panels[0]}" if coverage.panels else text


def _suite_counts(coverage: Coverage) -> Iterator[str]:
    rounds, versions = Counter[str](), Counter[str]()
    for name, _, count in coverage.suites:
        rounds[name] += count
        versions[name] += 1
    for name, count in rounds.items():
        if name:
            mixed = f" in {versions[name]} versions" if versions[name] > 1 else ""
            yield f"{count} of suite {name}{mixed}"
    if rounds[""] and len(rounds) > 1:
        yield f"{rounds['']} asked by people"


def _window_text(coverage: Coverage) -> str:
    if not coverage.first or not coverage.last:
        return ""
    is_one_day = coverage.last - coverage.first < timedelta(days=1)
    first = "" if is_one_day else f"{coverage.first:%Y-%m-%d} to "
    return f", {first}{coverage.last:%Y-%m-%d}"


# --- Leaderboard


@dataclass(frozen=True, slots=True)
class Addition:
    """An unofficial leaderboard: what people see after the official one, and its JSON document."""

    parts: tuple[Part, ...]
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Everything shown about many rounds; `names` are display names by seat key.

    `changes` compares the newest run with earlier ones, if there are any. `weighted` is the board
    by weighted judges, if requested; `people` is how far judges agree with people's choices.
    `biased` are the judges that the bias report of these rounds finds to be position-biased.
    `absences` are the answers and rankings that are missing.
    """

    coverage: Coverage
    board: Board
    judges: JudgeBoard
    worth: CouncilValue = field(default_factory=CouncilValue)
    runs: tuple[TrendRun, ...] = ()
    changes: Changes | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    weighted: Addition | None = None
    people: Mapping[str, HumanAgreement] = field(default_factory=dict)
    biased: frozenset[str] = frozenset()
    absences: Absences = field(default_factory=Absences)

    @property
    def title(self) -> str:
        """Return the title."""
        return f"Leaderboard of {self.coverage.suite}" if self.coverage.suite else "Leaderboard"

    def name(self, key: str) -> str:
        """Return the name of a seat, or its key if no panel has it any more."""
        return self.names.get(key, key)

    @property
    def trend(self) -> tuple[TrendRun, ...]:
        """Return the newest runs, at most MAX_RUNS, oldest first; nothing for a single run."""
        return self.runs[-MAX_RUNS:] if len(self.runs) > 1 else ()


def place_text(line: AuthorLine) -> str:
    """Return a member's place: "3", "=1" if it is shared, "–" if it has none."""
    return "–" if line.place is None else f"{'=' if line.is_tied else ''}{line.place}"


def tie_note(rows: Iterable[AuthorLine]) -> str:
    """Return what the mark of the first shared place means; "" if no place is shared."""
    tied = next((line for line in rows if line.is_tied), None)
    return f"“{place_text(tied)}”: the difference could be chance." if tied else ""


def grade_text(board: Board, line: AuthorLine) -> str:
    """Return how right a member is: "46 of 48", or its mean grade; "" if nothing was graded."""
    if line.grade is None:
        return ""
    return signed_number(line.grade)[1:] if board.has_mean_grades else right_text(line)


def right_text(line: AuthorLine) -> str:
    """Return how many answers of a member are right: "46 of 48"; "" if none was graded."""
    return f"{line.right} of {line.graded}" if line.graded else ""


# --- Columns

LineT = TypeVar("LineT")


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `value` is a line's sort key, best first and None last.

    `shown` returns the cell's text, "" for a line without a value.
    """

    key: str
    title: str
    value: Callable[[Any], Any]
    shown: Callable[[Any], str]
    is_low_best: bool = False
    is_text: bool = False


def _number_column(
    title: str,
    attribute: str,
    format_number: Callable[[Any], str] = str,
    *,
    key: str = "",
    is_low_best: bool = False,
) -> Column:
    """Return a column of a number that may be unknown; its key is the attribute unless given."""
    value = attrgetter(attribute)

    def cell_text(line: object) -> str:
        return known_text(value(line), format_number)

    return Column(key or attribute, title, value, cell_text, is_low_best)


def _name_column(key: str, title: str, names: Mapping[str, str]) -> Column:
    seat = attrgetter(key)

    def name(line: object) -> str:
        return names.get(seat(line), seat(line))

    return Column(key, title, lambda line: name(line).casefold(), name, True, True)


def interval_text(interval: Interval | None) -> str:
    """Return an interval of shares: "55–69 %"."""
    return f"{interval[0] * 100:.0f}–{percent(interval[1])}" if interval else ""


def signed_number(number: float) -> str:
    """Return a number with its sign: "+.42", "−.05"; zero after rounding has a plus."""
    return f"{round(number, 2) + 0.0:+.2f}".replace("-", "−").replace("0.", ".", 1)


def _signed_interval(interval: Interval | None) -> str:
    return " to ".join(map(signed_number, interval or ()))


def author_columns(leaderboard: Leaderboard) -> tuple[Column, ...]:
    """Return the columns of members as authors."""
    *summary, price = author_summary_columns(leaderboard)
    return (
        *summary,
        _number_column("Rounds", "rounds"),
        _number_column("If all met", "strength", percent),
        Column(
            "strength_ci",
            "95 % if met",
            attrgetter("strength"),
            lambda line: interval_text(line.strength_ci),
        ),
        _number_column("First votes", "first_votes"),
        price,
        _number_column("Time", "seconds", duration, is_low_best=True),
        _number_column("Tokens", "tokens_out", "{:,.0f}".format, is_low_best=True),
        _number_column("No answer", "absences", is_low_best=True),
        Column(
            "named_itself",
            "Named itself",
            attrgetter("named_itself"),
            lambda line: f"{line.named_itself} of {line.answers}" if line.named_itself else "",
            is_low_best=True,
        ),
    )


def author_summary_columns(leaderboard: Leaderboard) -> tuple[Column, ...]:
    """Return the six columns that come first; what the board is ranked by has its interval."""
    board = leaderboard.board
    points = _number_column("Points", "share", percent)
    points_ci = Column(
        "ci",
        "95 % interval",
        lambda line: line.ci[0],
        lambda line: "" if line.share is None else interval_text(line.ci),
    )
    title = "Mean grade" if board.has_mean_grades else "Right"
    right = Column("accuracy", title, attrgetter("grade"), lambda line: grade_text(board, line))
    right_ci = Column(
        "grade_ci",
        "95 % interval",
        attrgetter("grade"),
        lambda line: interval_text(line.grade_ci),
    )
    by_grades = board.ranked_by is RankedBy.GRADES
    return (
        Column("place", "", attrgetter("place"), place_text, True),
        _name_column("member", "Model", leaderboard.names),
        *((right, right_ci, points) if by_grades else (points, points_ci, right)),
        _number_column("Price", "cost_usd", money, is_low_best=True),
    )


def judge_columns(leaderboard: Leaderboard) -> tuple[Column, ...]:
    """Return the columns of seats as judges."""

    def with_people(line: Any, name: str) -> Any:  # noqa: ANN401
        return getattr(leaderboard.people.get(line.judge), name, None)

    def people_text(line: Any) -> str:  # noqa: ANN401
        ballots = with_people(line, "ballots")
        return f"{with_people(line, 'same')} of {ballots}" if ballots else ""

    def kappa_text(line: Any) -> str:  # noqa: ANN401
        kappa, interval = with_people(line, "kappa"), with_people(line, "kappa_ci")
        known = [] if kappa is None else [signed_number(kappa), _signed_interval(interval)]
        return ", ".join(filter(None, known))

    def position_text(line: Any) -> str:  # noqa: ANN401
        flag = " biased" if line.judge in leaderboard.biased else ""
        return "" if line.position is None else signed_number(line.position) + flag

    return (
        _name_column("judge", "Judge", leaderboard.names),
        _number_column("Agreement", "agreement", signed_number),
        Column(
            "agreement_ci",
            "95 % interval",
            attrgetter("agreement"),
            lambda line: _signed_interval(line.agreement_ci),
        ),
        _number_column("Invalid", "spoiled_rate", percent, key="spoiled", is_low_best=True),
        Column(
            "position",
            "Shown first",
            lambda line: None if line.position is None else abs(line.position),
            position_text,
            is_low_best=True,
        ),
        Column(
            "consistency",
            "Consistency",
            attrgetter("consistency"),
            lambda line: f"{line.kept} of {line.pairs}" if line.pairs else "",
        ),
        Column("people", "With people", lambda line: with_people(line, "share"), people_text),
        Column(
            "people_kappa", "κ with people", lambda line: with_people(line, "kappa"), kappa_text
        ),
        _number_column("Price", "cost_usd", money, is_low_best=True),
        _number_column("Rounds", "rounds"),
    )


def nonempty_columns(lines: Sequence[object], columns: Iterable[Column]) -> list[Column]:
    """Return the columns that are not empty."""
    return [column for column in columns if any(column.shown(line) for line in lines)]


def sort_lines(lines: Iterable[LineT], column: Column, *, turned: bool = False) -> list[LineT]:
    """Return lines sorted best first, or worst first if `turned`; unknown values last."""
    items = [*lines]
    with_value = [line for line in items if column.value(line) is not None]
    return [
        *sorted(with_value, key=column.value, reverse=turned == column.is_low_best),
        *(line for line in items if column.value(line) is None),
    ]


def author_table(leaderboard: Leaderboard, max_rows: int | None = None) -> Table:
    """Return members as authors: all columns, or the short ones of the first few."""
    columns = author_summary_columns if max_rows is not None else author_columns
    return _render_table(leaderboard.board.rows[:max_rows], columns(leaderboard))


def judge_table(leaderboard: Leaderboard) -> Table:
    """Return seats as judges."""
    return _render_table(leaderboard.judges.rows, judge_columns(leaderboard))


def _render_table(lines: Sequence[object], columns: Sequence[Column]) -> Table:
    shown = nonempty_columns(lines, columns)
    rows = tuple(tuple(column.shown(line) for column in shown) for line in lines)
    numeric = frozenset(index for index, column in enumerate(shown) if not column.is_text)
    return Table(tuple(column.title for column in shown), rows, numeric)
