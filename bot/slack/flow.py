"""The flow of a text: which paragraph, item, quote or code comes after which.

Slack's rich text cannot nest, so quotes and lists inside each other are laid out flat here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.slack.limits import LIST_INDENT, RICH_ELEMENT
from bot.slack.rich import Block, Leaves, element, elements, joined, parted, size, text


@dataclass(slots=True)
class _Quote:
    """A quote that is open."""


@dataclass(slots=True)
class _List:
    """A list that is open: the number of its next item, if it counts them."""

    number: int | None
    marker_due: bool = False

    @property
    def marker(self) -> str:
        return "• " if self.number is None else f"{self.number - 1}. "


@dataclass(slots=True)
class _Piece:
    """What becomes an element: leaves of one kind; of items, those of one list."""

    kind: str
    items: list[Leaves]
    indent: int = 0
    number: int | None = None


@dataclass(slots=True)
class Flow:
    """Takes what a text holds in order, and gives its elements."""

    heading: bool = False
    _open: list[_Quote | _List] = field(default_factory=list)
    _pieces: list[_Piece] = field(default_factory=list)
    _after_heading: bool = False

    def open_quote(self) -> None:
        """Begin a quote."""
        self._open.append(_Quote())

    def open_list(self, number: int | None = None) -> None:
        """Begin a list, ordered from a number on or of bullets."""
        self._open.append(_List(number))

    def close(self) -> None:
        """End the innermost quote or list."""
        self._open.pop()

    def open_item(self) -> None:
        """Begin an item of the innermost list."""
        inner = self._inner
        inner.marker_due = True
        inner.number = None if inner.number is None else inner.number + 1

    def close_item(self) -> None:
        """End an item: an empty one is shown too."""
        if self._inner.marker_due:
            self.write([text(" ")])

    def write(self, leaves: Leaves) -> None:
        """Add a paragraph where the flow has come to."""
        if not leaves:
            return
        if any(isinstance(held, _Quote) for held in self._open):
            self._write_quoted(leaves)
        elif self._open:
            self._write_item(leaves)
        else:
            self._join("section", leaves, "\n" if self._after_heading else "\n\n")
        self._after_heading = self.heading

    def code(self, words: str) -> None:
        """Add a block of code; the item it stands in alone still has its marker."""
        if self._open and isinstance(self._open[-1], _List) and self._open[-1].marker_due:
            self.write([text(" ")])
        self._pieces.append(_Piece("preformatted", [[text(words or " ")]]))

    def elements(self) -> Iterator[Block]:
        """Give all of it as rich text elements."""
        for piece in self._pieces:
            if piece.kind == "list":
                yield from _list_elements(piece)
            else:
                yield from elements(piece.kind, piece.items[0])

    @property
    def _inner(self) -> _List:
        inner = self._open[-1]
        assert isinstance(inner, _List)  # noqa: S101 - an item stands in a list
        return inner

    def _write_quoted(self, leaves: Leaves) -> None:
        """Add a paragraph to the quote; the lists in it have their markers as text."""
        lists = [held for held in self._open if isinstance(held, _List)]
        inner = self._open[-1]
        due = isinstance(inner, _List) and inner.marker_due
        margin = "    " * (len(lists) - 1)
        if isinstance(inner, _List):
            leaves = [text(margin + (inner.marker if due else "  ")), *leaves]
            inner.marker_due = False
        self._join("quote", leaves, "\n" if due or self._after_heading else "\n\n")

    def _write_item(self, leaves: Leaves) -> None:
        inner = self._inner
        indent = min(len(self._open) - 1, LIST_INDENT)
        last = self._pieces[-1] if self._pieces else None
        same = last and last.kind == "list" and last.indent == indent
        ordered = inner.number is not None
        if not inner.marker_due:
            if last and same:
                last.items[-1] += [text("\n"), *leaves]
            else:
                self._join("section", leaves, "\n\n")
            return
        inner.marker_due = False
        number = inner.number - 1 if inner.number is not None else None
        continues = last and same and (last.number is not None) == ordered
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
