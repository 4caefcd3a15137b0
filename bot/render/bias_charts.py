"""Charts of a bias report: heat map, slot curves and consistency bars."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

from bot.chat import File, Table
from bot.render.bias_findings import MIN_BALLOTS
from bot.render.bias_tables import given_table, kept_table, slots_table
from bot.render.bias_view import (
    TOO_LITTLE,
    BiasView,
    interval_text,
    number_text,
    p_text,
    sample_text,
)
from bot.render.charts import (
    HEAT_COLOURS,
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
)
from bot.render.formatting import count_noun, number_word
from bot.render.leaderboard_tables import percent, signed_number
from bot.render.text_safety import visible_line
from council.bias.report import Effect, GivenShare, JudgeBias, Slot

T = TypeVar("T")

_WIDTH = 390.0  # pixels: a phone's
_MARGIN = 14.0
_TOP = 28.0
_LINE_HEIGHT = 15.0  # of small text
_NAME_SIZE, _SMALL_SIZE = 12.5, 10.5  # font sizes
_MAX_JUDGES = 10  # judges on a chart; more would be too small to read
_HEAT_MAP_TITLE = "Who gave what to whom"
_HEAT_MAP_CAPTION = (
    "A row is a judge, a column an author by the number of its row; the number is the mean share "
    "of rivals that the judge says the author’s answers beat: 0 is last, 1 is first. Outlined is "
    "what a judge gives its own answer, which it sees on audit ballots alone."
)
_SLOT_TITLE = "Fondness for a slot"
_SLOT_CAPTION = (
    "Every answer stands in every slot equally often, so a judge without a fondness gives each "
    "slot one half: the line at 0. The bars are 95 % intervals."
)
_CONSISTENCY_TITLE = "Orders kept"
_CONSISTENCY_CAPTION = (
    "On some audit ballots a judge sees the same answers again in another order. Bars are 95 % "
    "intervals of the share of pairs it then puts in the same order; a coin keeps half."
)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart with its caption; `lines` describe it in words, `table` holds its numbers."""

    key: str
    title: str
    caption: str
    figure: Figure
    lines: tuple[str, ...]
    table: Table

    def file(self, picture: bytes) -> File:
        """Return its PNG as a file, with the description as alternative text."""
        return File(f"bias-{self.key}.png", self.figure.description, picture)


def render_drawings(bias: BiasView) -> tuple[Drawing, ...]:
    """Return the heat map, slot curves and consistency bars that have any data."""
    drawings = (_heat_map_drawing(bias), _slots_drawing(bias), _consistency_drawing(bias))
    return tuple(drawing for drawing in drawings if drawing.lines)


def _heat_map_drawing(bias: BiasView) -> Drawing:
    lines = tuple(_heat_map_lines(bias))
    figure, table = heat_map(bias), given_table(bias)
    return Drawing("given", _HEAT_MAP_TITLE, _HEAT_MAP_CAPTION, figure, lines, table)


def _slots_drawing(bias: BiasView) -> Drawing:
    lines = tuple(_slot_lines(bias))
    figure, table = slot_curves(bias), slots_table(bias)
    return Drawing("slots", _SLOT_TITLE, _SLOT_CAPTION, figure, lines, table)


def _consistency_drawing(bias: BiasView) -> Drawing:
    lines = tuple(_consistency_lines(bias))
    figure, table = consistency_bars(bias), kept_table(bias)
    return Drawing("kept", _CONSISTENCY_TITLE, _CONSISTENCY_CAPTION, figure, lines, table)


def empty_figure() -> Figure:
    """Return a figure that says that there is nothing to draw."""
    label = _heading_label("No judge has ranked an answer in these rounds yet.")
    return Figure(_WIDTH, 28, (label,), label.text)


# Shared layout


def _limit_judges(judges: Sequence[T]) -> tuple[Sequence[T], str]:
    """Return the judges that fit a chart, and how many more there are, in words."""
    hidden = len(judges) - _MAX_JUDGES
    note = f"{count_noun(hidden, 'more judge')} in the tables." if hidden > 0 else ""
    return judges[:_MAX_JUDGES], note


def _name_label(x: float, y: float, name: str, width: float) -> Label:
    """Return a name as a label no wider than `width`."""
    return Label(x, y, fit_text(visible_line(name), width, _NAME_SIZE), Colour.TEXT, _NAME_SIZE)


def _heading_label(text: str) -> Label:
    return Label(_MARGIN, 16, text, Colour.QUIET, _SMALL_SIZE)


def _footer_marks(lines: Sequence[str], top: float) -> Iterator[Mark]:
    """Yield lines of small text below a chart, without the empty ones."""
    for index, line in enumerate(filter(None, lines)):
        yield Label(_MARGIN, top + _LINE_HEIGHT * index, line, Colour.QUIET, _SMALL_SIZE)


def _footer_height(lines: Sequence[str]) -> float:
    """Return the height of such lines."""
    return _LINE_HEIGHT * len([*filter(None, lines)]) + 10


# Heat map

_NAMES_LEFT = 30.0  # where names begin
_CELLS_WIDTH, _MAX_CELL_WIDTH = 240.0, 42.0  # of all cells, and of one
_ROW_HEIGHT, _CELL_GAP = 32.0, 2.0
_HEAD_HEIGHT = 18.0

_OWN_NOTE = "Outlined: its own answer, as audit ballots showed it."
_NO_OWN_NOTE = "No judge was shown its own answer: audit ballots do so."
_FEW_NOTE = f"Not shaded: fewer than {number_word(MIN_BALLOTS)} ballots."

_Cells = Mapping[tuple[str, str], GivenShare]


@dataclass(frozen=True, slots=True)
class _HeatMap:
    """Seats as rows, and the authors among them as columns."""

    seats: Sequence[str]
    authors: Sequence[str]
    cells: _Cells
    note: str

    @property
    def cell_width(self) -> float:
        """Return the width of a cell."""
        return min(_MAX_CELL_WIDTH, _CELLS_WIDTH / max(1, len(self.authors)))

    @property
    def start(self) -> float:
        """Return where cells begin."""
        return _WIDTH - _MARGIN - self.cell_width * len(self.authors)

    def left(self, author: str) -> float:
        return self.start + self.cell_width * self.authors.index(author)


def heat_map(bias: BiasView) -> Figure:
    """Return the heat map of shares given; cells without data stay empty."""
    heat = _heat_map_cells(bias)
    bottom = _TOP + _HEAD_HEIGHT + _ROW_HEIGHT * len(heat.seats)
    footer = (
        _OWN_NOTE if _has_own(bias) else _NO_OWN_NOTE,
        _FEW_NOTE if _has_few(bias) else "",
        heat.note,
    )
    marks = [
        _heading_label("Mean share a judge (row) gave an author (column)"),
        *_column_labels(heat),
    ]
    for row, seat in enumerate(heat.seats):
        marks += _heat_map_row(bias, heat, seat, _TOP + _HEAD_HEIGHT + _ROW_HEIGHT * row)
    marks += _footer_marks(footer, bottom + 16)
    return Figure(
        _WIDTH, bottom + _footer_height(footer) + 6, tuple(marks), _heat_map_description(bias)
    )


def _heat_map_lines(bias: BiasView) -> Iterator[str]:
    """Yield what each judge gave to whom."""
    for judge in dict.fromkeys(one.judge for one in bias.report.given):
        shares = "; ".join(
            f"{'itself' if one.author == judge else bias.name(one.author)} "
            f"{number_text(one.share)}{f' (n {one.n})' if one.n < MIN_BALLOTS else ''}"
            for one in bias.report.given
            if one.judge == judge and one.share is not None
        )
        if shares:
            yield f"{bias.name(judge)} gave {shares}."


def _has_own(bias: BiasView) -> bool:
    return any(one.share is not None and one.judge == one.author for one in bias.report.given)


def _has_few(bias: BiasView) -> bool:
    return any(one.share is not None and one.n < MIN_BALLOTS for one in bias.report.given)


def _heat_map_description(bias: BiasView) -> str:
    lines = [*_heat_map_lines(bias)]
    if not lines:
        return "No judge has ranked an author’s answer yet."
    return " ".join(("Mean share each judge gave each author.", *lines))


def _heat_map_cells(bias: BiasView) -> _HeatMap:
    shares = bias.report.given
    judges = (judge.judge for judge in bias.report.judges)
    keys = [*dict.fromkeys((*judges, *(x.judge for x in shares), *(x.author for x in shares)))]
    seats, note = _limit_judges(keys)
    with_answers = {one.author for one in shares if one.share is not None}
    authors = [seat for seat in seats if seat in with_answers]
    return _HeatMap(seats, authors[:_MAX_JUDGES], {(x.judge, x.author): x for x in shares}, note)


def _column_labels(heat: _HeatMap) -> Iterator[Mark]:
    for author in heat.authors:
        number = heat.seats.index(author) + 1
        x = heat.left(author) + heat.cell_width / 2
        yield Label(x, _TOP + 12, str(number), Colour.QUIET, _SMALL_SIZE, "middle")


def _heat_map_row(bias: BiasView, heat: _HeatMap, seat: str, top: float) -> Iterator[Mark]:
    middle = top + _ROW_HEIGHT / 2 + 4
    yield Label(_MARGIN, middle, str(heat.seats.index(seat) + 1), Colour.QUIET, _SMALL_SIZE)
    yield _name_label(_NAMES_LEFT, middle, bias.name(seat), heat.start - _NAMES_LEFT - 4)
    for author in heat.authors:
        cell = heat.cells.get((seat, author))
        yield from _cell_marks(heat, author, top, cell)
        if seat == author and cell and cell.share is not None:
            yield Path(_cell_corners(heat, author, top, 1.5, closed=True), Colour.TEXT, 1.5)


def _cell_marks(heat: _HeatMap, author: str, top: float, cell: GivenShare | None) -> Iterator[Mark]:
    x, y = heat.left(author) + heat.cell_width / 2, top + _ROW_HEIGHT / 2 + 4
    if cell is None or cell.share is None:
        yield Label(x, y, "–", Colour.QUIET, _SMALL_SIZE, "middle")
        return
    level = max(0, min(len(HEAT_COLOURS) - 1, int(cell.share * len(HEAT_COLOURS))))
    if cell.n >= MIN_BALLOTS:
        yield Band(_cell_corners(heat, author, top, _CELL_GAP / 2), HEAT_COLOURS[level])
    colour = Colour.TEXT if cell.n >= MIN_BALLOTS else Colour.QUIET
    font_size = _SMALL_SIZE if heat.cell_width < _ROW_HEIGHT else _NAME_SIZE - 1
    yield Label(x, y, number_text(cell.share), colour, font_size, "middle")


def _cell_corners(
    heat: _HeatMap, author: str, top: float, inset: float, *, closed: bool = False
) -> tuple[tuple[float, float], ...]:
    left, right = heat.left(author) + inset, heat.left(author) + heat.cell_width - inset
    up, down = top + inset, top + _ROW_HEIGHT - inset
    corners = ((left, up), (right, up), (right, down), (left, down))
    # Repeat two corners so that the outline has no notch where it begins.
    return (*corners, *corners[:2]) if closed else corners


# Slot curves

_COLUMN_GAP = 14.0  # between the two columns
_SCALE_WIDTH = 30.0  # left of a curve, for its scale
_CURVE_HEIGHT, _EMPTY_CURVE_HEIGHT, _PLOT_HEIGHT = 132.0, 42.0, 56.0
_MIN_SCALE_END = 0.2  # the scale's end, at least


def slot_curves(bias: BiasView) -> Figure:
    """Return a curve for each judge, all on one scale."""
    judges, note = _limit_judges(bias.report.judges)
    scale_end = _scale_end(judges)
    marks: list[Mark] = [_heading_label("Share given at each slot, beyond one half")]
    top = _TOP
    for first in range(0, len(judges), 2):
        row = judges[first : first + 2]
        for column, judge in enumerate(row):
            marks += _curve_marks(
                bias, judge, (_MARGIN + column * (_curve_width() + _COLUMN_GAP), top), scale_end
            )
        top += _CURVE_HEIGHT if any(map(_known_slots, row)) else _EMPTY_CURVE_HEIGHT
    marks += _footer_marks((note,), top + 8)
    return Figure(_WIDTH, top + _footer_height((note,)), tuple(marks), _slot_description(bias))


def _slot_lines(bias: BiasView) -> Iterator[str]:
    """Yield what each judge gave at which slot."""
    for judge in bias.report.judges:
        slots = [
            f"slot {slot.number} {signed_number(slot.effect.value)}{_slot_interval(slot)}"
            for slot in judge.slots
            if slot.effect.value is not None
        ]
        if slots:
            p = p_text(judge.position)
            yield f"{bias.name(judge.judge)}: {', '.join(slots)}{f'; {p}' if p else ''}."


def _slot_interval(slot: Slot) -> str:
    return f" ({interval_text(slot.effect.interval)})" if slot.effect.interval else ""


def _slot_description(bias: BiasView) -> str:
    lines = [*_slot_lines(bias)]
    if not lines:
        return "Too little is known of any judge’s slots yet."
    return " ".join(("Share given at each slot beyond one half.", *lines))


def _curve_width() -> float:
    return (_WIDTH - 2 * _MARGIN - _COLUMN_GAP) / 2


def _slot_range(slot: Slot) -> tuple[float, float]:
    value = slot.effect.value or 0.0
    low, high = slot.effect.interval or (value, value)
    return min(low, value), max(high, value)


def _scale_end(judges: Sequence[JudgeBias]) -> float:
    """Return the end of the common scale, in tenths from 0.2 to 0.5."""
    ends = [abs(end) for judge in judges for slot in judge.slots for end in _slot_range(slot)]
    return min(0.5, ceil(max([_MIN_SCALE_END, *ends]) * 10 - 1e-9) / 10)


def _curve_marks(
    bias: BiasView, judge: JudgeBias, position: tuple[float, float], scale_end: float
) -> Iterator[Mark]:
    left, top = position
    yield _name_label(left, top + 14, bias.name(judge.judge), _curve_width())
    slots = _known_slots(judge)
    if not slots:
        yield Label(left, top + 29, TOO_LITTLE, Colour.QUIET, _SMALL_SIZE)
        return
    yield Label(left, top + 29, _position_verdict(judge), Colour.QUIET, _SMALL_SIZE)
    heights = Scale(-scale_end, scale_end, top + 46 + _PLOT_HEIGHT, top + 46)
    yield from _scale_marks(left, heights, scale_end)
    slot_count = max(slot.number for slot in judge.slots)
    across = Scale(1, max(2, slot_count), left + _SCALE_WIDTH + 8, left + _curve_width() - 8)
    for number in range(1, slot_count + 1):
        yield Label(
            across.at(number),
            top + 62 + _PLOT_HEIGHT,
            str(number),
            Colour.QUIET,
            _SMALL_SIZE,
            "middle",
        )
    yield from _curve_points(judge, slots, across, heights)


def _known_slots(judge: JudgeBias) -> Sequence[Slot]:
    return [slot for slot in judge.slots if slot.effect.value is not None]


def _position_verdict(judge: JudgeBias) -> str:
    p_value = p_text(judge.position)
    if not p_value:
        return TOO_LITTLE
    return f"beyond chance, {p_value}" if judge.position.is_found else f"may be chance, {p_value}"


def _scale_marks(left: float, heights: Scale, scale_end: float) -> Iterator[Mark]:
    for number in (scale_end, 0.0, -scale_end):
        y = heights.at(number)
        text = signed_number(number) if number else "0"
        yield Label(left + _SCALE_WIDTH - 5, y + 4, text, Colour.QUIET, _SMALL_SIZE, "end")
        if not number:
            yield Stroke(left + _SCALE_WIDTH, y, left + _curve_width(), y, Colour.RULE)


def _curve_points(
    judge: JudgeBias, slots: Sequence[Slot], across: Scale, heights: Scale
) -> Iterator[Mark]:
    """Yield the curve; a judge beyond chance has the stronger colour."""
    colour = Colour.FIRST if judge.position.is_found else Colour.OTHER
    points = [
        (across.at(x.number), heights.at(_clamp(x.effect.value or 0, heights))) for x in slots
    ]
    for (x, _), slot in zip(points, slots, strict=True):
        if slot.effect.interval:
            low, high = (heights.at(_clamp(end, heights)) for end in slot.effect.interval)
            yield Stroke(x, low, x, high, colour, 2)
    if len(points) > 1:
        yield Path(tuple(points), colour)
    for x, y in points:
        yield Dot(x, y, 3.5, colour)


def _clamp(number: float, heights: Scale) -> float:
    """Return a number limited to the scale."""
    return max(heights.low, min(heights.high, number))


# Consistency bars

_BAR_HEIGHT = 44.0
_VALUE_WIDTH = 190.0  # width of the value at the end of a name's line
_CHANCE = 0.5
_SCALE = Scale(0, 1, _MARGIN + 10, _WIDTH - _MARGIN - 10, (0, 0.25, 0.5, 0.75, 1))


def consistency_bars(bias: BiasView) -> Figure:
    """Return a bar for each judge, on one scale from 0 to 1."""
    judges, note = _limit_judges(bias.report.judges)
    bottom = _TOP + _BAR_HEIGHT * len(judges)
    marks: list[Mark] = [_heading_label("Pairs kept in order when shown in another, 95 % interval")]
    for row, judge in enumerate(judges):
        marks += _bar_marks(bias, judge, _TOP + _BAR_HEIGHT * row)
    marks += _axis_marks(bottom)
    marks += _footer_marks((note,), bottom + 36)
    return Figure(
        _WIDTH, bottom + 24 + _footer_height((note,)), tuple(marks), _consistency_description(bias)
    )


def _consistency_lines(bias: BiasView) -> Iterator[str]:
    """Yield how many pair orders each judge kept."""
    for judge in bias.report.judges:
        kept = judge.kept
        if kept.value is not None:
            interval = interval_text(kept.interval, percent)
            details = ", ".join(filter(None, (interval, sample_text(kept))))
            yield f"{bias.name(judge.judge)} kept {percent(kept.value)} ({details})."


def _consistency_description(bias: BiasView) -> str:
    lines = [*_consistency_lines(bias)]
    if not lines:
        return "No judge has seen the same answers in another order yet."
    return " ".join(("Share of pairs kept in order; a coin keeps 50 %.", *lines))


def _bar_marks(bias: BiasView, judge: JudgeBias, top: float) -> Iterator[Mark]:
    end, kept = _WIDTH - _MARGIN, judge.kept
    yield _name_label(_MARGIN, top + 16, bias.name(judge.judge), end - _MARGIN - _VALUE_WIDTH)
    y = top + 31
    middle = _SCALE.at(_CHANCE)
    yield Stroke(middle, y - 8, middle, y + 8, Colour.QUIET)
    if kept.value is None:
        yield Label(end, top + 16, TOO_LITTLE, Colour.QUIET, _SMALL_SIZE, "end")
        return
    yield Label(
        end,
        top + 16,
        f"{percent(kept.value)}{_consistency_note(kept)}",
        Colour.TEXT,
        _NAME_SIZE,
        "end",
    )
    if kept.interval:
        low, high = (_SCALE.at(max(0.0, min(1.0, x))) for x in kept.interval)
        yield Stroke(low, y, high, y, Colour.OTHER, 3)
    yield Dot(_SCALE.at(max(0.0, min(1.0, kept.value))), y, 4.5, Colour.OTHER)


def _consistency_note(kept: Effect) -> str:
    """Return a note if a judge cannot be told from a coin."""
    if kept.interval and kept.interval[0] <= _CHANCE:
        return ", may be chance" if kept.interval[1] >= _CHANCE else ", worse than a coin"
    return ""


def _axis_marks(bottom: float) -> Iterator[Mark]:
    yield Stroke(_SCALE.start, bottom + 4, _SCALE.end, bottom + 4, Colour.RULE)
    for tick in _SCALE.ticks:
        x = _SCALE.at(tick)
        text = "chance, 50 %" if tick == _CHANCE else percent(tick)
        yield Stroke(x, bottom + 4, x, bottom + 8, Colour.RULE)
        yield Label(x, bottom + 21, text, Colour.QUIET, _SMALL_SIZE, "middle")
