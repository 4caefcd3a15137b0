"""What a figure is made of: strokes, dots, bands and words, in pixels from the top left.

Every writer of figures draws the same marks. Knows no colour: an ink says what something is.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Anchor = Literal["start", "middle", "end"]


class Ink(StrEnum):
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


HEATS = (Ink.HEAT_0, Ink.HEAT_1, Ink.HEAT_2, Ink.HEAT_3, Ink.HEAT_4)  # from little to much


@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    ink: Ink
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Path:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    ink: Ink
    width: float = 1.5


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    ink: Ink


@dataclass(frozen=True, slots=True)
class Band:
    """A filled area within points."""

    points: tuple[tuple[float, float], ...]
    ink: Ink


@dataclass(frozen=True, slots=True)
class Words:
    """A text on one line; y is its baseline."""

    x: float
    y: float
    text: str
    ink: Ink
    size: float
    anchor: Anchor = "start"
    bold: bool = False


Mark = Stroke | Path | Dot | Band | Words


@dataclass(frozen=True, slots=True)
class Figure:
    """Marks on a sheet of a size; `told` says in words what they show."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    told: str
