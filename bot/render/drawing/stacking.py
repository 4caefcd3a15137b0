"""Several figures as one, one under another."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.render.drawing.marks import Band, Dot, Figure, Mark, Path, Stroke, Words

_GAP = 18.0


def stacked(figures: Sequence[Figure]) -> Figure:
    """Give figures as one sheet, as wide as the widest; an empty sheet for none."""
    marks: list[Mark] = []
    height = 0.0
    for figure in figures:
        top = height + _GAP if height else 0.0
        marks += (_moved(mark, top) for mark in figure.marks)
        height = top + figure.height
    width = max((figure.width for figure in figures), default=1.0)
    return Figure(width, height or 1.0, tuple(marks), " ".join(figure.told for figure in figures))


def _moved(mark: Mark, by: float) -> Mark:
    match mark:
        case Stroke():
            return replace(mark, y1=mark.y1 + by, y2=mark.y2 + by)
        case Path() | Band():
            return replace(mark, points=tuple(_lower(mark.points, by)))
        case Dot() | Words():
            return replace(mark, y=mark.y + by)


def _lower(points: Iterable[tuple[float, float]], by: float) -> Iterable[tuple[float, float]]:
    return ((x, y + by) for x, y in points)
