"""Renderer of a leaderboard: a post with its thread, and a chart as SVG or PNG."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from bot.chat import File, Heading, Line, Note, Part, Post, Thread
from bot.render.charts import (
    Band,
    Colour,
    Dot,
    Figure,
    Label,
    Mark,
    Path,
    Scale,
    Stroke,
    fit_text,
    render_png,
)
from bot.render.formatting import count_noun
from bot.render.leaderboard_export import leaderboard_csv
from bot.render.leaderboard_tables import (
    Bar,
    Chart,
    Leaderboard,
    Spread,
    author_table,
    axis_range,
    axis_ticks,
    chart_heading,
    coverage_line,
    describe_chart,
    judge_table,
    mean_share,
    no_rounds_line,
    percent,
    trend_swing,
)
from bot.render.leaderboard_text import (
    NO_CHANGE,
    SHARED_PLACES_NOTE,
    change_lines,
    comparison_line,
    council_value_lines,
    council_value_table,
    decision_lines,
    run_off_note,
)
from bot.render.leaderboard_weighted import weighted_parts
from bot.render.text_safety import visible_line
from council.bakeoffs.changes import Changes

_MAX_ROWS = 5
_AS_AUTHORS = "As authors"
_AS_JUDGES = "As judges"
_WEIGHTED = "With judges that do not all weigh alike"
_COUNCIL_VALUE = "Is the council worth it here?"
_COUNTED = "What is counted, and how the places came about"
HOW_AUTHORS = (
    "Share: how many of the other answers an answer beat, on average over rounds; 50 % is chance. "
    "Price, time and tokens are those of one answer."
)
HOW_JUDGES = (
    "Agreement is with the other judges, from −1 to +1. First slot is what a judge gave to the "
    "answer it saw first, beyond one half. Orders kept: when it ranked the same answers again, "
    "reversed. With people: of its ballots on an answer that a person called the best, those that "
    "put it first. Price is that of one ballot that counts."
)


_WIDTH = 390.0  # pixels: a phone's
_MARGIN = 14.0
_NAME_LEFT = 34.0  # where names begin
_GUTTER = 22.0
_TREND_WIDTH = 112.0  # width of the column of trends
_TOP_HEIGHT, _ROW_HEIGHT, _FOOT_HEIGHT = 28.0, 50.0, 30.0
_NAME_SIZE, _SMALL_SIZE = 12.5, 10.5  # font sizes
_VALUE_WIDTH = 52.0  # width of the share at the end of a name's line
_DOT_RADIUS, _BAR_WIDTH = 4.0, 3.0
_CHANCE_SHARE = 0.5  # of rivals, beaten by chance


def leaderboard_thread(
    leaderboard: Leaderboard, picture: bytes = b"", *, as_judge: bool = False
) -> Thread:
    """Return a leaderboard as a post and its thread; `picture` is its chart as a PNG."""
    if not leaderboard.coverage.rounds:
        line = no_rounds_line(leaderboard.coverage)
        return Thread(Post((Heading(leaderboard.title), Note(line)), line))
    root = Post(tuple(_root_parts(leaderboard, as_judge=as_judge)), _summary(leaderboard))
    return Thread(root, tuple(_replies(leaderboard, picture, as_judge=as_judge)))


def _summary(leaderboard: Leaderboard) -> str:
    """Return who is first, after how many rounds."""
    first = [leaderboard.name(line.member) for line in leaderboard.board.rows if line.place == 1]
    rounds = count_noun(leaderboard.coverage.rounds, "round")
    if len(first) == 1:
        return f"{leaderboard.title}: {first[0]} first, {rounds}"
    together = f"{count_noun(len(first), 'member')} share the first place, " if first else ""
    return f"{leaderboard.title}: {together}{rounds}"


def _root_parts(leaderboard: Leaderboard, *, as_judge: bool) -> Iterator[Part]:
    yield Heading(leaderboard.title)
    if leaderboard.changes:
        yield from _change_parts(leaderboard.changes, leaderboard.names)
    if as_judge:
        yield judge_table(leaderboard)
        yield Note(f"{HOW_JUDGES} {coverage_line(leaderboard.coverage)}")
    else:
        yield author_table(leaderboard, _MAX_ROWS)
        yield Note(" ".join(filter(None, _root_notes(leaderboard))))


def _change_parts(changes: Changes, names: Mapping[str, str]) -> Iterator[Part]:
    lines = [*change_lines(changes, names)]
    yield from map(Line, lines)
    if changes.runs and not lines:
        yield Note(f"{NO_CHANGE} {comparison_line(changes)}")


def _root_notes(leaderboard: Leaderboard) -> Iterator[str]:
    others = len(leaderboard.board.rows) - _MAX_ROWS
    if others > 0:
        yield f"{count_noun(others, 'more member')} in the thread."
    yield SHARED_PLACES_NOTE
    yield run_off_note(leaderboard)
    yield coverage_line(leaderboard.coverage)


def _replies(leaderboard: Leaderboard, picture: bytes, *, as_judge: bool) -> Iterator[Post]:
    if picture:
        yield Post((_picture_file(leaderboard, picture),), "leaderboard.png")
    yield Post((Heading(_AS_AUTHORS), author_table(leaderboard), Note(HOW_AUTHORS)), _AS_AUTHORS)
    if leaderboard.judges.rows and not as_judge:
        yield Post((Heading(_AS_JUDGES), judge_table(leaderboard), Note(HOW_JUDGES)), _AS_JUDGES)
    if weighted := weighted_parts(leaderboard):
        yield Post(weighted, _WEIGHTED)
    if table := council_value_table(leaderboard):
        yield Post(
            (Heading(_COUNCIL_VALUE), table, *map(Line, council_value_lines(leaderboard))),
            _COUNCIL_VALUE,
        )
    lines = (coverage_line(leaderboard.coverage), *decision_lines(leaderboard))
    yield Post((Heading(_COUNTED), *map(Line, lines)), _COUNTED)
    yield Post((File("leaderboard.csv", leaderboard_csv(leaderboard)),), "leaderboard.csv")


def _picture_file(leaderboard: Leaderboard, picture: bytes) -> File:
    """Return the chart as a file, with its description as alternative text."""
    return File("leaderboard.png", describe_chart(leaderboard.chart.newest()), picture)


def render_leaderboard_png(leaderboard: Leaderboard) -> bytes:
    """Return the chart as a PNG; drawing takes a moment, so call it in a thread."""
    return render_png(render_figure(leaderboard.chart))


@dataclass(frozen=True, slots=True)
class _Layout:
    """Positions: the scale of shares, and the column of trends if there is one.

    `swing` is how far above and below its mean each member's trend extends.
    """

    chart: Chart
    shares: Scale
    across: tuple[float, float] | None
    swing: float

    @property
    def bottom(self) -> float:
        return _TOP_HEIGHT + _ROW_HEIGHT * len(self.chart.bars)


def render_figure(chart: Chart) -> Figure:
    """Return the chart of a leaderboard: a row for each member, best first."""
    newest = chart.newest()
    layout = _layout(newest)
    marks = [*_frame_marks(layout)]
    for row, bar in enumerate(newest.bars):
        marks += _row_marks(layout, bar, _TOP_HEIGHT + row * _ROW_HEIGHT)
    return Figure(_WIDTH, layout.bottom + _FOOT_HEIGHT, tuple(marks), describe_chart(newest))


def _layout(chart: Chart) -> _Layout:
    right = _WIDTH - _MARGIN
    across = (right - _TREND_WIDTH, right) if chart.has_trend else None
    end = across[0] - _GUTTER if across else right
    low, high = axis_range(bar.spread for bar in chart.bars)
    # Leave room for the labels of the outermost ticks.
    shares = Scale(low, high, _MARGIN + 6, end - 6, tuple(axis_ticks(low, high)))
    return _Layout(chart, shares, across, trend_swing(chart.bars))


def _frame_marks(layout: _Layout) -> Iterator[Mark]:
    """Yield what all rows share: headings, axes and tick labels."""
    yield Label(_MARGIN, 16, chart_heading(layout.chart), Colour.QUIET, _SMALL_SIZE)
    for tick in layout.shares.ticks:
        x = layout.shares.at(tick)
        yield Stroke(x, layout.bottom, x, layout.bottom + 4, Colour.RULE)
        yield Label(x, layout.bottom + 17, percent(tick), Colour.QUIET, _SMALL_SIZE, "middle")
    yield Stroke(layout.shares.start, layout.bottom, layout.shares.end, layout.bottom, Colour.RULE)
    if layout.across:
        yield from _trend_frame_marks(layout, *layout.across)


def _trend_frame_marks(layout: _Layout, left: float, right: float) -> Iterator[Mark]:
    title = f"Runs, ±{layout.swing * 100:.0f} points"
    yield Label(left, 16, title, Colour.QUIET, _SMALL_SIZE)
    first, last = layout.chart.days[0], layout.chart.days[-1]
    yield Label(left, layout.bottom + 17, _short_date(first), Colour.QUIET, _SMALL_SIZE)
    if last != first:
        yield Label(right, layout.bottom + 17, _short_date(last), Colour.QUIET, _SMALL_SIZE, "end")


def _short_date(day: date) -> str:
    return f"{day.day} {day:%b}"


def _row_marks(layout: _Layout, bar: Bar, top: float) -> Iterator[Mark]:
    """Yield a member's row: its name above its interval, and its trend."""
    is_first = bar.place == 1
    colour, band_colour = (
        (Colour.FIRST, Colour.FIRST_BAND) if is_first else (Colour.OTHER, Colour.OTHER_BAND)
    )
    right = layout.shares.end + 6
    name = visible_line(bar.name)
    title = fit_text(name, right - _NAME_LEFT - _VALUE_WIDTH, _NAME_SIZE, bold=is_first)
    yield Label(_MARGIN, top + 18, str(bar.place or "–"), Colour.TEXT, _NAME_SIZE, bold=is_first)
    yield Label(_NAME_LEFT, top + 18, title, Colour.TEXT, _NAME_SIZE, bold=is_first)
    if not bar.spread:
        yield Label(right, top + 18, "no share", Colour.QUIET, _SMALL_SIZE, "end")
        return
    yield Label(
        right, top + 18, percent(bar.spread.share), Colour.TEXT, _NAME_SIZE, "end", is_first
    )
    y = top + 35
    half = layout.shares.at(_CHANCE_SHARE)
    yield Stroke(half, y - 7, half, y + 7, Colour.RULE)
    low, high = map(layout.shares.at, bar.spread.reach)
    if high > low:
        yield Stroke(low, y, high, y, colour, _BAR_WIDTH)
    yield Dot(layout.shares.at(bar.spread.share), y, _DOT_RADIUS + 0.5, colour)
    mean = mean_share(bar.runs)
    if layout.across and mean is not None:
        heights = Scale(mean - layout.swing, mean + layout.swing, top + _ROW_HEIGHT - 6, top + 6)
        yield from _trend_marks(layout.across, heights, bar.runs, (colour, band_colour))


def _interval_mark(segment: Sequence[tuple[float, Spread]], heights: Scale, colour: Colour) -> Mark:
    """Return the intervals of consecutive runs as a band, or a single one as a line."""
    tops = [(x, heights.at(run.reach[1])) for x, run in segment]
    bottoms = [(x, heights.at(run.reach[0])) for x, run in segment]
    if len(segment) == 1:
        return Stroke(*tops[0], *bottoms[0], colour, 2 * _BAR_WIDTH)
    return Band((*tops, *reversed(bottoms)), colour)


def _trend_marks(
    across: tuple[float, float],
    heights: Scale,
    runs: Sequence[Spread | None],
    colours: tuple[Colour, Colour],
) -> Iterator[Mark]:
    """Yield a member's runs as a line in its intervals; a missed run interrupts the line."""
    left, right = across
    colour, band_colour = colours
    step = (right - left - 2 * _DOT_RADIUS) / max(len(runs) - 1, 1)
    xs = [left + _DOT_RADIUS + step * index for index in range(len(runs))]
    middle = (heights.start + heights.end) / 2
    segments = [
        [(x, run) for x, run in stretch if run]
        for has_run, stretch in groupby(zip(xs, runs, strict=True), lambda one: bool(one[1]))
        if has_run
    ]
    for stretch in segments:
        yield _interval_mark(stretch, heights, band_colour)
    yield Stroke(left, middle, right, middle, Colour.RULE)
    for stretch in segments:
        points = tuple((x, heights.at(run.share)) for x, run in stretch)
        yield Path(points, colour)
        if len(points) == 1:
            yield Dot(*points[0], 2, colour)
    if segments:
        x, run = segments[-1][-1]
        yield Dot(x, heights.at(run.share), 3, colour)
