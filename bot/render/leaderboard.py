"""A leaderboard's figure, laid out for a phone's width: a row a member, best first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from bot.chat import File, Heading, Line, Note, Part, Post, Thread
from bot.render.charts import Band, Colour, Dot, Figure, Label, Mark, Path, Scale, Stroke, fitting
from bot.render.formatting import counted
from bot.render.leaderboard_export import csv_of
from bot.render.leaderboard_tables import (
    Bar,
    Chart,
    Leaderboard,
    Spread,
    author_table,
    covers,
    heading,
    judge_table,
    mean_of,
    nothing,
    percent,
    range_of,
    swing_of,
    ticks_of,
    told,
)
from bot.render.leaderboard_text import (
    QUIET,
    SHARED,
    compared,
    decided,
    news_lines,
    run_off_line,
    worth_lines,
    worth_table,
)
from bot.render.leaderboard_weighted import weighted_parts
from bot.render.text_safety import shown_text
from council.bakeoffs.changes import Changes

# --- A leaderboard's figure, laid out for a phone's width: a row a member, best first.

WIDTH = 390.0
_MARGIN = 14.0
_INDENT = 34.0  # where names begin, beside their places
_GUTTER = 22.0
_TREND = 112.0  # the width of one member's runs
_TOP, _ROW, _FOOT = 28.0, 50.0, 30.0
_NAME, _SMALL = 12.5, 10.5  # sizes of text
_VALUE = 52.0  # the room for a share, at the end of a name's line
_DOT, _BAR = 4.0, 3.0
_HALF = 0.5  # of the rivals: what chance beats


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Where things stand: the line for shares, and the runs' where there are any.

    `swing` is how far above and below its mean each member's runs are shown.
    """

    chart: Chart
    shares: Scale
    across: tuple[float, float] | None
    swing: float

    @property
    def bottom(self) -> float:
        return _TOP + _ROW * len(self.chart.bars)


def figure_of(chart: Chart) -> Figure:
    """Give the figure of a leaderboard."""
    shown = chart.newest()
    sheet = _sheet(shown)
    marks = [*_frame(sheet)]
    for row, bar in enumerate(shown.bars):
        marks += _bar(sheet, bar, _TOP + row * _ROW)
    return Figure(WIDTH, sheet.bottom + _FOOT, tuple(marks), told(shown))


def _sheet(chart: Chart) -> _Sheet:
    right = WIDTH - _MARGIN
    across = (right - _TREND, right) if chart.has_trend else None
    end = across[0] - _GUTTER if across else right
    low, high = range_of(bar.spread for bar in chart.bars)
    # The outermost ticks are named under the line's ends, and must not be cut.
    shares = Scale(low, high, _MARGIN + 6, end - 6, tuple(ticks_of(low, high)))
    return _Sheet(chart, shares, across, swing_of(chart.bars))


def _frame(sheet: _Sheet) -> Iterator[Mark]:
    """Give what all rows share: headings, the line at one half, and the ends of the scales."""
    yield Label(_MARGIN, 16, heading(sheet.chart), Colour.QUIET, _SMALL)
    for tick in sheet.shares.ticks:
        x = sheet.shares.at(tick)
        yield Stroke(x, sheet.bottom, x, sheet.bottom + 4, Colour.RULE)
        yield Label(x, sheet.bottom + 17, percent(tick), Colour.QUIET, _SMALL, "middle")
    yield Stroke(sheet.shares.start, sheet.bottom, sheet.shares.end, sheet.bottom, Colour.RULE)
    if sheet.across:
        yield from _runs_frame(sheet, *sheet.across)


def _runs_frame(sheet: _Sheet, left: float, right: float) -> Iterator[Mark]:
    title = f"Runs, ±{sheet.swing * 100:.0f} points"
    yield Label(left, 16, title, Colour.QUIET, _SMALL)
    first, last = sheet.chart.days[0], sheet.chart.days[-1]
    yield Label(left, sheet.bottom + 17, _day(first), Colour.QUIET, _SMALL)
    if last != first:
        yield Label(right, sheet.bottom + 17, _day(last), Colour.QUIET, _SMALL, "end")


def _day(day: date) -> str:
    return f"{day.day} {day:%b}"


def _bar(sheet: _Sheet, bar: Bar, top: float) -> Iterator[Mark]:
    """Give a member's row: its name over its interval, its runs beside them."""
    is_first = bar.place == 1
    ink, band = (Colour.FIRST, Colour.FIRST_BAND) if is_first else (Colour.OTHER, Colour.OTHER_BAND)
    end = sheet.shares.end + 6
    name = " ".join(shown_text(bar.name).split())
    title = fitting(name, end - _INDENT - _VALUE, _NAME, bold=is_first)
    yield Label(_MARGIN, top + 18, str(bar.place or "–"), Colour.TEXT, _NAME, bold=is_first)
    yield Label(_INDENT, top + 18, title, Colour.TEXT, _NAME, bold=is_first)
    if not bar.spread:
        yield Label(end, top + 18, "no share", Colour.QUIET, _SMALL, "end")
        return
    yield Label(end, top + 18, percent(bar.spread.share), Colour.TEXT, _NAME, "end", is_first)
    y = top + 35
    half = sheet.shares.at(_HALF)
    yield Stroke(half, y - 7, half, y + 7, Colour.RULE)
    low, high = map(sheet.shares.at, bar.spread.reach)
    if high > low:
        yield Stroke(low, y, high, y, ink, _BAR)
    yield Dot(sheet.shares.at(bar.spread.share), y, _DOT + 0.5, ink)
    mean = mean_of(bar.runs)
    if sheet.across and mean is not None:
        heights = Scale(mean - sheet.swing, mean + sheet.swing, top + _ROW - 6, top + 6)
        yield from _runs(sheet.across, heights, bar.runs, (ink, band))


def _within(stretch: Sequence[tuple[float, Spread]], heights: Scale, band: Colour) -> Mark:
    """Give the intervals of runs that follow each other, or of one that stands alone."""
    tops = [(x, heights.at(run.reach[1])) for x, run in stretch]
    bottoms = [(x, heights.at(run.reach[0])) for x, run in stretch]
    if len(stretch) == 1:
        return Stroke(*tops[0], *bottoms[0], band, 2 * _BAR)
    return Band((*tops, *reversed(bottoms)), band)


def _runs(
    across: tuple[float, float],
    heights: Scale,
    runs: Sequence[Spread | None],
    inks: tuple[Colour, Colour],
) -> Iterator[Mark]:
    """Give a member's runs as a line in its intervals; a run it missed parts the line."""
    left, right = across
    ink, band = inks
    step = (right - left - 2 * _DOT) / max(len(runs) - 1, 1)
    xs = [left + _DOT + step * at for at in range(len(runs))]
    middle = (heights.start + heights.end) / 2
    stretches = [
        [(x, run) for x, run in stretch if run]
        for held, stretch in groupby(zip(xs, runs, strict=True), lambda one: bool(one[1]))
        if held
    ]
    for stretch in stretches:
        yield _within(stretch, heights, band)
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

SHOWN = 5
AS_AUTHORS = "As authors"
AS_JUDGES = "As judges"
WEIGHED = "With judges that do not all weigh alike"
WORTH_IT = "Is the council worth it here?"
COUNTED = "What is counted, and how the places came about"
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
    root = Post(tuple(_root(shown, as_judge=as_judge)), summary_of(shown))
    return Thread(root, tuple(_replies(shown, picture, as_judge=as_judge)))


def summary_of(shown: Leaderboard) -> str:
    """Give the leaderboard in one line: who is first, after how many rounds."""
    first = [shown.name(line.member) for line in shown.board.rows if line.place == 1]
    rounds = counted(shown.coverage.rounds, "round")
    if len(first) == 1:
        return f"{shown.title}: {first[0]} first, {rounds}"
    together = f"{counted(len(first), 'member')} share the first place, " if first else ""
    return f"{shown.title}: {together}{rounds}"


def _root(shown: Leaderboard, *, as_judge: bool) -> Iterator[Part]:
    yield Heading(shown.title)
    if shown.changes:
        yield from _news(shown.changes, shown.names)
    if as_judge:
        yield judge_table(shown)
        yield Note(f"{HOW_JUDGES} {covers(shown.coverage)}")
    else:
        yield author_table(shown, SHOWN)
        yield Note(" ".join(filter(None, _honest(shown))))


def _news(changes: Changes, names: Mapping[str, str]) -> Iterator[Part]:
    lines = [*news_lines(changes, names)]
    yield from map(Line, lines)
    if changes.runs and not lines:
        yield Note(f"{QUIET} {compared(changes)}")


def _honest(shown: Leaderboard) -> Iterator[str]:
    more = len(shown.board.rows) - SHOWN
    if more > 0:
        yield f"{counted(more, 'more member')} in the thread."
    yield SHARED
    yield run_off_line(shown)
    yield covers(shown.coverage)


def _replies(shown: Leaderboard, picture: bytes, *, as_judge: bool) -> Iterator[Post]:
    if picture:
        yield Post((picture_file(shown, picture),), "leaderboard.png")
    yield Post((Heading(AS_AUTHORS), author_table(shown), Note(HOW_AUTHORS)), AS_AUTHORS)
    if shown.judges.rows and not as_judge:
        yield Post((Heading(AS_JUDGES), judge_table(shown), Note(HOW_JUDGES)), AS_JUDGES)
    if beside := weighted_parts(shown):
        yield Post(beside, WEIGHED)
    if table := worth_table(shown):
        yield Post((Heading(WORTH_IT), table, *map(Line, worth_lines(shown))), WORTH_IT)
    lines = (covers(shown.coverage), *decided(shown))
    yield Post((Heading(COUNTED), *map(Line, lines)), COUNTED)
    yield Post((File("leaderboard.csv", csv_of(shown)),), "leaderboard.csv")


def picture_file(shown: Leaderboard, picture: bytes) -> File:
    """Give the figure as a file of a post, told in words as well."""
    return File("leaderboard.png", told(shown.chart.newest()), picture)


# --- Leaderboards as people see them: in chats, on the page, in the terminal, as files.


def picture_of(shown: Leaderboard) -> bytes:
    """Give a leaderboard's figure as a PNG; it takes a moment, so do it in a thread."""
    from bot.render.charts import png_of

    return png_of(figure_of(shown.chart))
