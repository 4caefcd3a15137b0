"""What a drawn figure shows: its texts, its marks by class, and whether it stays on the canvas."""

import re
from io import BytesIO
from xml.etree import ElementTree

from PIL import Image

from bot.render.charts import Figure, render_png, render_svg

PNG = b"\x89PNG\r\n\x1a\n"
EVIL = '</text><script>alert(1)</script>"&'


def svg_of(figure: Figure) -> ElementTree.Element:
    """Return the figure's SVG, parsed."""
    # What we made ourselves can be trusted.
    return ElementTree.fromstring(render_svg(figure))  # noqa: S314


def texts_of(figure: Figure) -> list[str]:
    """Return every text of a figure, in the order in which it is drawn."""
    return [element.text or "" for element in svg_of(figure).iterfind("{*}text")]


def marks_of(figure: Figure, colour: str) -> list[ElementTree.Element]:
    """Return the lines, outlines and areas that have a class."""
    paths = svg_of(figure).iterfind("{*}path")
    return [path for path in paths if colour in path.attrib["class"].split()]


def assert_stays_on_the_canvas(*figures: Figure) -> None:
    """Assert that the outermost pixels of the picture are white."""
    picture = Image.open(BytesIO(render_png(*figures))).convert("L")
    right, bottom = picture.width - 1, picture.height - 1
    edges = [(0, 0, 1, bottom), (right, 0, right + 1, bottom)]
    edges += [(0, 0, right, 1), (0, bottom, right, bottom + 1)]
    assert [picture.crop(edge).getextrema() for edge in edges] == [(255, 255)] * 4


def assert_fits_the_page(figure: Figure) -> None:
    """Assert an SVG that a strict page can show: labelled, no inline style, script or link."""
    svg = render_svg(figure)
    root = ElementTree.fromstring(svg)  # noqa: S314
    assert (root.attrib["role"], bool(root.attrib["aria-label"])) == ("img", True)
    assert not re.search(r'\s(style|href|on\w+)="|<style|<script|url\(', svg)
    assert all(element.attrib["class"] for element in root)
