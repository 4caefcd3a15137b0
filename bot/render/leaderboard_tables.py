"""Leaderboard view model: what was counted, the chart's data, and the columns of its tables."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial
from math import ceil, floor
from operator import attrgetter
from typing import Any, Generic, TypeVar

from bot.chat import Part, Table
from bot.render.formatting import count_noun, duration, join_words, money
from council.bakeoffs.changes import Changes, TrendRun
from council.bakeoffs.council_value import CouncilValue
from council.bakeoffs.intervals import Interval
from council.bakeoffs.leaderboard import (
    AuthorLine,
    Board,
    HumanAgreement,
    JudgeBoard,
    JudgeLine,
)

MAX_RUNS = 24  # the newest runs; more would be too dense to read
_VERSION_LENGTH = 8


# --- Chart data


@dataclass(frozen=True, slots=True)
class Spread:
    """A share with its interval, 0 to 1; both ends are None without an interval."""

    share: float
    low: float | None = None
    high: float | None = None

    @property
    def reach(self) -> tuple[float, float]:
        """Return the lowest and highest value."""
        low = self.share if self.low is None else self.low
        high = self.share if self.high is None else self.high
        return low, high


@dataclass(frozen=True, slots=True)
class Bar:
    """One member: its place, its share, and its share in each run, None where it has none."""

    name: str
    place: int | None
    spread: Spread | None
    runs: tuple[Spread | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Members best first; `days` are the dates of the runs, oldest first.

    If panels were mixed, spreads are expected shares if all members had met, not observed ones.
    """

    bars: tuple[Bar, ...]
    days: tuple[date, ...] = ()
    is_mixed: bool = False

    @property
    def has_trend(self) -> bool:
        """Return whether there is more than one run to show."""
        return len(self.days) > 1

    def newest(self) -> "Chart":
        """Return the chart with at most MAX_RUNS runs, the newest."""
        bars = (Bar(x.name, x.place, x.spread, x.runs[-MAX_RUNS:]) for x in self.bars)
        return Chart(tuple(bars), self.days[-MAX_RUNS:], self.is_mixed)


def axis_range(spreads: Iterable[Spread | None]) -> tuple[float, float]:
    """Return a range in tenths around all spreads and one half, at least 0.2 wide."""
    reaches = [spread.reach for spread in spreads if spread]
    low = min([0.5, *(low for low, _ in reaches)])
    high = max([0.5, *(high for _, high in reaches)])
    tenths = max(0, floor(low * 10 + 1e-9)), min(10, ceil(high * 10 - 1e-9))
    bottom, top = min(tenths[0], 4), max(tenths[1], 6)
    return bottom / 10, top / 10


def mean_share(runs: Sequence[Spread | None]) -> float | None:
    """Return the mean share over runs; None without runs."""
    shares = [run.share for run in runs if run]
    return sum(shares) / len(shares) if shares else None


def trend_swing(bars: Iterable[Bar]) -> float:
    """Return the largest distance of a run's interval from its member's mean, in steps of 0.05."""
    swings = [0.05]
    for bar in bars:
        mean = mean_share(bar.runs)
        swings += [abs(end - (mean or 0)) for run in bar.runs if run for end in run.reach]
    return ceil(max(swings) * 20 - 1e-9) / 20


def axis_ticks(low: float, high: float) -> Iterator[float]:
    """Yield at most six round shares from low to high, including one half."""
    step = 0.1 if high - low <= 0.5 + 1e-9 else 0.25
    first = ceil((low - 0.5) / step - 1e-9)
    last = floor((high - 0.5) / step + 1e-9)
    yield from (round(0.5 + number * step, 4) for number in range(first, last + 1))


def describe_chart(chart: Chart) -> str:
    """Return what the chart shows in words, as its alternative text."""
    bars = [bar for bar in chart.bars if bar.spread]
    shares = "; ".join(_describe_bar(bar) for bar in bars)
    runs = f", over all and in each of {len(chart.days)} runs" if chart.has_trend else ""
    if not bars:
        return "No member has a share yet."
    return f"{chart_heading(chart)}{runs}. {shares}."


def chart_heading(chart: Chart) -> str:
    """Return what the bars show."""
    measure = "Rivals beaten, if all met" if chart.is_mixed else "Share of rivals beaten"
    return f"{measure}, 95 % interval"


def _describe_bar(bar: Bar) -> str:
    spread = bar.spread or Spread(0.5)
    low, high = spread.reach
    interval = f", {percent(low)} to {percent(high)}" if high > low else ""
    place = f"place {bar.place}, " if bar.place else ""
    return f"{bar.name}: {place}{percent(spread.share)}{interval}"


def percent(share: float) -> str:
    """Return a share as a whole percentage: "62 %"."""
    return f"{share * 100:.0f} %"


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


def coverage_line(coverage: Coverage) -> str:
    """Return what is counted and what is not."""
    return " ".join(
        [f"{_counted_text(coverage)}{_window_text(coverage)}.", *_left_out_lines(coverage)]
    )


def no_rounds_line(coverage: Coverage) -> str:
    """Return that there is nothing to count yet, and what to do."""
    is_filtered = any((coverage.panel, coverage.category, coverage.since, coverage.before))
    if coverage.left_out:
        versions = join_words(version[:_VERSION_LENGTH] for version, _ in coverage.left_out)
        return (
            f"No round of suite {coverage.suite} in version {coverage.version} has been held; "
            f"there are rounds of {versions}."
        )
    if is_filtered:
        return "No round fits: widen the window, or leave out the panel or the category."
    if coverage.suite:
        return (
            f"No round of suite {coverage.suite} has been held yet: "
            f"`/council bakeoff {coverage.suite}` holds it."
        )
    return "No round has been held yet: ask a question, or hold a suite with `/council bakeoff`."


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
    """Yield the rounds of each suite, and of none, in a leaderboard over all rounds."""
    rounds, versions = Counter[str](), Counter[str]()
    for name, _, count in coverage.suites:
        rounds[name] += count
        versions[name] += 1
    for name, count in rounds.items():
        if name:
            mixed = f" in {versions[name]} versions" if versions[name] > 1 else ""
            yield f"{count} of suite {name}{mixed}"
    if rounds[""] and len(rounds) > 1:
        yield f"{rounds['']} that people asked"


def _window_text(coverage: Coverage) -> str:
    if not coverage.first or not coverage.last:
        return ""
    if coverage.last - coverage.first < timedelta(days=1):
        return f", {_day(coverage.last)}"
    return f", {_day(coverage.first)} to {_day(coverage.last)}"


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def _left_out_lines(coverage: Coverage) -> Iterator[str]:
    if coverage.left_out:
        number = sum(rounds for _, rounds in coverage.left_out)
        versions = count_noun(len(coverage.left_out), "other version")
        is_are = "is" if number == 1 else "are"
        yield f"{count_noun(number, 'round')} of {versions} {is_are} left out."


# --- Leaderboard

_NOTHING_GRADED = CouncilValue()


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
    """

    coverage: Coverage
    board: Board
    judges: JudgeBoard
    worth: CouncilValue = _NOTHING_GRADED
    runs: tuple[TrendRun, ...] = ()
    changes: Changes | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    weighted: Addition | None = None
    people: Mapping[str, HumanAgreement] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Return the title."""
        return f"Leaderboard of {self.coverage.suite}" if self.coverage.suite else "Leaderboard"

    def name(self, key: str) -> str:
        """Return the name of a seat, or its key if no panel has it any more."""
        return self.names.get(key, key)

    @property
    def chart(self) -> Chart:
        """Return the data of its chart."""
        runs = [{point.member: point for point in run.points} for run in self.runs]
        return Chart(
            tuple(
                Bar(
                    self.name(line.member),
                    line.place,
                    _standing_spread(line),
                    tuple(
                        Spread(run[line.member].share, *run[line.member].ci)
                        if line.member in run
                        else None
                        for run in runs
                    ),
                )
                for line in self.board.rows
            ),
            tuple(run.at.date() for run in self.runs),
            is_mixed=self.board.is_mixed,
        )


def _standing_spread(line: AuthorLine) -> Spread | None:
    """Return a member's strength if panels were mixed, else its share."""
    if line.strength is not None:
        return Spread(line.strength, *(line.strength_ci or (None, None)))
    return None if line.share is None else Spread(line.share, *line.ci)


# --- Columns

LineT = TypeVar("LineT")


@dataclass(frozen=True, slots=True)
class Column(Generic[LineT]):
    """One column; `value` is its sort key, best first and None last.

    `shown` returns the cell's text, "" for a line without a value.
    """

    key: str
    title: str
    value: Callable[[LineT], Any]
    shown: Callable[[LineT], str]
    is_low_best: bool = False
    is_text: bool = False


def _number_column(
    key: str,
    title: str,
    attribute: str,
    format_number: Callable[[Any], str] = str,
    *,
    is_low_best: bool = False,
) -> Column[Any]:
    """Return a column of a number that may be unknown."""
    value = attrgetter(attribute)

    def cell_text(line: object) -> str:
        number = value(line)
        return "" if number is None else format_number(number)

    return Column(key, title, value, cell_text, is_low_best)


def _name_column(key: str, title: str, attribute: str, names: Mapping[str, str]) -> Column[Any]:
    seat = attrgetter(attribute)

    def name(line: object) -> str:
        return names.get(seat(line), seat(line))

    return Column(key, title, lambda line: name(line).casefold(), name, True, True)


def interval_text(interval: Interval | None) -> str:
    """Return an interval of shares: "55–69 %"."""
    return f"{interval[0] * 100:.0f}–{percent(interval[1])}" if interval else ""


def signed_number(number: float) -> str:
    """Return a number with its sign: "+.42", "−.05"; zero after rounding has a plus."""
    return f"{round(number, 2) + 0.0:+.2f}".replace("-", "−").replace("0.", ".", 1)


def _spoiled_text(rate: float) -> str:
    return f"{percent(rate)} spoiled"


def _accuracy_text(line: AuthorLine) -> str:
    return "" if line.accuracy is None else f"{percent(line.accuracy)} right"


def _named_itself_text(line: AuthorLine) -> str:
    return f"{line.named_itself} of {line.answers}" if line.named_itself else ""


def _place_text(line: AuthorLine) -> str:
    return str(line.place or "–")


def _share_interval_text(line: AuthorLine) -> str:
    return "" if line.share is None else interval_text(line.ci)


def _position_text(line: JudgeLine) -> str:
    if line.position is None:
        return ""
    return signed_number(line.position) + (" biased" if line.is_position_biased else "")


def _orders_kept_text(line: JudgeLine) -> str:
    return f"{line.kept} of {line.pairs}" if line.pairs else ""


def author_columns(names: Mapping[str, str]) -> tuple[Column[AuthorLine], ...]:
    """Return the columns of members as authors."""
    return (
        *_short_columns(names),
        _number_column("strength", "If all met", "strength", percent),
        Column("strength_ci", "Its interval", attrgetter("strength"), _strength_interval_text),
        _number_column("first_votes", "First votes", "first_votes"),
        Column("accuracy", "Right", attrgetter("accuracy"), _accuracy_text),
        _number_column("cost_usd", "Price", "cost_usd", money, is_low_best=True),
        _number_column("seconds", "Time", "seconds", duration, is_low_best=True),
        _number_column("tokens_out", "Tokens", "tokens_out", "{:,.0f}".format, is_low_best=True),
        _number_column("absences", "Absences", "absences", is_low_best=True),
        Column(
            "named_itself", "Named itself", attrgetter("named_itself"), _named_itself_text, True
        ),
    )


def _short_columns(names: Mapping[str, str]) -> tuple[Column[AuthorLine], ...]:
    """Return the columns that fit a short list."""
    return (
        Column("place", "", attrgetter("place"), _place_text, True),
        _name_column("member", "Member", "member", names),
        _number_column("share", "Share", "share", percent),
        Column("ci", "95 % interval", lambda line: line.ci[0], _share_interval_text),
        _number_column("rounds", "Rounds", "rounds"),
    )


def _strength_interval_text(line: AuthorLine) -> str:
    return interval_text(line.strength_ci)


def judge_columns(
    names: Mapping[str, str], people: Mapping[str, HumanAgreement] | None = None
) -> tuple[Column[JudgeLine], ...]:
    """Return the columns of seats as judges; `people` is how far each agrees with people."""
    agreement = people or {}
    return (
        _name_column("judge", "Judge", "judge", names),
        _number_column("agreement", "Agreement", "agreement", signed_number),
        Column("agreement_ci", "95 % interval", attrgetter("agreement"), _agreement_interval_text),
        _number_column("spoiled", "Spoiled", "spoiled_rate", _spoiled_text, is_low_best=True),
        Column("position", "First slot", _position_size, _position_text, True),
        Column("consistency", "Orders kept", attrgetter("consistency"), _orders_kept_text),
        Column(
            "people",
            "With people",
            partial(_people_share, agreement),
            partial(_people_text, agreement),
        ),
        _number_column("cost_usd", "Price", "cost_usd", money, is_low_best=True),
        _number_column("rounds", "Rounds", "rounds"),
    )


def _people_share(people: Mapping[str, HumanAgreement], line: JudgeLine) -> float | None:
    agreement = people.get(line.judge)
    return agreement.share if agreement else None


def _people_text(people: Mapping[str, HumanAgreement], line: JudgeLine) -> str:
    agreement = people.get(line.judge)
    return f"{agreement.same} of {agreement.ballots}" if agreement else ""


def _agreement_interval_text(line: JudgeLine) -> str:
    if line.agreement_ci is None:
        return ""
    return " to ".join(map(signed_number, line.agreement_ci))


def _position_size(line: JudgeLine) -> float | None:
    return None if line.position is None else abs(line.position)


def _render_table(lines: Iterable[LineT], columns: Sequence[Column[LineT]]) -> Table:
    """Return lines as a table, without the columns that are empty."""
    items = [*lines]
    visible_columns = nonempty_columns(items, columns)
    rows = tuple(tuple(column.shown(line) for column in visible_columns) for line in items)
    numeric = frozenset(index for index, column in enumerate(visible_columns) if not column.is_text)
    return Table(tuple(column.title for column in visible_columns), rows, numeric)


def nonempty_columns(
    lines: Sequence[LineT], columns: Iterable[Column[LineT]]
) -> list[Column[LineT]]:
    """Return the columns that are not empty."""
    return [column for column in columns if any(column.shown(line) for line in lines)]


def sort_lines(
    lines: Iterable[LineT], column: Column[LineT], *, turned: bool = False
) -> list[LineT]:
    """Return lines sorted best first, or worst first if `turned`; unknown values last."""
    items = [*lines]
    with_value = [line for line in items if column.value(line) is not None]
    without_value = [line for line in items if column.value(line) is None]
    return [
        *sorted(with_value, key=column.value, reverse=turned == column.is_low_best),
        *without_value,
    ]


def author_table(leaderboard: Leaderboard, max_rows: int | None = None) -> Table:
    """Return members as authors: all columns, or the short ones of the first few."""
    if max_rows is not None:
        return _render_table(leaderboard.board.rows[:max_rows], _short_columns(leaderboard.names))
    return _render_table(leaderboard.board.rows, author_columns(leaderboard.names))


def judge_table(leaderboard: Leaderboard) -> Table:
    """Return seats as judges."""
    return _render_table(
        leaderboard.judges.rows, judge_columns(leaderboard.names, leaderboard.people)
    )
