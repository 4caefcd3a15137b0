"""What the figures of bias have in common: a phone's width, sizes, and how names fit."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from bot.render.drawing.marks import Ink, Mark, Words
from bot.render.drawing.widths import fitting
from bot.render.figures import counted
from bot.render.untrusted import shown_text

WIDTH = 390.0
MARGIN = 14.0
TOP = 28.0
LINE = 15.0  # between lines of small words
NAME, SMALL = 12.5, 10.5  # sizes of text
MOST = 10  # judges on a figure; more would be too small to read

One = TypeVar("One")


def drawn(judges: Sequence[One]) -> tuple[Sequence[One], str]:
    """Give the judges a figure has room for, and how many more there are, in words."""
    more = len(judges) - MOST
    said = f"{counted(more, 'more judge')} in the tables." if more > 0 else ""
    return judges[:MOST], said


def words(x: float, y: float, name: str, width: float) -> Words:
    """Give a name on one line, no wider than this."""
    return Words(x, y, fitting(one_line(name), width, NAME), Ink.TEXT, NAME)


def one_line(name: str) -> str:
    """Give a name as one line that cannot steer anything."""
    return " ".join(shown_text(name).split())


def head(text: str) -> Words:
    """Give the words over a figure."""
    return Words(MARGIN, 16, text, Ink.QUIET, SMALL)


def foot(lines: Sequence[str], top: float) -> Iterator[Mark]:
    """Give small words under a figure, those that say something."""
    for at, line in enumerate(filter(None, lines)):
        yield Words(MARGIN, top + LINE * at, line, Ink.QUIET, SMALL)


def foot_height(lines: Sequence[str]) -> float:
    """Give the room such words take."""
    return LINE * len([*filter(None, lines)]) + 10
