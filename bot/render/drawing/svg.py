"""A figure as SVG for a page: real text, and classes for which the page's style has colours.

Holds no style of its own: the page's policy lets none in.
"""

from collections.abc import Sequence
from html import escape

from bot.render.drawing.marks import Band, Dot, Figure, Mark, Path, Stroke, Words
from bot.render.untrusted import shown_text


def svg_of(figure: Figure) -> str:
    """Give the figure as an element that fills the width it is given."""
    size = f"{_number(figure.width)} {_number(figure.height)}"
    marks = "\n".join(map(_mark, figure.marks))
    told = escape(shown_text(figure.told))
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {size}" aria-label="{told}" '
        f'xmlns="http://www.w3.org/2000/svg">\n{marks}\n</svg>'
    )


def _mark(mark: Mark) -> str:
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
        case Words():
            return _words(mark)


def _words(mark: Words) -> str:
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
