"""A leaderboard's figure, laid out for a phone's width: a row a member, best first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from bot.chat import File, Heading, Line, Note, Part, Post, Thread
from bot.render.charts import Band, Colour, Dot, Figure, Label, Mark, Path, Scale, Stroke, fit_text
from bot.render.formatting import counted
from bot.render.leaderboard_export import csv_of
from bot.render.leaderboard_tables import (
    Bar,
    Chart,
    Leaderboard,
    Spread,
    author_table,
    axis_range,
    axis_ticks,
    chart_heading,
    covers,
    describe_chart,
    judge_table,
    mean_share,
    nothing,
    percent,
    trend_swing,
)
from bot.render.leaderboard_text import (
    NO_CHANGE,
    SHARED,
    comparison_line,
    decided,
    news_lines,
    run_off_note,
    worth_lines,
    worth_table,
)
from bot.render.leaderboard_weighted import weighted_parts
from bot.render.text_safety import shown_text
from council.bakeoffs.changes import Changes

# --- A leaderboard's figure, laid out for a phone's width: a row a member, best first.

_WIDTH = 390.0
_MARGIN = 14.0
_NAME_LEFT = 34.0  # where names begin, beside their places
_GUTTER = 22.0
_TREND_WIDTH = 112.0  # the width of one member's runs
_TOP_HEIGHT, _ROW_HEIGHT, _FOOT_HEIGHT = 28.0, 50.0, 30.0
_NAME_SIZE, _SMALL_SIZE = 12.5, 10.5  # sizes of text
_VALUE_WIDTH = 52.0  # the room for a share, at the end of a name's line
_DOT_RADIUS, _BAR_WIDTH = 4.0, 3.0
_CHANCE_SHARE = 0.5  # of the rivals: what chance beats


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where things stand: the line for shares, and the runs' where there are any.

    `swing` is how far above and below its mean each member's runs are shown.
    """

    chart: Chart
    shares: Scale
    across: tuple[float, float] | None
    swing: float

    @property
    def bottom(self) -> float:
        return _TOP_HEIGHT + _ROW_HEIGHT * len(self.chart.bars)


def figure_of(chart: Chart) -> Figure:
    """Give the figure of a leaderboard."""
    shown = chart.newest()
    sheet = _layout(shown)
    marks = [*_frame_marks(sheet)]
    for row, bar in enumerate(shown.bars):
        marks += _row_marks(sheet, bar, _TOP_HEIGHT + row * _ROW_HEIGHT)
    return Figure(_WIDTH, sheet.bottom + _FOOT_HEIGHT, tuple(marks), describe_chart(shown))


def _layout(chart: Chart) -> _Layout:
    right = _WIDTH - _MARGIN
    across = (right - _TREND_WIDTH, right) if chart.has_trend else None
    end = across[0] - _GUTTER if across else right
    low, high = axis_range(bar.spread for bar in chart.bars)
    # The outermost ticks are named under the line's ends, and must not be cut.
    shares = Scale(low, high, _MARGIN + 6, end - 6, tuple(axis_ticks(low, high)))
    return _Layout(chart, shares, across, trend_swing(chart.bars))


def _frame_marks(sheet: _Layout) -> Iterator[Mark]:
    """Give what all rows share: headings, the line at one half, and the ends of the scales."""
    yield Label(_MARGIN, 16, chart_heading(sheet.chart), Colour.QUIET, _SMALL_SIZE)
    for tick in sheet.shares.ticks:
        x = sheet.shares.at(tick)
        yield Stroke(x, sheet.bottom, x, sheet.bottom + 4, Colour.RULE)
        yield Label(x, sheet.bottom + 17, percent(tick), Colour.QUIET, _SMALL_SIZE, "middle")
    yield Stroke(sheet.shares.start, sheet.bottom, sheet.shares.end, sheet.bottom, Colour.RULE)
    if sheet.across:
        yield from _trend_frame_marks(sheet, *sheet.across)


def _trend_frame_marks(sheet: _Layout, left: float, right: float) -> Iterator[Mark]:
    title = f"Runs, ±{sheet.swing * 100:.0f} points"
    yield Label(left, 16, title, Colour.QUIET, _SMALL_SIZE)
    first, last = sheet.chart.days[0], sheet.chart.days[-1]
    yield Label(left, sheet.bottom + 17, _short_date(first), Colour.QUIET, _SMALL_SIZE)
    if last != first:
        yield Label(right, sheet.bottom + 17, _short_date(last), Colour.QUIET, _SMALL_SIZE, "end")


def _short_date(day: date) -> str:
    return f"{day.day} {day:%b}"


def _row_marks(sheet: _Layout, bar: Bar, top: float) -> Iterator[Mark]:
    """Give a member's row: its name over its interval, its runs beside them."""
    is_first = bar.place == 1
    ink, band = (Colour.FIRST, Colour.FIRST_BAND) if is_first else (Colour.OTHER, Colour.OTHER_BAND)
    end = sheet.shares.end + 6
    name = " ".join(shown_text(bar.name).split())
    title = fit_text(name, end - _NAME_LEFT - _VALUE_WIDTH, _NAME_SIZE, bold=is_first)
    yield Label(_MARGIN, top + 18, str(bar.place or "–"), Colour.TEXT, _NAME_SIZE, bold=is_first)
    yield Label(_NAME_LEFT, top + 18, title, Colour.TEXT, _NAME_SIZE, bold=is_first)
    if not bar.spread:
        yield Label(end, top + 18, "no share", Colour.QUIET, _SMALL_SIZE, "end")
        return
    yield Label(end, top + 18, percent(bar.spread.share), Colour.TEXT, _NAME_SIZE, "end", is_first)
    y = top + 35
    half = sheet.shares.at(_CHANCE_SHARE)
    yield Stroke(half, y - 7, half, y + 7, Colour.RULE)
    low, high = map(sheet.shares.at, bar.spread.reach)
    if high > low:
        yield Stroke(low, y, high, y, ink, _BAR_WIDTH)
    yield Dot(sheet.shares.at(bar.spread.share), y, _DOT_RADIUS + 0.5, ink)
    mean = mean_share(bar.runs)
    if sheet.across and mean is not None:
        heights = Scale(mean - sheet.swing, mean + sheet.swing, top + _ROW_HEIGHT - 6, top + 6)
        yield from _trend_marks(sheet.across, heights, bar.runs, (ink, band))


def _interval_mark(stretch: Sequence[tuple[float, Spread]], heights: Scale, band: Colour) -> Mark:
    """Give the intervals of runs that follow each other, or of one that stands alone."""
    tops = [(x, heights.at(run.reach[1])) for x, run in stretch]
    bottoms = [(x, heights.at(run.reach[0])) for x, run in stretch]
    if len(stretch) == 1:
        return Stroke(*tops[0], *bottoms[0], band, 2 * _BAR_WIDTH)
    return Band((*tops, *reversed(bottoms)), band)


def _trend_marks(
    across: tuple[float, float],
    heights: Scale,
    runs: Sequence[Spread | None],
    inks: tuple[Colour, Colour],
) -> Iterator[Mark]:
    """Give a member's runs as a line in its intervals; a run it missed parts the line."""
    left, right = across
    ink, band = inks
    step = (right - left - 2 * _DOT_RADIUS) / max(len(runs) - 1, 1)
    xs = [left + _DOT_RADIUS + step * at for at in range(len(runs))]
    middle = (heights.start + heights.end) / 2
    stretches = [
        [(x, run) for x, run in stretch if run]
        for held, stretch in groupby(zip(xs, runs, strict=True), lambda one: bool(one[1]))
        if held
    ]
    for stretch in stretches:
        yield _interval_mark(stretch, heights, band)
    yield Stroke(left, middle, right, middle, Colour.RULE)
    for stretch in stretches:
        points = tuple((x, heights.at(run.share)) for x, run in stretch)
        yield Path(points, ink)
        if len(points) == 1:
            yield Dot(*points[0], 2, ink)
    if stretches:
        x, run = stretches[-1][-1]
        yield Dot(x, heights.at(run.share), 3, ink)


# --- A leaderboard in a chat: what changed, five lines, one honest line; the rest in the thread.

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


def board_thread(shown: Leaderboard, picture: bytes = b"", *, as_judge: bool = False) -> Thread:
    """Give a leaderboard as a post and its thread; with a picture of it where there is one."""
    if not shown.coverage.rounds:
        line = nothing(shown.coverage)
        return Thread(Post((Heading(shown.title), Note(line)), line))
    root = Post(tuple(_root_parts(shown, as_judge=as_judge)), _summary(shown))
    return Thread(root, tuple(_replies(shown, picture, as_judge=as_judge)))


def _summary(shown: Leaderboard) -> str:
    """Give the leaderboard in one line: who is first, after how many rounds."""
    first = [shown.name(line.member) for line in shown.board.rows if line.place == 1]
    rounds = counted(shown.coverage.rounds, "round")
    if len(first) == 1:
        return f"{shown.title}: {first[0]} first, {rounds}"
    together = f"{counted(len(first), 'member')} share the first place, " if first else ""
    return f"{shown.title}: {together}{rounds}"


def _root_parts(shown: Leaderboard, *, as_judge: bool) -> Iterator[Part]:
    yield Heading(shown.title)
    if shown.changes:
        yield from _change_parts(shown.changes, shown.names)
    if as_judge:
        yield judge_table(shown)
        yield Note(f"{HOW_JUDGES} {covers(shown.coverage)}")
    else:
        yield author_table(shown, _MAX_ROWS)
        yield Note(" ".join(filter(None, _root_notes(shown))))


def _change_parts(changes: Changes, names: Mapping[str, str]) -> Iterator[Part]:
    lines = [*news_lines(changes, names)]
    yield from map(Line, lines)
    if changes.runs and not lines:
        yield Note(f"{NO_CHANGE} {comparison_line(changes)}")


def _root_notes(shown: Leaderboard) -> Iterator[str]:
    more = len(shown.board.rows) - _MAX_ROWS
    if more > 0:
        yield f"{counted(more, 'more member')} in the thread."
    yield SHARED
    yield run_off_note(shown)
    yield covers(shown.coverage)


def _replies(shown: Leaderboard, picture: bytes, *, as_judge: bool) -> Iterator[Post]:
    if picture:
        yield Post((_picture_file(shown, picture),), "leaderboard.png")
    yield Post((Heading(_AS_AUTHORS), author_table(shown), Note(HOW_AUTHORS)), _AS_AUTHORS)
    if shown.judges.rows and not as_judge:
        yield Post((Heading(_AS_JUDGES), judge_table(shown), Note(HOW_JUDGES)), _AS_JUDGES)
    if beside := weighted_parts(shown):
        yield Post(beside, _WEIGHTED)
    if table := worth_table(shown):
        yield Post((Heading(_COUNCIL_VALUE), table, *map(Line, worth_lines(shown))), _COUNCIL_VALUE)
    lines = (covers(shown.coverage), *decided(shown))
    yield Post((Heading(_COUNTED), *map(Line, lines)), _COUNTED)
    yield Post((File("leaderboard.csv", csv_of(shown)),), "leaderboard.csv")


def _picture_file(shown: Leaderboard, picture: bytes) -> File:
    """Give the figure as a file of a post, told in words as well."""
    return File("leaderboard.png", describe_chart(shown.chart.newest()), picture)


# --- Leaderboards as people see them: in chats, on the page, in the terminal, as files.


def picture_of(shown: Leaderboard) -> bytes:
    """Give a leaderboard's figure as a PNG; it takes a moment, so do it in a thread."""
    from bot.render.charts import render_png

    return render_png(figure_of(shown.chart))
