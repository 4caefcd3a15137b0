"""A figure as a PNG picture for chats and files, the same bytes whenever it is drawn.

The library that draws is imported when something is drawn: it takes a moment.
"""

from functools import cache
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING

from bot.render.drawing.marks import Band, Dot, Figure, Ink, Mark, Path, Stroke, Words
from bot.render.untrusted import shown_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCALE = 2.5  # pixels of the picture for each of the figure's
_POINTS = 72  # a point is a pixel of the figure
_PAPER = "#ffffff"
_COLOURS = {
    Ink.TEXT: "#1d1c1a",
    Ink.QUIET: "#635f57",
    Ink.RULE: "#d8d2c5",
    Ink.FIRST: "#1a644a",
    Ink.OTHER: "#57534b",
    Ink.FIRST_BAND: "#bfe0d1",
    Ink.OTHER_BAND: "#e0dbd0",
    Ink.HEAT_0: "#f8faf9",
    Ink.HEAT_1: "#e8f0ed",
    Ink.HEAT_2: "#d3e1dc",
    Ink.HEAT_3: "#bad1c8",
    Ink.HEAT_4: "#9fbeb3",
}
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}
_TURN = Lock()  # the library is not made for several threads


def png_of(figure: Figure) -> bytes:
    """Give the picture; it has no other colours than those on white paper."""
    with _TURN:
        _settle()
        from matplotlib.figure import Figure as Sheet

        size = (figure.width / _POINTS, figure.height / _POINTS)
        sheet = Sheet(figsize=size, dpi=_POINTS * SCALE, facecolor=_PAPER)
        axes = sheet.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, figure.width)
        axes.set_ylim(figure.height, 0)
        for order, mark in enumerate(figure.marks):
            _draw(axes, mark, order)
        picture = BytesIO()
        sheet.savefig(picture, format="png", facecolor=_PAPER, metadata={"Software": None})
    return picture.getvalue()


@cache
def _settle() -> None:
    """Have the library draw the same on every machine: with the font it brings along."""
    import matplotlib as mpl

    mpl.rcParams.update({"font.family": ["DejaVu Sans"], "path.simplify": False})


def _draw(axes: "Axes", mark: Mark, order: int) -> None:
    colour = _COLOURS[mark.ink]
    match mark:
        case Stroke():
            xs, ys = (mark.x1, mark.x2), (mark.y1, mark.y2)
            axes.plot(xs, ys, color=colour, lw=mark.width, zorder=order, solid_capstyle="butt")
        case Path():
            xs, ys = zip(*mark.points, strict=True)
            axes.plot(xs, ys, color=colour, lw=mark.width, zorder=order)
        case Dot():
            wide = 2 * mark.radius
            axes.plot([mark.x], [mark.y], "o", color=colour, ms=wide, mew=0, zorder=order)
        case Band():
            xs, ys = zip(*mark.points, strict=True)
            axes.fill(xs, ys, color=colour, lw=0, zorder=order)
        case Words():
            axes.text(
                mark.x,
                mark.y,
                shown_text(mark.text),
                color=colour,
                size=mark.size,
                ha=_ANCHORS[mark.anchor],
                va="baseline",
                weight="bold" if mark.bold else "normal",
                parse_math=False,
                zorder=order,
            )
