"""What a leaderboard's figure shows: members best first with intervals, and each run by run."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial
from math import ceil, floor
from operator import attrgetter
from typing import Any, Generic, TypeVar

from bot.chat import Table
from bot.render.formatting import counted, duration, listed, money
from council.bakeoffs.changes import Changes, TrendRun
from council.bakeoffs.council_value import CouncilValue
from council.bakeoffs.intervals import Interval
from council.bakeoffs.leaderboard import AuthorLine, Board, JudgeBoard, JudgeLine
from council.research.judge_weights import WithPeople
from council.research.weighted_leaderboard import WeightedBoard

# --- What a leaderboard's figure shows: members best first with intervals, and each run by run.

MAX_RUNS = 24  # the newest; more would stand too close to be told apart


@dataclass(frozen=True, slots=True)
class Spread:
    """A share with its interval, from 0 to 1; ends are None where there is no interval."""

    share: float
    low: float | None = None
    high: float | None = None

    @property
    def reach(self) -> tuple[float, float]:
        """Give the lowest and the highest value of it."""
        low = self.share if self.low is None else self.low
        high = self.share if self.high is None else self.high
        return low, high


@dataclass(frozen=True, slots=True)
class Bar:
    """One member: its place, its share, and its share in each run; None where it has none."""

    name: str
    place: int | None
    spread: Spread | None
    runs: tuple[Spread | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Members best first; `days` are those of the runs, oldest first.

    Where panels were mixed, spreads are shares that members should have, not those they had.
    """

    bars: tuple[Bar, ...]
    days: tuple[date, ...] = ()
    is_mixed: bool = False

    @property
    def has_trend(self) -> bool:
        """Whether there is more than one run to see."""
        return len(self.days) > 1

    def newest(self) -> "Chart":
        """Give the chart with no more runs than can be told apart."""
        bars = (Bar(x.name, x.place, x.spread, x.runs[-MAX_RUNS:]) for x in self.bars)
        return Chart(tuple(bars), self.days[-MAX_RUNS:], self.is_mixed)


def axis_range(spreads: Iterable[Spread | None]) -> tuple[float, float]:
    """Give tenths around all spreads and one half, .2 apart at least."""
    reaches = [spread.reach for spread in spreads if spread]
    low = min([0.5, *(low for low, _ in reaches)])
    high = max([0.5, *(high for _, high in reaches)])
    tenths = max(0, floor(low * 10 + 1e-9)), min(10, ceil(high * 10 - 1e-9))
    bottom, top = min(tenths[0], 4), max(tenths[1], 6)
    return bottom / 10, top / 10


def mean_share(runs: Sequence[Spread | None]) -> float | None:
    """Give the mean share over runs; None where there is none."""
    shares = [run.share for run in runs if run]
    return sum(shares) / len(shares) if shares else None


def trend_swing(bars: Iterable[Bar]) -> float:
    """Give how far any run, with its interval, is from its member's mean: 5, 10, 15 … points."""
    swings = [0.05]
    for bar in bars:
        mean = mean_share(bar.runs)
        swings += [abs(end - (mean or 0)) for run in bar.runs if run for end in run.reach]
    return ceil(max(swings) * 20 - 1e-9) / 20


def axis_ticks(low: float, high: float) -> Iterator[float]:
    """Give the round shares from low to high, six at most, one half among them."""
    step = 0.1 if high - low <= 0.5 + 1e-9 else 0.25
    first = ceil((low - 0.5) / step - 1e-9)
    last = floor((high - 0.5) / step + 1e-9)
    yield from (round(0.5 + number * step, 4) for number in range(first, last + 1))


def describe_chart(chart: Chart) -> str:
    """Say in words what the figure shows, for whoever cannot see it."""
    known = [bar for bar in chart.bars if bar.spread]
    shares = "; ".join(_describe_bar(bar) for bar in known)
    runs = f", over all and in each of {len(chart.days)} runs" if chart.has_trend else ""
    if not known:
        return "No member has a share yet."
    return f"{chart_heading(chart)}{runs}. {shares}."


def chart_heading(chart: Chart) -> str:
    """Say what the bars are."""
    beaten = "Rivals beaten, if all met" if chart.is_mixed else "Share of rivals beaten"
    return f"{beaten}, 95 % interval"


def _describe_bar(bar: Bar) -> str:
    spread = bar.spread or Spread(0.5)
    low, high = spread.reach
    within = f", {percent(low)} to {percent(high)}" if high > low else ""
    place = f"place {bar.place}, " if bar.place else ""
    return f"{bar.name}: {place}{percent(spread.share)}{within}"


def percent(share: float) -> str:
    """Give a share as a whole percentage: "62 %"."""
    return f"{share * 100:.0f} %"


# --- What a leaderboard counts, in one honest sentence: which rounds, and which are left out.

_VERSION_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Coverage:
    """The rounds a leaderboard counts.

    `suites` tells how many are of which suite and version, ("", "") of none; `left_out` how many
    there are of other versions of the suite that is meant.
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


def covers(coverage: Coverage) -> str:
    """Say what is counted, and what is not."""
    return " ".join(
        [f"{_counted_text(coverage)}{_window_text(coverage)}.", *_left_out_lines(coverage)]
    )


def nothing(coverage: Coverage) -> str:
    """Say that there is nothing to count yet, and what to do."""
    narrowed = any((coverage.panel, coverage.category, coverage.since, coverage.before))
    if coverage.left_out:
        versions = listed(version[:_VERSION_LENGTH] for version, _ in coverage.left_out)
        return (
            f"No round of suite {coverage.suite} in version {coverage.version} has been held; "
            f"there are rounds of {versions}."
        )
    if narrowed:
        return "No round fits: widen the window, or leave out the panel or the category."
    if coverage.suite:
        return (
            f"No round of suite {coverage.suite} has been held yet: "
            f"`/council bakeoff {coverage.suite}` holds it."
        )
    return "No round has been held yet: ask a question, or hold a suite with `/council bakeoff`."


def _counted_text(coverage: Coverage) -> str:
    said = counted(coverage.rounds, "round")
    if coverage.suite:
        said += f" of suite {coverage.suite}, version {coverage.version[:_VERSION_LENGTH]}"
    elif kinds := [*_suite_counts(coverage)]:
        said += f": {listed(kinds)}"
    if coverage.category:
        said += f", category {coverage.category}"
    if coverage.panel:
        return f"{said}, panel {coverage.panel}"
    if len(coverage.panels) > 1:
        return f"{said}, panels {listed(coverage.panels)}"
    return f"{said}, panel {coverage.panels[0]}" if coverage.panels else said


def _suite_counts(coverage: Coverage) -> Iterator[str]:
    """Give what the rounds of a board over everything are, no version mixed in unseen."""
    rounds, versions = Counter[str](), Counter[str]()
    for name, _, number in coverage.suites:
        rounds[name] += number
        versions[name] += 1
    for name, number in rounds.items():
        if name:
            mixed = f" in {versions[name]} versions" if versions[name] > 1 else ""
            yield f"{number} of suite {name}{mixed}"
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
        versions = counted(len(coverage.left_out), "other version")
        is_are = "is" if number == 1 else "are"
        yield f"{counted(number, 'round')} of {versions} {is_are} left out."


# --- A leaderboard as people are shown it: what was counted, what came of it, and who is who.

_NOTHING_GRADED = CouncilValue()


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """All there is to show of many rounds; `names` are those of seats by their keys.

    `changes` compare the newest run with those before it, where there is one to compare. `weighted`
    is the board by weighed judges, where it was asked for, and `people` how far judges agree with
    what people chose.
    """

    coverage: Coverage
    board: Board
    judges: JudgeBoard
    worth: CouncilValue = _NOTHING_GRADED
    runs: tuple[TrendRun, ...] = ()
    changes: Changes | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    weighted: WeightedBoard | None = None
    people: Mapping[str, WithPeople] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What it goes by."""
        return f"Leaderboard of {self.coverage.suite}" if self.coverage.suite else "Leaderboard"

    def name(self, key: str) -> str:
        """Give the name of a seat; its key where no panel has it any more."""
        return self.names.get(key, key)

    @property
    def chart(self) -> Chart:
        """What its figure shows."""
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
    """Give what a member stands by: its strength where panels were mixed, else its share."""
    if line.strength is not None:
        return Spread(line.strength, *(line.strength_ci or (None, None)))
    return None if line.share is None else Spread(line.share, *line.ci)


# --- The columns of leaderboards: what each is called, how it reads, and what it sorts by.

LineT = TypeVar("LineT")


@dataclass(frozen=True, slots=True)
class Column(Generic[LineT]):
    """One column; `value` is what it sorts by, best first, None last.

    `shown` of a line without a value is "".
    """

    key: str
    title: str
    value: Callable[[LineT], Any]
    shown: Callable[[LineT], str]
    is_low_best: bool = False
    is_text: bool = False


def _number_column(
    key: str, title: str, of: str, shows: Callable[[Any], str] = str, *, is_low_best: bool = False
) -> Column[Any]:
    """Give a column of a number that may be unknown."""
    value = attrgetter(of)

    def shown(line: object) -> str:
        found = value(line)
        return "" if found is None else shows(found)

    return Column(key, title, value, shown, is_low_best)


def _name_column(key: str, title: str, of: str, names: Mapping[str, str]) -> Column[Any]:
    seat = attrgetter(of)

    def name(line: object) -> str:
        return names.get(seat(line), seat(line))

    return Column(key, title, lambda line: name(line).casefold(), name, True, True)


def interval_text(interval: Interval | None) -> str:
    """Give an interval of shares: "55–69 %"."""
    return f"{interval[0] * 100:.0f}–{percent(interval[1])}" if interval else ""


def signed(number: float) -> str:
    """Give a number with its sign: "+.42", "−.05"; what rounds to nothing has a plus."""
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
    return signed(line.position) + (" biased" if line.is_position_biased else "")


def _orders_kept_text(line: JudgeLine) -> str:
    return f"{line.kept} of {line.pairs}" if line.pairs else ""


def author_columns(names: Mapping[str, str]) -> tuple[Column[AuthorLine], ...]:
    """Give the columns of members as authors."""
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
    """Give the columns a board has room for in a few lines."""
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
    names: Mapping[str, str], people: Mapping[str, WithPeople] | None = None
) -> tuple[Column[JudgeLine], ...]:
    """Give the columns of seats as judges; `people` are how far each agrees with them."""
    known = people or {}
    return (
        _name_column("judge", "Judge", "judge", names),
        _number_column("agreement", "Agreement", "agreement", signed),
        Column("agreement_ci", "95 % interval", attrgetter("agreement"), _agreement_interval_text),
        _number_column("spoiled", "Spoiled", "spoiled_rate", _spoiled_text, is_low_best=True),
        Column("position", "First slot", _position_size, _position_text, True),
        Column("consistency", "Orders kept", attrgetter("consistency"), _orders_kept_text),
        Column(
            "people", "With people", partial(_people_share, known), partial(_people_text, known)
        ),
        _number_column("cost_usd", "Price", "cost_usd", money, is_low_best=True),
        _number_column("rounds", "Rounds", "rounds"),
    )


def _people_share(people: Mapping[str, WithPeople], line: JudgeLine) -> float | None:
    found = people.get(line.judge)
    return found.share if found else None


def _people_text(people: Mapping[str, WithPeople], line: JudgeLine) -> str:
    found = people.get(line.judge)
    return f"{found.same} of {found.ballots}" if found else ""


def _agreement_interval_text(line: JudgeLine) -> str:
    if line.agreement_ci is None:
        return ""
    return " to ".join(map(signed, line.agreement_ci))


def _position_size(line: JudgeLine) -> float | None:
    return None if line.position is None else abs(line.position)


def _render_table(lines: Iterable[LineT], columns: Sequence[Column[LineT]]) -> Table:
    """Give lines as a table of a post, without the columns that say nothing of any."""
    held = [*lines]
    told = telling(held, columns)
    rows = tuple(tuple(column.shown(line) for column in told) for line in held)
    numeric = frozenset(at for at, column in enumerate(told) if not column.is_text)
    return Table(tuple(column.title for column in told), rows, numeric)


def telling(lines: Sequence[LineT], columns: Iterable[Column[LineT]]) -> list[Column[LineT]]:
    """Give the columns that say something of any line."""
    return [column for column in columns if any(column.shown(line) for line in lines)]


def sorted_by(
    lines: Iterable[LineT], column: Column[LineT], *, turned: bool = False
) -> list[LineT]:
    """Give lines with the best value on top, or the worst; those without one stay below."""
    held = [*lines]
    known = [line for line in held if column.value(line) is not None]
    unknown = [line for line in held if column.value(line) is None]
    return [*sorted(known, key=column.value, reverse=turned == column.is_low_best), *unknown]


def author_table(shown: Leaderboard, most: int | None = None) -> Table:
    """Give members as authors: all that is known, or of the first few what there is room for."""
    if most is not None:
        return _render_table(shown.board.rows[:most], _short_columns(shown.names))
    return _render_table(shown.board.rows, author_columns(shown.names))


def judge_table(shown: Leaderboard) -> Table:
    """Give seats as judges."""
    return _render_table(shown.judges.rows, judge_columns(shown.names, shown.people))
