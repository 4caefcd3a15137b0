"""The flow of a text: which paragraph, item, quote or code comes after which.

Slack's rich text cannot nest, so quotes and lists inside each other are laid out flat here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.render.formatting import monospaced
from bot.render.markdown_parser import Code, Grid, OpenList, Standing
from bot.render.markdown_parser import Leaves as Read
from bot.slack.inline import leaves_in_slack
from bot.slack.limits import LIST_INDENT, RICH_ELEMENT
from bot.slack.plain import inert
from bot.slack.rich import (
    Block,
    Leaves,
    blocks,
    bold,
    element,
    elements,
    joined,
    parted,
    size,
    text,
)
from bot.slack.tables import table_block


@dataclass(slots=True)
class _Piece:
    """What becomes an element: leaves of one kind; of items, those of one list."""

    kind: str
    items: list[Leaves]
    indent: int = 0
    number: int | None = None


@dataclass(slots=True)
class Flow(Standing):
    """Takes what a text holds in order, and gives its blocks."""

    as_table: bool = False
    _made: list[Block] = field(default_factory=list)
    _pieces: list[_Piece] = field(default_factory=list)
    _after_heading: bool = False

    def close_item(self) -> None:
        """End an item: an empty one is shown too."""
        if self.is_marker_due:
            self._add([text(" ")])

    def write(self, leaves: Read, heading: int = 0) -> None:
        """Add a paragraph where the flow has come to; a heading is bold."""
        shown = leaves_in_slack(leaves)
        self._add(bold(shown) if heading else shown)
        self._after_heading = bool(heading) if shown else self._after_heading

    def code(self, code: Code) -> None:
        """Add a block of code."""
        self._preformat(inert(code.text))

    def table(self, grid: Grid) -> None:
        """Add a table: as a block of its own where there is one to be had."""
        block = table_block(grid.plain) if self.as_table and not grid.is_nested else None
        if not block:
            self._preformat(inert(monospaced(grid.plain)))
            return
        self._made += [*blocks(self._elements()), block]
        self._pieces = []
        self._after_heading = False

    def rule(self) -> None:
        """Add a line across: an empty one, since Slack has none inside of texts."""
        self._add([text(" ")])

    def blocks(self) -> list[Block]:
        """Give all of it as blocks."""
        return [*self._made, *blocks(self._elements())]

    def _preformat(self, words: str) -> None:
        """Add text as it stands; the item it stands in alone still has its marker."""
        self.close_item()
        self._pieces.append(_Piece("preformatted", [[text(words or " ")]]))

    def _elements(self) -> Iterator[Block]:
        for piece in self._pieces:
            if piece.kind == "list":
                yield from _list_elements(piece)
            else:
                yield from elements(piece.kind, piece.items[0])

    def _add(self, leaves: Leaves) -> None:
        if not leaves:
            return
        if self.is_quoted:
            self._add_quoted(leaves)
        elif inner := self.inner:
            self._add_item(inner, leaves)
        else:
            self._join("section", leaves, "\n" if self._after_heading else "\n\n")
        self._after_heading = False

    def _add_quoted(self, leaves: Leaves) -> None:
        """Add a paragraph to the quote; the lists in it have their markers as text."""
        due = self.is_marker_due
        if inner := self.inner:
            margin = "    " * (len(self.lists) - 1)
            leaves = [text(margin + (inner.marker("•") if due else "  ")), *leaves]
            inner.marker_due = False
        self._join("quote", leaves, "\n" if due or self._after_heading else "\n\n")

    def _add_item(self, inner: OpenList, leaves: Leaves) -> None:
        indent = min(len(self.held) - 1, LIST_INDENT)
        last = self._pieces[-1] if self._pieces else None
        same = last and last.kind == "list" and last.indent == indent
        number = inner.number
        if not inner.marker_due:
            if last and same:
                last.items[-1] += [text("\n"), *leaves]
            else:
                self._join("section", leaves, "\n\n")
            return
        inner.marker_due = False
        continues = last and same and (last.number is None) == (number is None)
        if last and continues and (number is None or number == _next_number(last)):
            last.items.append(list(leaves))
        else:
            self._pieces.append(_Piece("list", [list(leaves)], indent, number))

    def _join(self, kind: str, leaves: Leaves, gap: str) -> None:
        """Add to what comes last if it is of the same kind, else begin it, clear of a list."""
        last = self._pieces[-1].kind if self._pieces else ""
        if last == kind:
            self._pieces[-1].items[0] += [text(gap), *leaves]
        elif last == "list" and kind == "section":
            self._pieces.append(_Piece(kind, [[text("\n"), *leaves]]))
        else:
            self._pieces.append(_Piece(kind, [list(leaves)]))


def _next_number(piece: _Piece) -> int:
    return (piece.number or 0) + len(piece.items)


def _list_elements(piece: _Piece) -> Iterator[Block]:
    """Give the items as a list, or as several that count on where one would be too long."""
    room, batch, done = RICH_ELEMENT, list[Block](), 0
    for leaves in piece.items:
        first, *more = parted(joined(leaves))
        section = element("section", first)
        if batch and size(section) > room:
            yield _list_element(piece, batch, done)
            room, batch, done = RICH_ELEMENT, [], done + len(batch)
        batch.append(section)
        room -= size(section)
        if more:
            yield _list_element(piece, batch, done)
            room, batch, done = RICH_ELEMENT, [], done + len(batch)
            yield from (element("section", part) for part in more)
    if batch:
        yield _list_element(piece, batch, done)


def _list_element(piece: _Piece, sections: Sequence[Block], done: int) -> Block:
    more: Block = {"style": "bullet" if piece.number is None else "ordered"}
    if piece.indent:
        more["indent"] = piece.indent
    if piece.number is not None and piece.number + done > 1:
        more["offset"] = piece.number + done - 1
    return element("list", sections, **more)
