"""Charts as a platform-neutral scene of lines, dots and labels, with SVG and PNG renderers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from html import escape
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Literal

from rich.cells import get_character_cell_size

from bot.render.text_safety import visible_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GAP = 18.0
_NARROW = frozenset("fijlrtI.,:;|!'()[] ")
_WIDE = frozenset("mwMW@%")
PNG_SCALE = 2.5  # pixels of the PNG per pixel of the figure
_POINTS_PER_INCH = 72  # so that one point is one pixel of the figure


# Scene

Anchor = Literal["start", "middle", "end"]


class Colour(StrEnum):
    """The role of a mark's colour; each renderer has its own colours for light and dark."""

    TEXT = "text"
    QUIET = "quiet"
    RULE = "rule"
    FIRST = "first"
    OTHER = "other"
    FIRST_BAND = "first-band"
    OTHER_BAND = "other-band"
    HEAT_0 = "heat-0"
    HEAT_1 = "heat-1"
    HEAT_2 = "heat-2"
    HEAT_3 = "heat-3"
    HEAT_4 = "heat-4"


HEAT_COLOURS = (
    Colour.HEAT_0,
    Colour.HEAT_1,
    Colour.HEAT_2,
    Colour.HEAT_3,
    Colour.HEAT_4,
)  # from little to much


@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight line, in pixels from the top left."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: Colour
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Path:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    colour: Colour
    width: float = 1.5


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    colour: Colour


@dataclass(frozen=True, slots=True)
class Band:
    """A filled polygon."""

    points: tuple[tuple[float, float], ...]
    colour: Colour


@dataclass(frozen=True, slots=True)
class Label:
    """A single-line text; `y` is its baseline."""

    x: float
    y: float
    text: str
    colour: Colour
    size: float
    anchor: Anchor = "start"
    bold: bool = False


Mark = Stroke | Path | Dot | Band | Label


@dataclass(frozen=True, slots=True)
class Figure:
    """Marks on a canvas; `description` is the alternative text."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    description: str


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale from numbers to pixels, with the numbers to label on its axis."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...] = ()

    def at(self, number: float) -> float:
        """Return the pixel position of a number."""
        return self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start)


def stack_figures(figures: Sequence[Figure]) -> Figure:
    """Return the figures stacked vertically; an empty figure for none."""
    marks: list[Mark] = []
    height = 0.0
    for figure in figures:
        top = height + _GAP if height else 0.0
        marks += (_shift_down(mark, top) for mark in figure.marks)
        height = top + figure.height
    width = max((figure.width for figure in figures), default=1.0)
    return Figure(
        width, height or 1.0, tuple(marks), " ".join(figure.description for figure in figures)
    )


def _shift_down(mark: Mark, offset: float) -> Mark:
    match mark:
        case Stroke():
            return replace(mark, y1=mark.y1 + offset, y2=mark.y2 + offset)
        case Path() | Band():
            return replace(mark, points=tuple((x, y + offset) for x, y in mark.points))
        case Dot() | Label():
            return replace(mark, y=mark.y + offset)


# Text measurement


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the estimated width of a text in pixels, rather too wide than too narrow."""
    return sum(map(_character_width, text)) * size * (1.1 if bold else 1)


def _character_width(character: str) -> float:
    if get_character_cell_size(character) > 1 or character in _WIDE:
        return 1.0
    if character in _NARROW:
        return 0.42
    return 0.75 if character.isupper() else 0.64


def fit_text(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Return the text cut to a width in pixels, ending with "…" if it is cut."""
    if text_width(text, size, bold=bold) <= width:
        return text
    while text and text_width(f"{text}…", size, bold=bold) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


# SVG


def render_svg(figure: Figure) -> str:
    """Return the figure as an SVG element with CSS classes for colours and real text."""
    size = f"{_number(figure.width)} {_number(figure.height)}"
    marks = "\n".join(map(_element, figure.marks))
    description = escape(visible_text(figure.description))
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {size}" aria-label="{description}" '
        f'xmlns="http://www.w3.org/2000/svg">\n{marks}\n</svg>'
    )


def _element(mark: Mark) -> str:
    match mark:
        case Stroke():
            ends = _numbers(x1=mark.x1, y1=mark.y1, x2=mark.x2, y2=mark.y2)
            return f'<line class="s-{mark.colour}" {ends} stroke-width="{_number(mark.width)}"/>'
        case Path():
            width = _number(mark.width)
            points = _points(mark.points)
            return f'<polyline class="s-{mark.colour}" points="{points}" stroke-width="{width}"/>'
        case Dot():
            return (
                f'<circle class="f-{mark.colour}" {_numbers(cx=mark.x, cy=mark.y, r=mark.radius)}/>'
            )
        case Band():
            return f'<polygon class="f-{mark.colour}" points="{_points(mark.points)}"/>'
        case Label():
            return _text_element(mark)


def _text_element(mark: Label) -> str:
    weight = ' font-weight="600"' if mark.bold else ""
    anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
    position = _numbers(x=mark.x, y=mark.y)
    size = f'font-size="{_number(mark.size)}"'
    words = escape(visible_text(mark.text))
    return f'<text class="f-{mark.colour}" {position} {size}{anchor}{weight}>{words}</text>'


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _numbers(**named: float) -> str:
    return " ".join(f'{name}="{_number(value)}"' for name, value in named.items())


def _number(value: float) -> str:
    return f"{round(value, 2):g}"


# PNG

_PAPER = "#ffffff"
_COLOURS = {
    Colour.TEXT: "#1d1c1a",
    Colour.QUIET: "#635f57",
    Colour.RULE: "#d8d2c5",
    Colour.FIRST: "#1a644a",
    Colour.OTHER: "#57534b",
    Colour.FIRST_BAND: "#bfe0d1",
    Colour.OTHER_BAND: "#e0dbd0",
    Colour.HEAT_0: "#f8faf9",
    Colour.HEAT_1: "#e8f0ed",
    Colour.HEAT_2: "#d3e1dc",
    Colour.HEAT_3: "#bad1c8",
    Colour.HEAT_4: "#9fbeb3",
}
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}
_MATPLOTLIB_LOCK = Lock()  # matplotlib is not thread-safe


def render_png(figure: Figure) -> bytes:
    """Return the figure as a PNG on white; the same figure always gives the same bytes."""
    with _MATPLOTLIB_LOCK:
        _configure_matplotlib()
        from matplotlib.figure import Figure as Sheet

        size = (figure.width / _POINTS_PER_INCH, figure.height / _POINTS_PER_INCH)
        canvas = Sheet(figsize=size, dpi=_POINTS_PER_INCH * PNG_SCALE, facecolor=_PAPER)
        axes = canvas.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, figure.width)
        axes.set_ylim(figure.height, 0)
        for order, mark in enumerate(figure.marks):
            _draw(axes, mark, order)
        png = BytesIO()
        canvas.savefig(png, format="png", facecolor=_PAPER, metadata={"Software": None})
    return png.getvalue()


@cache
def _configure_matplotlib() -> None:
    """Make matplotlib draw alike on every machine, with the font it ships."""
    import matplotlib as mpl

    mpl.rcParams.update({"font.family": ["DejaVu Sans"], "path.simplify": False})


def _draw(axes: "Axes", mark: Mark, order: int) -> None:
    colour = _COLOURS[mark.colour]
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
        case Label():
            axes.text(
                mark.x,
                mark.y,
                visible_text(mark.text),
                color=colour,
                size=mark.size,
                ha=_ANCHORS[mark.anchor],
                va="baseline",
                weight="bold" if mark.bold else "normal",
                parse_math=False,
                zorder=order,
            )
