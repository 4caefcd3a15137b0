"""Chart of one round: where each judge put each answer, as a small heat map."""

from typing import TYPE_CHECKING

from bot.render.charts import (
    HEAT_COLOURS,
    MARGIN,
    NAME_SIZE,
    SMALL_SIZE,
    WIDTH,
    Canvas,
    Colour,
    Figure,
    fill_cell,
)
from bot.render.round_report.placements import NO_BALLOT_TEXT, OWN_TEXT, Placement, PlacementTable
from bot.render.text_safety import shorten, visible_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES_WIDTH, _HEADER_HEIGHT, _ROW_HEIGHT = 118.0, 96.0, 30.0
_MAX_HEADER_CHARACTERS = 17
_TITLE = "Place that each judge gave each answer"


def ranking_figure(table: PlacementTable) -> Figure | None:
    """Return the chart: a row for each judge, a column for each answer; None without a judge."""
    judges, answers = table.rows, table.columns
    if not judges or not answers:
        return None
    left, right = MARGIN + _NAMES_WIDTH, WIDTH - MARGIN
    column = min(64.0, (right - left - 30) / len(answers))
    bottom = _HEADER_HEIGHT + _ROW_HEIGHT * len(judges)

    def draw(canvas: Canvas) -> None:
        canvas.note(MARGIN, 14, _TITLE)
        axes = canvas.axes(left, _HEADER_HEIGHT, left + column * len(answers), bottom)
        axes.set_xlim(0, column * len(answers))
        for number, (_, name) in enumerate(answers):
            text = shorten(visible_line(name), _MAX_HEADER_CHARACTERS)
            x, y = (number + 0.5) * column, _HEADER_HEIGHT - 5
            axes.text(x, y, text, rotation=38, size=SMALL_SIZE, color=Colour.QUIET)
        for row, (judge, placements) in enumerate(judges):
            top = _HEADER_HEIGHT + row * _ROW_HEIGHT
            canvas.name(MARGIN, top + 19, judge, _NAMES_WIDTH - 8)
            for number, placement in enumerate(placements):
                _draw_cell(axes, placement, (number * column, top, column))

    return Figure(bottom + MARGIN, _description(table), draw)


def _draw_cell(axes: "Axes", placement: Placement, cell: tuple[float, float, float]) -> None:
    left, top, width = cell
    is_placed = placement.height is not None
    if placement.height is not None:
        edges = (left, top, left + width, top + _ROW_HEIGHT)
        fill_cell(axes, edges, HEAT_COLOURS[placement.height])
    axes.text(
        left + width / 2,
        top + 19,
        placement.text if is_placed else "–",
        size=NAME_SIZE if is_placed else SMALL_SIZE,
        color=Colour.TEXT if is_placed else Colour.QUIET,
        ha="center",
    )


def _description(table: PlacementTable) -> str:
    """Return each judge's places in words; chats read it out instead of the picture."""
    sentences = []
    for judge, placements in table.rows:
        named = zip(table.columns, placements, strict=True)
        places = [
            f"{author} {placement.text}"
            for (_, author), placement in named
            if placement.text not in {OWN_TEXT, NO_BALLOT_TEXT}
        ]
        sentences.append(f"{judge}: {', '.join(places) or 'no ranking'}.")
    return " ".join((f"{_TITLE}.", *sentences))
