"""Drawing with matplotlib: a figure as an SVG element for the page, as a PNG for the chats.

matplotlib loads slowly, so it is imported when something is drawn.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from io import BytesIO, StringIO
from textwrap import wrap
from threading import Lock
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree

from rich.cells import get_character_cell_size

from bot.extras import MissingExtraError, missing_extra
from bot.render.text_safety import shorten, visible_line, visible_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

WIDTH = 390.0  # pixels: a phone's
MARGIN = 14.0
NAME_SIZE, SMALL_SIZE = 12.5, 10.5  # font sizes
PNG_SCALE = 2.5  # pixels of the PNG per pixel of the figure
_GAP = 18.0  # between stacked figures
_POINTS_PER_INCH = 72  # so that one point is one pixel of the figure
_NARROW = frozenset("fijlrtI.,:;|!'()[] ")
_WIDE = frozenset("mwMW@%")
_LINK = "{http://www.w3.org/1999/xlink}href"
_MATPLOTLIB_LOCK = Lock()  # matplotlib is not thread-safe


class Colour(StrEnum):
    """The colour of a mark on white paper; on the page its name is a CSS class."""

    TEXT = "#1d1c1a"
    QUIET = "#635f57"
    RULE = "#d8d2c5"
    FIRST = "#1a644a"
    OTHER = "#57534b"
    FIRST_BAND = "#bfe0d1"
    OTHER_BAND = "#e0dbd0"
    HEAT_0 = "#f8faf9"
    HEAT_1 = "#e8f0ed"
    HEAT_2 = "#d3e1dc"
    HEAT_3 = "#bad1c8"
    HEAT_4 = "#9fbeb3"


HEAT_COLOURS = (Colour.HEAT_0, Colour.HEAT_1, Colour.HEAT_2, Colour.HEAT_3, Colour.HEAT_4)
_CLASSES = {colour.value: colour.name.lower().replace("_", "-") for colour in Colour}
_STYLE = {
    "axes.edgecolor": Colour.RULE,
    "axes.facecolor": "none",
    "axes.linewidth": 1,
    **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
    "font.family": ["DejaVu Sans"],  # matplotlib ships it: the same picture on every machine
    "lines.solid_capstyle": "butt",
    "path.simplify": False,
    "scatter.edgecolors": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "council",
    "text.parse_math": False,
    **{
        f"{axis}.{key}": value
        for axis, pad in (("xtick", 9), ("ytick", 5))
        for key, value in {
            "labelcolor": Colour.QUIET,
            "labelsize": SMALL_SIZE,
            "major.size": 0,
            "major.pad": pad,
        }.items()
    },
}


class Canvas:
    """The part of a sheet that one figure covers, in pixels from its top left."""

    def __init__(self, sheet: "Sheet", top: float) -> None:
        self._sheet = sheet
        self._top = top
        self._height = sheet.get_figheight() * _POINTS_PER_INCH

    def text(  # noqa: PLR0913 - as matplotlib has it
        self,
        x: float,
        y: float,
        text: str,
        size: float = NAME_SIZE,
        *,
        colour: Colour = Colour.TEXT,
        align: Literal["left", "center", "right"] = "left",
        bold: bool = False,
    ) -> None:
        """Draw one line of text on the baseline `y`."""
        self._sheet.text(
            x / WIDTH,
            self._up(y),
            visible_text(text),
            size=size,
            color=colour,
            ha=align,
            weight="bold" if bold else "normal",
        )

    def note(
        self, x: float, y: float, text: str, align: Literal["left", "center", "right"] = "left"
    ) -> None:
        """Draw one line of small, quiet text."""
        self.text(x, y, text, SMALL_SIZE, colour=Colour.QUIET, align=align)

    def name(self, x: float, y: float, name: str, width: float, *, bold: bool = False) -> None:
        """Draw a seat's name; if it is too wide, in two lines of small text around `y`."""
        text = visible_line(name)
        if text_width(text, NAME_SIZE, bold=bold) <= width:
            self.text(x, y, text, bold=bold)
            return
        characters = max(4, int(len(text) * width / text_width(text, SMALL_SIZE, bold=True)))
        first, *rest = wrap(text, characters)
        self.text(x, y - 9, first, SMALL_SIZE, bold=bold)
        self.text(x, y + 4, shorten(" ".join(rest), characters), SMALL_SIZE, bold=bold)

    def axes(self, left: float, top: float, right: float, bottom: float) -> "Axes":
        """Return empty axes; until changed, their y is in pixels of this canvas."""
        height = (bottom - top) / self._height
        axes = self._sheet.add_axes(
            (left / WIDTH, self._up(bottom), (right - left) / WIDTH, height),
            xticks=(),
            yticks=(),
        )
        axes.set_ylim(bottom, top)
        return axes

    def _up(self, y: float) -> float:
        """Return a height as a fraction of the sheet's, from its bottom."""
        return 1 - (self._top + y) / self._height


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture of `WIDTH` and a height in pixels; `description` is the alternative text."""

    height: float
    description: str
    draw: Callable[[Canvas], None]


def draw_dot(axes: "Axes", x: float, y: float, radius: float, colour: Colour) -> None:
    """Draw a filled circle with a radius in pixels."""
    axes.scatter([x], [y], s=(2 * radius) ** 2, color=colour, linewidths=0, zorder=3)


def fill_cell(
    axes: "Axes", edges: tuple[float, float, float, float], shade: str, outline: str = "none"
) -> None:
    """Fill a cell of a heat map, given by its left, top, right and bottom edge."""
    left, top, right, bottom = edges
    axes.fill(
        (left + 1, right - 1, right - 1, left + 1),
        (top + 1, top + 1, bottom - 1, bottom - 1),
        facecolor=shade,
        edgecolor=outline,
        lw=1.5,
    )


# --- Text measurement


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the estimated width of a text in pixels, rather too wide than too narrow."""
    return sum(map(_character_width, text)) * size * (1.1 if bold else 1)


def _character_width(character: str) -> float:
    if get_character_cell_size(character) > 1 or character in _WIDE:
        return 1.0
    if character in _NARROW:
        return 0.42
    return 0.75 if character.isupper() else 0.64


# --- PNG and SVG


@contextmanager
def _drawn(figures: Sequence[Figure]) -> "Iterator[Sheet]":
    with _MATPLOTLIB_LOCK, warnings.catch_warnings():
        try:
            from matplotlib import rc_context
            from matplotlib.figure import Figure as Sheet
        except ModuleNotFoundError as error:
            raise missing_extra(error) or error from None

        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        height = sum(figure.height + _GAP for figure in figures) - _GAP
        with rc_context(_STYLE):  # type: ignore[arg-type]  # a StrEnum is a str
            size = (WIDTH / _POINTS_PER_INCH, height / _POINTS_PER_INCH)
            sheet = Sheet(figsize=size, dpi=_POINTS_PER_INCH * PNG_SCALE)
            top = 0.0
            for figure in figures:
                figure.draw(Canvas(sheet, top))
                top += figure.height + _GAP
            for artist in sheet.findobj():
                artist.set_clip_on(False)
            yield sheet


def render_png(*figures: Figure) -> bytes:
    """Return the figures stacked on white; the same figures always give the same bytes."""
    png = BytesIO()
    with _drawn(figures) as sheet:
        sheet.savefig(png, format="png", facecolor="white", metadata={"Software": None})
    return png.getvalue()


def render_svg(figure: Figure) -> str:
    """Return the figure as an SVG element with CSS classes for colours and real text.

    Without matplotlib, it is a line that says what to install: the page has the numbers too.
    """
    svg = StringIO()
    try:
        with _drawn((figure,)) as sheet:
            sheet.savefig(svg, format="svg", facecolor="none", metadata={"Date": None})
    except MissingExtraError as error:
        return f'<p class="note">No chart. {escape(str(error))}</p>'
    drawn = ElementTree.fromstring(svg.getvalue())  # noqa: S314 - matplotlib wrote it
    page = ElementTree.Element(
        "svg",
        {
            "class": "chart",
            "role": "img",
            "viewBox": drawn.attrib["viewBox"],
            "aria-label": visible_text(figure.description),
            "stroke-linejoin": "round",
            "xmlns": "http://www.w3.org/2000/svg",
        },
    )
    paths = {path.get("id"): path.attrib["d"] for path in drawn.iterfind(".//{*}defs/*[@d]")}
    for element in drawn.iterfind(".//{*}g/*[@style]"):
        attributes = _page_attributes(element)
        if not attributes["class"]:
            continue
        tag = element.tag.rpartition("}")[2]
        if tag == "use":  # of a path that is defined elsewhere
            tag, x, y = "path", attributes.pop("x"), attributes.pop("y")
            shape = " ".join(paths[element.get(_LINK, "")[1:]].split())
            attributes |= {"d": shape, "transform": f"translate({x} {y})"}
        ElementTree.SubElement(page, tag, attributes).text = element.text
    return ElementTree.tostring(page, encoding="unicode")


def _page_attributes(element: ElementTree.Element) -> dict[str, str]:
    """Return an element's attributes with classes in place of colours and inline style."""
    kept = {key: " ".join(element.attrib[key].split()) for key in "dxy" if key in element.attrib}
    classes = []
    for declaration in element.attrib["style"].split(";"):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if value in _CLASSES:
            classes.append(f"{key[0]}-{_CLASSES[value]}")
        elif key != "font-family":
            kept[key] = value
    return {"class": " ".join(classes), **kept}
