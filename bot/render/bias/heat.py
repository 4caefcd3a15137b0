"""The heat map: what each judge gave each author, its own answer outlined."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.render.bias.effects import plain
from bot.render.bias.found import ENOUGH
from bot.render.bias.sheet import (
    MARGIN,
    MOST,
    NAME,
    SMALL,
    TOP,
    WIDTH,
    drawn,
    foot,
    foot_height,
    head,
    words,
)
from bot.render.bias.shown import ShownBias
from bot.render.drawing.marks import HEATS, Band, Figure, Ink, Mark, Path, Words
from bot.render.figures import in_words
from council.bias.report import Given

TITLE = "Who gave what to whom"
CAPTION = (
    "A row is a judge, a column an author by the number of its row; the number is the mean share "
    "of rivals that the judge says the author’s answers beat: 0 is last, 1 is first. Outlined is "
    "what a judge gives its own answer, which it sees on audit ballots alone."
)
_NAMES = 30.0  # where names begin, beside their numbers
_ROOM, _WIDEST = 240.0, 42.0  # the widths of all cells, and of one, at most
_ROW, _GAP = 32.0, 2.0
_HEAD = 18.0

_OWN = "Outlined: its own answer, as audit ballots showed it."
_UNSEEN = "No judge was shown its own answer: audit ballots do so."
_FEW = f"Not shaded: fewer than {in_words(ENOUGH)} ballots."

Cells = Mapping[tuple[str, str], Given]


@dataclass(frozen=True, slots=True)
class _Map:
    """Seats in rows, and as columns those that wrote; a column goes by its seat's row."""

    seats: Sequence[str]
    authors: Sequence[str]
    cells: Cells
    more: str

    @property
    def wide(self) -> float:
        """The width of a cell."""
        return min(_WIDEST, _ROOM / max(1, len(self.authors)))

    @property
    def start(self) -> float:
        """Where cells begin: names have the room they leave."""
        return WIDTH - MARGIN - self.wide * len(self.authors)

    def left(self, author: str) -> float:
        return self.start + self.wide * self.authors.index(author)


def heat_map(shown: ShownBias) -> Figure:
    """Give the map; a cell of which nothing is known is left open."""
    found = _map(shown)
    bottom = TOP + _HEAD + _ROW * len(found.seats)
    feet = (_OWN if _has_own(shown) else _UNSEEN, _FEW if _has_few(shown) else "", found.more)
    marks = [head("Mean share a judge (row) gave an author (column)"), *_heads(found)]
    for row, seat in enumerate(found.seats):
        marks += _row(shown, found, seat, TOP + _HEAD + _ROW * row)
    marks += foot(feet, bottom + 16)
    return Figure(WIDTH, bottom + foot_height(feet) + 6, tuple(marks), _told(shown))


def heat_lines(shown: ShownBias) -> Iterator[str]:
    """Say for each judge what it gave to whom."""
    for judge in dict.fromkeys(one.judge for one in shown.report.given):
        told = "; ".join(
            f"{'itself' if one.author == judge else shown.name(one.author)} {plain(one.share)}"
            f"{f' (n {one.n})' if one.n < ENOUGH else ''}"
            for one in shown.report.given
            if one.judge == judge and one.share is not None
        )
        if told:
            yield f"{shown.name(judge)} gave {told}."


def _has_own(shown: ShownBias) -> bool:
    return any(one.share is not None and one.judge == one.author for one in shown.report.given)


def _has_few(shown: ShownBias) -> bool:
    return any(one.share is not None and one.n < ENOUGH for one in shown.report.given)


def _told(shown: ShownBias) -> str:
    lines = [*heat_lines(shown)]
    if not lines:
        return "No judge has ranked an author’s answer yet."
    return " ".join(("Mean share each judge gave each author.", *lines))


def _map(shown: ShownBias) -> _Map:
    given = shown.report.given
    judges = (judge.judge for judge in shown.report.judges)
    every = [*dict.fromkeys((*judges, *(x.judge for x in given), *(x.author for x in given)))]
    seats, more = drawn(every)
    wrote = {one.author for one in given if one.share is not None}
    authors = [seat for seat in seats if seat in wrote]
    return _Map(seats, authors[:MOST], {(x.judge, x.author): x for x in given}, more)


def _heads(found: _Map) -> Iterator[Mark]:
    for author in found.authors:
        number = found.seats.index(author) + 1
        x = found.left(author) + found.wide / 2
        yield Words(x, TOP + 12, str(number), Ink.QUIET, SMALL, "middle")


def _row(shown: ShownBias, found: _Map, seat: str, top: float) -> Iterator[Mark]:
    middle = top + _ROW / 2 + 4
    yield Words(MARGIN, middle, str(found.seats.index(seat) + 1), Ink.QUIET, SMALL)
    yield words(_NAMES, middle, shown.name(seat), found.start - _NAMES - 4)
    for author in found.authors:
        cell = found.cells.get((seat, author))
        yield from _cell(found, author, top, cell)
        if seat == author and cell and cell.share is not None:
            yield Path(_square(found, author, top, 1.5, closed=True), Ink.TEXT, 1.5)


def _cell(found: _Map, author: str, top: float, cell: Given | None) -> Iterator[Mark]:
    x, y = found.left(author) + found.wide / 2, top + _ROW / 2 + 4
    if cell is None or cell.share is None:
        yield Words(x, y, "–", Ink.QUIET, SMALL, "middle")
        return
    level = max(0, min(len(HEATS) - 1, int(cell.share * len(HEATS))))
    if cell.n >= ENOUGH:
        yield Band(_square(found, author, top, _GAP / 2), HEATS[level])
    ink = Ink.TEXT if cell.n >= ENOUGH else Ink.QUIET
    size = SMALL if found.wide < _ROW else NAME - 1
    yield Words(x, y, plain(cell.share), ink, size, "middle")


def _square(
    found: _Map, author: str, top: float, inset: float, *, closed: bool = False
) -> tuple[tuple[float, float], ...]:
    left, right = found.left(author) + inset, found.left(author) + found.wide - inset
    up, down = top + inset, top + _ROW - inset
    corners = ((left, up), (right, up), (right, down), (left, down))
    # One corner more than there are, so that no notch stays where the line begins.
    return (*corners, *corners[:2]) if closed else corners
