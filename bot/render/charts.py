"""What a figure is made of: strokes, dots, bands and words, in pixels from the top left."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from html import escape
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Literal

from rich.cells import get_character_cell_size

from bot.render.text_safety import shown_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# --- What a figure is made of: strokes, dots, bands and words, in pixels from the top left.

Anchor = Literal["start", "middle", "end"]


class Colour(StrEnum):
    """What a mark stands for; each writer has a colour for it in the light and in the dark."""

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
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    ink: Colour
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Path:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    ink: Colour
    width: float = 1.5


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    ink: Colour


@dataclass(frozen=True, slots=True)
class Band:
    """A filled area within points."""

    points: tuple[tuple[float, float], ...]
    ink: Colour


@dataclass(frozen=True, slots=True)
class Label:
    """A text on one line; y is its baseline."""

    x: float
    y: float
    text: str
    ink: Colour
    size: float
    anchor: Anchor = "start"
    bold: bool = False


Mark = Stroke | Path | Dot | Band | Label


@dataclass(frozen=True, slots=True)
class Figure:
    """Marks on a sheet of a size; `told` says in words what they show."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    told: str


# --- Where numbers stand on a line of a figure.


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of numbers on a line from one end to the other, with those to name on it."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...] = ()

    def at(self, number: float) -> float:
        """Give where a number stands."""
        return self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start)


# --- Several figures as one, one under another.

_GAP = 18.0


def stack_figures(figures: Sequence[Figure]) -> Figure:
    """Give figures as one sheet, as wide as the widest; an empty sheet for none."""
    marks: list[Mark] = []
    height = 0.0
    for figure in figures:
        top = height + _GAP if height else 0.0
        marks += (_shift_down(mark, top) for mark in figure.marks)
        height = top + figure.height
    width = max((figure.width for figure in figures), default=1.0)
    return Figure(width, height or 1.0, tuple(marks), " ".join(figure.told for figure in figures))


def _shift_down(mark: Mark, by: float) -> Mark:
    match mark:
        case Stroke():
            return replace(mark, y1=mark.y1 + by, y2=mark.y2 + by)
        case Path() | Band():
            return replace(mark, points=tuple(_lower(mark.points, by)))
        case Dot() | Label():
            return replace(mark, y=mark.y + by)


def _lower(points: Iterable[tuple[float, float]], by: float) -> Iterable[tuple[float, float]]:
    return ((x, y + by) for x, y in points)


# --- How wide words are in a figure, near enough, whoever draws them: so that nothing is cut.

_NARROW = frozenset("fijlrtI.,:;|!'()[] ")
_WIDE = frozenset("mwMW@%")


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Give the width of a text in a size, rather too much than too little."""
    return sum(map(_character_width, text)) * size * (1.1 if bold else 1)


def _character_width(character: str) -> float:
    if get_character_cell_size(character) > 1 or character in _WIDE:
        return 1.0
    if character in _NARROW:
        return 0.42
    return 0.75 if character.isupper() else 0.64


def fit_text(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Give as much of a text as such a width takes, with … where it is cut."""
    if text_width(text, size, bold=bold) <= width:
        return text
    while text and text_width(f"{text}…", size, bold=bold) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


# --- A figure as SVG for a page: real text, and classes for which the page's style has colours.


def svg_of(figure: Figure) -> str:
    """Give the figure as an element that fills the width it is given."""
    size = f"{_number(figure.width)} {_number(figure.height)}"
    marks = "\n".join(map(_element, figure.marks))
    told = escape(shown_text(figure.told))
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {size}" aria-label="{told}" '
        f'xmlns="http://www.w3.org/2000/svg">\n{marks}\n</svg>'
    )


def _element(mark: Mark) -> str:
    match mark:
        case Stroke():
            ends = _numbers(x1=mark.x1, y1=mark.y1, x2=mark.x2, y2=mark.y2)
            return f'<line class="s-{mark.ink}" {ends} stroke-width="{_number(mark.width)}"/>'
        case Path():
            width = _number(mark.width)
            points = _points(mark.points)
            return f'<polyline class="s-{mark.ink}" points="{points}" stroke-width="{width}"/>'
        case Dot():
            return f'<circle class="f-{mark.ink}" {_numbers(cx=mark.x, cy=mark.y, r=mark.radius)}/>'
        case Band():
            return f'<polygon class="f-{mark.ink}" points="{_points(mark.points)}"/>'
        case Label():
            return _text_element(mark)


def _text_element(mark: Label) -> str:
    weight = ' font-weight="600"' if mark.bold else ""
    anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
    at = _numbers(x=mark.x, y=mark.y)
    size = f'font-size="{_number(mark.size)}"'
    words = escape(shown_text(mark.text))
    return f'<text class="f-{mark.ink}" {at} {size}{anchor}{weight}>{words}</text>'


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _numbers(**named: float) -> str:
    return " ".join(f'{name}="{_number(value)}"' for name, value in named.items())


def _number(value: float) -> str:
    return f"{round(value, 2):g}"


# --- A figure as a PNG picture for chats and files, the same bytes whenever it is drawn.

PNG_SCALE = 2.5  # pixels of the picture for each of the figure's
_POINTS_PER_INCH = 72  # a point is a pixel of the figure
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
_MATPLOTLIB_LOCK = Lock()  # the library is not made for several threads


def render_png(figure: Figure) -> bytes:
    """Give the picture; it has no other colours than those on white paper."""
    with _MATPLOTLIB_LOCK:
        _configure_matplotlib()
        from matplotlib.figure import Figure as Sheet

        size = (figure.width / _POINTS_PER_INCH, figure.height / _POINTS_PER_INCH)
        sheet = Sheet(figsize=size, dpi=_POINTS_PER_INCH * PNG_SCALE, facecolor=_PAPER)
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
def _configure_matplotlib() -> None:
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
        case Label():
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
