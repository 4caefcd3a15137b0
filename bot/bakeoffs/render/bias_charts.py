"""Charts of a bias report: heat map, slot curves and consistency bars."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, TypeVar

from bot.bakeoffs.render.bias_findings import (
    MIN_BALLOTS,
    consistency_lines,
    position_lines,
    preference_lines,
)
from bot.bakeoffs.render.bias_tables import (
    TOO_LITTLE,
    BiasView,
    given_table,
    kept_table,
    number_text,
    p_text,
    slots_table,
)
from bot.bakeoffs.render.leaderboard_tables import percent, signed_number
from bot.chat import Table
from bot.render.charts import (
    HEAT_COLOURS,
    MARGIN,
    NAME_SIZE,
    SMALL_SIZE,
    WIDTH,
    Canvas,
    Colour,
    Figure,
    draw_dot,
    fill_cell,
)
from bot.render.formatting import count_noun, describe_table, number_word
from council.bakeoffs.bias.report import Effect, GivenShare, JudgeBias, Slot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")

_TOP = 28.0
_LINE_HEIGHT = 15.0  # of small text
_MAX_JUDGES = 10  # judges on a chart; more would be too small to read


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart with its caption, what follows from it, and a table of its numbers."""

    title: str
    conclusions: tuple[str, ...]
    caption: str
    figure: Figure
    table: Table


def render_drawings(bias: BiasView) -> tuple[Drawing, ...]:
    """Return the heat map, slot curves and consistency bars that have enough data."""
    drawings = (_heat_map(bias), _slot_curves(bias), _consistency_bars(bias))
    return tuple(filter(None, drawings))


def empty_figure() -> Figure:
    """Return a figure that says that there is nothing to draw."""
    text = "No judge has ranked an answer in these rounds yet."
    return Figure(28, text, lambda canvas: canvas.note(MARGIN, 16, text))


# --- Shared layout


def _limit_judges(judges: Sequence[T]) -> tuple[Sequence[T], str]:
    hidden = len(judges) - _MAX_JUDGES
    note = f"{count_noun(hidden, 'more judge')} in the tables." if hidden > 0 else ""
    return judges[:_MAX_JUDGES], note


def _figure(
    heading: str,
    table: Table,
    bottom: float,
    footer: Sequence[str],
    draw: Callable[[Canvas], None],
) -> Figure:
    """Return a figure with a heading above its drawing and lines of small text below."""
    notes = [*filter(None, footer)]

    def draw_all(canvas: Canvas) -> None:
        canvas.note(MARGIN, 16, heading)
        draw(canvas)
        for index, line in enumerate(notes):
            canvas.note(MARGIN, bottom + 16 + _LINE_HEIGHT * index, line)

    height = bottom + _LINE_HEIGHT * len(notes) + 10
    return Figure(height, f"{heading}. {describe_table(table)}", draw_all)


# --- Heat map

_NAMES_LEFT = 32.0  # where names begin
_CELL_WIDTH, _ROW_HEIGHT = 42.0, 32.0
_MAX_CELLS_WIDTH = 250.0  # of a row; with many authors, cells are narrower
_HEAD_HEIGHT = 18.0


def _heat_map(bias: BiasView) -> Drawing | None:
    """Return the shares given: seats as rows, the authors among them as columns."""
    given = [one for one in bias.report.given if one.share is not None]
    if not any(one.n >= MIN_BALLOTS for one in given):
        return None
    judges = (judge.judge for judge in bias.report.judges)
    known = {seat for one in given for seat in (one.judge, one.author)}
    shown = (seat for one in given for seat in (one.judge, one.author))
    every = dict.fromkeys((*(judge for judge in judges if judge in known), *shown))
    seats, note = _limit_judges([*every])
    authors = [seat for seat in seats if seat in {one.author for one in given}]
    bottom = _TOP + _HEAD_HEIGHT + _ROW_HEIGHT * len(seats)
    few_note = f"Not shaded: fewer than {number_word(MIN_BALLOTS)} rankings."
    footer = (
        "Outlined: its own answer, from audit rankings."
        if any(one.judge == one.author for one in given)
        else "No judge saw its own answer; audit rankings would show that.",
        few_note if any(one.n < MIN_BALLOTS for one in given) else "",
        note,
    )

    def draw(canvas: Canvas) -> None:
        width = min(_CELL_WIDTH, _MAX_CELLS_WIDTH / max(1, len(authors)))
        left = WIDTH - MARGIN - width * len(authors)
        cells = {(one.judge, one.author): one for one in given}
        columns = {author: left + width * at for at, author in enumerate(authors)}
        axes = canvas.axes(0, 0, WIDTH, bottom)
        axes.set_xlim(0, WIDTH)
        for author, x in columns.items():
            canvas.note(x + width / 2, _TOP + 12, str(seats.index(author) + 1), "center")
        for row, seat in enumerate(seats):
            top = _TOP + _HEAD_HEIGHT + _ROW_HEIGHT * row
            middle = top + _ROW_HEIGHT / 2 + 4
            canvas.note(MARGIN, middle, str(row + 1))
            canvas.name(_NAMES_LEFT, middle, bias.name(seat), left - 4 - _NAMES_LEFT)
            for author, x in columns.items():
                edges = (x, top, x + width, top + _ROW_HEIGHT)
                _draw_cell(canvas, axes, edges, cells.get((seat, author)))

    heading = "Average points from each judge (row) to each author (column)"
    caption = (
        "A row is a judge, a column an author, by the number of its row. The number is the "
        "average share of rivals that the judge ranked below the author’s answers: 0 is last, 1 "
        "is first. Outlined is what a judge gives its own answer, which it sees only on audit "
        "rankings."
    )
    table = given_table(bias)
    figure = _figure(heading, table, bottom, footer, draw)
    conclusions = tuple(preference_lines(bias)) or (_no_preference_line(bias),)
    return Drawing("How judges rated each author", conclusions, caption, figure, table)


def _no_preference_line(bias: BiasView) -> str:
    effects = (effect for judge in bias.report.judges for effect in (judge.own, judge.family))
    if any(effect.value is not None for effect in effects):
        return "No judge prefers its own answers or its family’s beyond chance."
    return "A row shows the taste of one judge, a column how all judges see one author."


def _draw_cell(
    canvas: Canvas,
    axes: "Axes",
    edges: tuple[float, float, float, float],
    given: GivenShare | None,
) -> None:
    """Draw a share with its shade; a judge's own answer has an outline."""
    left, top, right, bottom = edges
    x, y = (left + right) / 2, (top + bottom) / 2 + 4
    if given is None or given.share is None:
        canvas.note(x, y, "–", "center")
        return
    is_shaded = given.n >= MIN_BALLOTS
    level = max(0, min(len(HEAT_COLOURS) - 1, int(given.share * len(HEAT_COLOURS))))
    shade = HEAT_COLOURS[level] if is_shaded else "none"
    outline = Colour.TEXT if given.judge == given.author else "none"
    fill_cell(axes, edges, shade, outline)
    size = SMALL_SIZE if right - left < _CELL_WIDTH else NAME_SIZE - 1
    colour = Colour.TEXT if is_shaded else Colour.QUIET
    canvas.text(x, y, number_text(given.share), size, colour=colour, align="center")


# --- Slot curves

_COLUMN_GAP = 14.0  # between the two columns
_CURVE_WIDTH = (WIDTH - 2 * MARGIN - _COLUMN_GAP) / 2
_CURVE_HEIGHT, _PLOT_HEIGHT = 132.0, 56.0


def _slot_curves(bias: BiasView) -> Drawing | None:
    judges, note = _limit_judges([judge for judge in bias.report.judges if _known_slots(judge)])
    if not judges:
        return None
    scale_end = _scale_end(judges)
    pairs = [judges[first : first + 2] for first in range(0, len(judges), 2)]

    def draw(canvas: Canvas) -> None:
        for row, pair in enumerate(pairs):
            for column, judge in enumerate(pair):
                left = MARGIN + column * (_CURVE_WIDTH + _COLUMN_GAP)
                top = _TOP + _CURVE_HEIGHT * row
                canvas.name(left, top + 14, bias.name(judge.judge), _CURVE_WIDTH)
                canvas.note(left, top + 29, _position_verdict(judge))
                _draw_curve(canvas, judge, (left, top + 46), scale_end)

    heading = "Points given by position shown, above or below one half"
    caption = (
        "Every answer is shown equally often in each position, so an unbiased judge gives each "
        "position one half: the line at 0. The bars are 95 % intervals."
    )
    table = slots_table(bias)
    figure = _figure(heading, table, _TOP + _CURVE_HEIGHT * len(pairs), (note,), draw)
    conclusions = tuple(position_lines(bias)) or ("No judge favours a position beyond chance.",)
    return Drawing("Position bias", conclusions, caption, figure, table)


def _slot_range(slot: Slot) -> tuple[float, float]:
    value = slot.effect.value or 0.0
    low, high = slot.effect.interval or (value, value)
    return min(low, value), max(high, value)


def _scale_end(judges: Sequence[JudgeBias]) -> float:
    """Return the end of the common scale, in tenths from 0.2 to 0.5."""
    ends = [abs(end) for judge in judges for slot in judge.slots for end in _slot_range(slot)]
    return min(0.5, ceil(max([0.2, *ends]) * 10 - 1e-9) / 10)


def _known_slots(judge: JudgeBias) -> Sequence[Slot]:
    return [slot for slot in judge.slots if slot.effect.value is not None]


def _position_verdict(judge: JudgeBias) -> str:
    p_value = p_text(judge.position)
    if not p_value:
        return TOO_LITTLE
    return f"beyond chance, {p_value}" if judge.position.is_found else f"may be chance, {p_value}"


def _draw_curve(
    canvas: Canvas, judge: JudgeBias, corner: tuple[float, float], scale_end: float
) -> None:
    """Draw a curve; that of a judge beyond chance has the stronger colour."""
    left, top = corner
    numbers = range(1, max(slot.number for slot in judge.slots) + 1)
    axes = canvas.axes(left + 30, top, left + _CURVE_WIDTH, top + _PLOT_HEIGHT)
    axes.set_xlim(0.8, max(2, numbers[-1]) + 0.2)
    axes.set_ylim(-scale_end, scale_end)
    axes.set_xticks(numbers)
    ends = (-scale_end, 0, scale_end)
    axes.set_yticks(ends, [signed_number(end) if end else "0" for end in ends])
    axes.axhline(0, color=Colour.RULE, lw=1)
    colour = Colour.FIRST if judge.position.is_found else Colour.OTHER
    slots = _known_slots(judge)
    values = [_clamp(slot.effect.value or 0, -scale_end, scale_end) for slot in slots]
    axes.plot([slot.number for slot in slots], values, color=colour, lw=1.5)
    for slot, value in zip(slots, values, strict=True):
        low, high = (_clamp(end, -scale_end, scale_end) for end in _slot_range(slot))
        axes.plot([slot.number] * 2, [low, high], color=colour, lw=2)
        draw_dot(axes, slot.number, value, 3.5, colour)


def _clamp(number: float, low: float, high: float) -> float:
    return max(low, min(high, number))


# --- Consistency bars

_BAR_HEIGHT = 44.0
_CHANCE = 0.5
_TICKS = (0, 0.25, _CHANCE, 0.75, 1)


def _consistency_bars(bias: BiasView) -> Drawing | None:
    judges, note = _limit_judges([judge for judge in bias.report.judges if _is_bar(judge.kept)])
    if not judges:
        return None
    bottom = _TOP + _BAR_HEIGHT * len(judges) + 4

    def draw(canvas: Canvas) -> None:
        axes = canvas.axes(MARGIN + 10, _TOP, WIDTH - MARGIN - 10, bottom)
        axes.set_xlim(0, 1)
        labels = ["chance, 50 %" if tick == _CHANCE else percent(tick) for tick in _TICKS]
        axes.set_xticks(_TICKS, labels)
        axes.spines.bottom.set_visible(True)
        for row, judge in enumerate(judges):
            top = _TOP + _BAR_HEIGHT * row
            # The rest of the line is for the value.
            canvas.name(MARGIN, top + 16, bias.name(judge.judge), WIDTH - 2 * MARGIN - 190)
            _draw_bar(canvas, axes, judge.kept, top)

    heading = "Pairs ranked the same way in another order, 95 % interval"
    caption = (
        "For some audit rankings a judge sees the same answers again in another order. Bars are "
        "95 % intervals of the share of pairs it then ranks the same way. Chance gives half."
    )
    table = kept_table(bias)
    figure = _figure(heading, table, bottom + 20, (note,), draw)
    conclusions = tuple(consistency_lines(bias)) or (
        "Every judge shown here ranks most pairs the same way when the order changes.",
    )
    return Drawing("Consistency", conclusions, caption, figure, table)


def _is_bar(kept: Effect) -> bool:
    return kept.value is not None and kept.n >= MIN_BALLOTS


def _draw_bar(canvas: Canvas, axes: "Axes", kept: Effect, top: float) -> None:
    """Draw what a judge kept: in words, as a dot and as a bar, with a mark at chance."""
    right, y = WIDTH - MARGIN, top + 31
    axes.plot([_CHANCE] * 2, [y - 8, y + 8], color=Colour.QUIET, lw=1)
    if kept.value is None:
        return
    canvas.text(right, top + 16, f"{percent(kept.value)}{_chance_note(kept)}", align="right")
    low, high = (_clamp(end, 0, 1) for end in kept.interval or (kept.value, kept.value))
    axes.plot([low, high], [y, y], color=Colour.OTHER, lw=3)
    draw_dot(axes, _clamp(kept.value, 0, 1), y, 4.5, Colour.OTHER)


def _chance_note(kept: Effect) -> str:
    if kept.interval and kept.interval[0] <= _CHANCE:
        return ", may be chance" if kept.interval[1] >= _CHANCE else ", worse than chance"
    return ""
