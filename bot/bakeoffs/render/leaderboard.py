"""Renderer of a leaderboard: a post with its thread, and a chart as SVG or PNG."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import ceil, floor, nan
from statistics import fmean
from typing import TYPE_CHECKING

from bot.bakeoffs.render.headline import leading_lines, missing_lines
from bot.bakeoffs.render.leaderboard_export import leaderboard_csv
from bot.bakeoffs.render.leaderboard_tables import (
    Leaderboard,
    author_table,
    coverage_line,
    grade_text,
    judge_table,
    no_rounds_line,
    percent,
    place_text,
)
from bot.bakeoffs.render.leaderboard_text import (
    change_lines,
    council_value_lines,
    council_value_table,
    footnote_lines,
    no_change_line,
)
from bot.chat import PLACE, Caution, File, Heading, Line, Note, Part, Post, Table, Thread
from bot.render.charts import MARGIN, WIDTH, Canvas, Colour, Figure, draw_dot, render_png
from bot.render.formatting import count_noun, describe_table, known_text
from council.bakeoffs.changes import TrendPoint
from council.bakeoffs.intervals import FULL_RANGE, Interval
from council.bakeoffs.leaderboard import AuthorLine, Board, RankedBy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_ROWS = 5
_ALL_COLUMNS = "All columns"
_COUNCIL_VALUE = "Is the council worth it here?"
HOW_AUTHORS = (
    "Points: the share of the other answers that an answer beat, on average over rounds; 50 % "
    "is chance. Price, time and tokens are per answer."
)
HOW_JUDGES = (
    "Agreement is with the other judges, from −1 to +1. Shown first: the points a judge gave to "
    "the answer it saw first, above or below one half. Consistency: pairs ranked the same way "
    "when it saw the answers again, reversed. With people: of its rankings that include an "
    "answer a person chose blind as best, those that put it first; κ is the same beyond chance, "
    "from −1 to +1, with its 95 % interval. Price is per valid ranking."
)


_NAME_LEFT = 40.0  # where names begin
_TREND_WIDTH = 112.0  # width of the column of trends
_TOP_HEIGHT, _ROW_HEIGHT, _FOOT_HEIGHT = 28.0, 50.0, 30.0
_VALUE_WIDTH = 52.0  # width of the share at the end of a name's line
_TICK_MARGIN = 6.0  # room for the labels of the outermost ticks


def leaderboard_thread(
    leaderboard: Leaderboard, picture: bytes = b"", *, as_judge: bool = False
) -> Thread:
    """Return a leaderboard as a post and its thread; `picture` is its chart as a PNG."""
    if not leaderboard.coverage.rounds:
        line = no_rounds_line(leaderboard.coverage)
        return Thread(Post((Heading(leaderboard.title), Note(line)), line))
    root = Post(tuple(_root_parts(leaderboard, as_judge=as_judge)), _summary(leaderboard))
    return Thread(root, tuple(_replies(leaderboard, picture)))


def _summary(leaderboard: Leaderboard) -> str:
    first = [leaderboard.name(line.member) for line in leaderboard.board.rows if line.place == 1]
    rounds = count_noun(leaderboard.coverage.rounds, "round")
    if len(first) == 1:
        return f"{leaderboard.title}: {first[0]} first, {rounds}"
    together = f"{count_noun(len(first), 'model')} are tied for first, " if first else ""
    return f"{leaderboard.title}: {together}{rounds}"


def _root_parts(leaderboard: Leaderboard, *, as_judge: bool) -> Iterator[Part]:
    yield Heading(leaderboard.title)
    yield from map(Caution, missing_lines(leaderboard))
    if changes := leaderboard.changes:
        lines = [*change_lines(changes, leaderboard.names)]
        yield from map(Line, lines)
        if changes.runs and not lines:
            yield Note(no_change_line(changes))
    if as_judge:
        yield judge_table(leaderboard)
        yield Note(f"{HOW_JUDGES} {coverage_line(leaderboard.coverage)}")
    else:
        yield from map(Line, leading_lines(leaderboard))
        yield author_table(leaderboard, _MAX_ROWS)
        others = len(leaderboard.board.rows) - _MAX_ROWS
        notes = (
            f"And {count_noun(others, 'more model')}." if others > 0 else "",
            *footnote_lines(leaderboard),
            coverage_line(leaderboard.coverage),
        )
        yield Note(" ".join(filter(None, notes)))


def whole_board_posts(leaderboard: Leaderboard) -> list[Post]:
    """Return all of a leaderboard without pictures, for one reader."""
    missing, lines = [*missing_lines(leaderboard)], [*leading_lines(leaderboard)]
    if changes := leaderboard.changes:
        lines += change_lines(changes, leaderboard.names)
    first: tuple[Part, ...] = (
        *map(Caution, missing),
        *map(Line, lines),
        short_table(leaderboard, len(leaderboard.board.rows)),
    )
    columns, *others = _replies(leaderboard, b"")
    notes = map(Note, footnote_lines(leaderboard))
    summary = lines[0] if lines else leaderboard.title
    return [Post(first, summary), Post((*columns.parts, *notes), columns.summary), *others]


def short_table(leaderboard: Leaderboard, max_rows: int = _MAX_ROWS) -> Table:
    """Return the first models in four columns that fit a phone, by what decides who leads."""
    board = leaderboard.board
    by_grades, rows = board.ranked_by is RankedBy.GRADES, board.rows
    cells = list[tuple[str, ...]]()
    for line in rows[:max_rows]:
        right, points = grade_text(board, line), known_text(line.share, percent)
        measures = (right, points) if by_grades else (points, right)
        cells.append((place_text(line), leaderboard.name(line.member), *measures))
    grade = "Grade" if board.has_mean_grades else "Right"
    titles: tuple[str, ...] = (grade, "Points") if by_grades else ("Points", grade)
    if not any(line.graded for line in rows):
        titles, cells = titles[:1], [row[:-1] for row in cells]
    columns = (PLACE, "Model", *titles)
    return Table(columns, tuple(cells), frozenset({0, *range(2, len(columns))}))


def _replies(leaderboard: Leaderboard, picture: bytes) -> Iterator[Post]:
    if picture:
        description = describe_chart(leaderboard)
        yield Post((File("leaderboard.png", description, picture),), "leaderboard.png")
    authors = (Heading(_ALL_COLUMNS), author_table(leaderboard), Note(HOW_AUTHORS))
    yield Post(authors, _ALL_COLUMNS)
    if leaderboard.weighted:
        yield Post(leaderboard.weighted.parts, "With weighted judges")
    if table := council_value_table(leaderboard):
        lines = tuple(map(Line, council_value_lines(leaderboard)))
        tables = (table,) if leaderboard.worth.is_decided else ()
        yield Post((Heading(_COUNCIL_VALUE), *tables, *lines), _COUNCIL_VALUE)
    if picture:  # the chat takes files
        yield Post((File("leaderboard.csv", leaderboard_csv(leaderboard)),), "leaderboard.csv")


# --- Chart

CHART_HEADINGS = {
    RankedBy.POINTS: "Share of rivals beaten, 95 % interval",
    RankedBy.GRADES: "Right answers, 95 % interval",
}
_Points = Sequence[TrendPoint | None]  # of one member; None for a run that it missed


def render_leaderboard_png(leaderboard: Leaderboard) -> bytes:
    """Return the chart as a PNG; drawing takes a moment, so call it in a thread."""
    return render_png(render_figure(leaderboard))


def render_figure(leaderboard: Leaderboard) -> Figure:
    """Return the chart of a leaderboard: a row for each member, best first."""
    bottom = _TOP_HEIGHT + _ROW_HEIGHT * max(1, len(leaderboard.board.rows))
    draw = partial(_draw_chart, leaderboard, bottom)
    return Figure(bottom + _FOOT_HEIGHT, describe_chart(leaderboard), draw)


def describe_chart(leaderboard: Leaderboard) -> str:
    """Return what the chart shows in words, as its alternative text."""
    rows, measure = leaderboard.board.rows, leaderboard.board.ranked_by
    if all(_charted(leaderboard.board, line) is None for line in rows):
        return "No model has points yet."
    runs = f", overall and in each of {len(leaderboard.trend)} runs" if leaderboard.trend else ""
    return (
        f"{CHART_HEADINGS[measure]}{runs}. {describe_table(author_table(leaderboard, len(rows)))}"
    )


def axis_range(intervals: Iterable[Interval]) -> tuple[float, float]:
    """Return a range in tenths around all intervals and one half, at least 0.2 wide."""
    ends = [0.5, *(end for interval in intervals for end in interval)]
    bottom = min(4, max(0, floor(min(ends) * 10 + 1e-9)))
    top = max(6, min(10, ceil(max(ends) * 10 - 1e-9)))
    return bottom / 10, top / 10


def axis_ticks(low: float, high: float) -> Iterator[float]:
    """Yield at most six round shares from low to high, including one half."""
    steps = 10 if high - low <= 0.5 + 1e-9 else 4  # of which one half is a multiple
    numbers = range(ceil(low * steps - 1e-9), floor(high * steps + 1e-9) + 1)
    yield from (number / steps for number in numbers)


def _draw_chart(leaderboard: Leaderboard, bottom: float, canvas: Canvas) -> None:
    rows, has_trend = leaderboard.board.rows, bool(leaderboard.trend)
    right = WIDTH - MARGIN - (_TREND_WIDTH + 22 if has_trend else 0)
    axes = canvas.axes(MARGIN + _TICK_MARGIN, _TOP_HEIGHT, right - _TICK_MARGIN, bottom)
    charted = [_charted(leaderboard.board, line) for line in rows]
    low, high = axis_range(one[1] for one in charted if one)
    ticks = [*axis_ticks(low, high)]
    axes.set_xlim(low, high)
    axes.set_xticks(ticks, [*map(percent, ticks)])
    axes.spines.bottom.set_visible(True)
    canvas.note(MARGIN, 16, CHART_HEADINGS[leaderboard.board.ranked_by])
    for row, line in enumerate(rows):
        corner = _TOP_HEIGHT + row * _ROW_HEIGHT, right
        _draw_row(canvas, axes, leaderboard, line, corner)
    if has_trend:
        _draw_trends(canvas, leaderboard, bottom)


def _charted(board: Board, line: AuthorLine) -> tuple[float, Interval] | None:
    """Return the value and interval of a line that the chart shows; None without one."""
    if board.ranked_by is RankedBy.POINTS:
        return None if line.share is None else (line.share, line.ci)
    return None if line.grade is None else (line.grade, line.grade_ci or FULL_RANGE)


def _draw_row(
    canvas: Canvas,
    axes: "Axes",
    leaderboard: Leaderboard,
    line: AuthorLine,
    corner: tuple[float, float],
) -> None:
    """Draw a member's name above its interval, below and left of a corner."""
    top, right = corner
    name, charted = leaderboard.name(line.member), _charted(leaderboard.board, line)
    is_first = line.place == 1
    canvas.text(MARGIN, top + 18, place_text(line), bold=is_first)
    name_width = right - _NAME_LEFT - _VALUE_WIDTH
    canvas.name(_NAME_LEFT, top + 18, name, name_width, bold=is_first)
    if charted is None:
        canvas.note(right, top + 18, "not ranked", "right")
        return
    value, interval = charted
    canvas.text(right, top + 18, percent(value), align="right", bold=is_first)
    y = top + 35
    axes.plot([0.5, 0.5], [y - 7, y + 7], color=Colour.RULE, lw=1)
    axes.plot(interval, [y, y], color=_colours(line)[0], lw=3)
    draw_dot(axes, value, y, 4.5, _colours(line)[0])


def _colours(line: AuthorLine) -> tuple[Colour, Colour]:
    if line.place == 1:
        return Colour.FIRST, Colour.FIRST_BAND
    return Colour.OTHER, Colour.OTHER_BAND


def _draw_trends(canvas: Canvas, leaderboard: Leaderboard, bottom: float) -> None:
    runs = leaderboard.trend
    by_run = [{point.member: point for point in run.points} for run in runs]
    trends = [[run.get(line.member) for run in by_run] for line in leaderboard.board.rows]
    left, right, swing = WIDTH - MARGIN - _TREND_WIDTH, WIDTH - MARGIN, _trend_swing(trends)
    canvas.note(left, 16, f"Runs, ±{swing * 100:.0f} points")
    first, last = runs[0].at, runs[-1].at
    canvas.note(left, bottom + 17, f"{first.day} {first:%b}")
    if last.date() != first.date():
        canvas.note(right, bottom + 17, f"{last.day} {last:%b}", "right")
    for row, (line, points) in enumerate(zip(leaderboard.board.rows, trends, strict=True)):
        if _charted(leaderboard.board, line) and any(points):
            mean, top = _mean_share(points), _TOP_HEIGHT + row * _ROW_HEIGHT
            axes = canvas.axes(left + 4, top + 6, right - 4, top + _ROW_HEIGHT - 6)
            axes.set_xlim(0, len(points) - 1)
            axes.set_ylim(mean - swing, mean + swing)
            axes.axhline(mean, color=Colour.RULE, lw=1)
            colour, band = _colours(line)
            _draw_trend(axes, points, colour, band)


def _mean_share(points: _Points) -> float:
    return fmean(point.share for point in points if point)


def _trend_swing(trends: Iterable[_Points]) -> float:
    """Return the largest distance of a run's interval from its member's mean, in steps of 0.05."""
    swings = [0.05]
    for points in filter(any, trends):
        mean = _mean_share(points)
        swings += [abs(end - mean) for point in points if point for end in point.ci]
    return ceil(max(swings) * 20 - 1e-9) / 20


def _draw_trend(axes: "Axes", runs: _Points, colour: Colour, band_colour: Colour) -> None:
    """Draw a member's runs as a line in its intervals; a missed run interrupts the line."""
    shares = [run.share if run else nan for run in runs]
    lows, highs = zip(*(run.ci if run else (nan, nan) for run in runs), strict=True)
    axes.fill_between(range(len(runs)), lows, highs, color=band_colour, lw=0)
    axes.plot(shares, color=colour, lw=1.5)
    present = [number for number, run in enumerate(runs) if run]
    for number in present:
        if not {number - 1, number + 1} & {*present}:
            axes.plot([number] * 2, [lows[number], highs[number]], color=band_colour, lw=6)
            draw_dot(axes, number, shares[number], 2, colour)
    draw_dot(axes, present[-1], shares[present[-1]], 3, colour)
