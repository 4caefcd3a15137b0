"""What Slack takes, in Slack's own numbers, and the margins we keep to them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it.common.normalize_url import normalizeLink
from rich.cells import split_graphemes

from bot.chat import Table
from bot.render.formatting import monospaced
from bot.render.markdown_parser import Code, Grid, OpenBlocks, OpenList, Parsed, TextRun, walk
from bot.render.markdown_parser import Leaves as Read
from bot.render.text_safety import GAP, Tokens, shortened, shown_text

# --- What Slack takes, in Slack's own numbers, and the margins we keep to them.

BLOCKS = 50
MODAL_BLOCKS = 95  # Slack's 100, less what a modal's own row of buttons needs
MODAL_JSON = 40_000
# Others measured that more than about 13,200 characters of blocks are refused, and not what counts.
MESSAGE_JSON = 12_000

TEXT = 40_000  # what `text` may hold where it is all there is
SUMMARY = 300

HEADER = 150
BOLD_HEADING = 600  # our own: more than this is no heading
RICH_ELEMENT = 3_000
CONTEXT_ELEMENTS = 10
PLAIN_TEXT = 3_000
LIST_INDENT = 8

ACTIONS = 25
BUTTON_LABEL = 75
BUTTON_VALUE = 2_000
ACTION_ID = 255
URL = 2_000
ALT_TEXT = 1_000  # of a picture
CALLED = 50  # our own: people one message calls

TABLE_ROWS = 100
TABLE_COLUMNS = 20
TABLE_TEXT = 9_500
DATA_TABLE_ROWS = 101  # with the header; newer pages say 201
DATA_TABLE_PAGE = 20

PLAN_TASKS = 50
PLAN_TITLE = 256
TASK_TITLE = 150


# --- Untrusted text made inert: it can neither call people nor be read as Slack's markup.

_PERSON = re.compile(r"[UW][A-Z0-9]+")
_CALLED = ("channel", "here", "everyone")
_COMMANDS = (*_CALLED, "group", "subteam", "date")


def _begun(words: tuple[str, ...]) -> str:
    """Match each word whole, or as much of it as a text ends with: the rest may follow."""
    whole = {GAP.join(word) for word in words}
    parts = {GAP.join(word[:n]) + GAP + r"\Z" for word in words for n in range(len(word))}
    return f"(?:{'|'.join(sorted(whole) + sorted(parts))})"


_LESS = r"<|&lt;|&#0{0,9}60;|&#x0{0,9}3c;"
_PINGS = Tokens(
    re.compile(
        rf"@(?={GAP}{_begun(_CALLED)})"
        rf"|(?:{_LESS})(?={GAP}(?:\Z|!{GAP}{_begun(_COMMANDS)}|[@#]{GAP}(?:[a-z0-9]|\Z)))",
        re.IGNORECASE,
    ),
    signs="@<&＠﹫＜﹤",
)


def inert(text: str) -> str:
    """Give the text as it can be shown in any field that Slack does not parse."""
    return _PINGS.broken(text)


def escaped(text: str) -> str:
    """Give the text for a field that Slack parses as mrkdwn: nothing in it is markup."""
    return inert(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def inert_url(url: str) -> str:
    """Give an address that leads to the same place and holds no token that calls people."""
    return _PINGS.broken_url(url)


def one_line(text: str) -> str:
    """Give the text in one line, inert."""
    return inert(" ".join(text.split()))


def callable_ids(ids: Iterable[str]) -> list[str]:
    """Give the ids that are people's, as many as one message calls."""
    return [id_ for id_ in dict.fromkeys(ids) if _PERSON.fullmatch(id_)][:CALLED]


# --- Slack's rich text, put together: leaves into elements, elements into blocks, each within lim

Block = dict[str, Any]  # a piece of Block Kit as Slack's JSON has it
Leaves = list[Block]


def text(shown: str, *styles: str) -> Block:
    """Give a run of text; the styles are Slack's: bold, italic, strike, code."""
    leaf: Block = {"type": "text", "text": shown}
    return leaf | {"style": dict.fromkeys(styles, True)} if styles else leaf


def link(url: str) -> Block:
    """Give an address to press that shows where it leads."""
    return {"type": "link", "url": url}


def shown(leaf: Block) -> str:
    """Give what a person reads of a leaf."""
    return str(leaf.get("text", leaf.get("url", "")))


def size(element: Block) -> int:
    """Give the number of characters shown in an element."""
    if "elements" not in element:
        return len(shown(element))
    return sum(map(size, element["elements"]))


def element(kind: str, leaves: Sequence[Block], **more: object) -> Block:
    """Give a rich text element: section, quote, preformatted or list."""
    return {"type": f"rich_text_{kind}", "elements": list(leaves), **more}


def elements(kind: str, leaves: Sequence[Block]) -> Iterator[Block]:
    """Give the leaves as one element, or as several where they are too long for one."""
    for part in parted(joined(leaves)):
        yield element(kind, part)


def joined(leaves: Iterable[Block]) -> Leaves:
    """Give the leaves with neighbours of one style made one."""
    made: Leaves = []
    for leaf in leaves:
        if made and leaf["type"] == made[-1]["type"] == "text" and _alike(made[-1], leaf):
            made[-1] = made[-1] | {"text": made[-1]["text"] + leaf["text"]}
        else:
            made.append(leaf)
    return made


def _alike(one: Block, other: Block) -> bool:
    return bool(one.get("style") == other.get("style"))


def bold(leaves: Iterable[Block]) -> Leaves:
    """Give the leaves with their text in bold."""
    return [
        leaf | {"style": leaf.get("style", {}) | {"bold": True}} if leaf["type"] == "text" else leaf
        for leaf in leaves
    ]


def parted(leaves: Sequence[Block], limit: int = RICH_ELEMENT) -> Iterator[Leaves]:
    """Part leaves into lists of at most so many characters, at lines or words where it can."""
    part: Leaves = []
    room = limit
    for leaf in leaves:
        rest = leaf
        while size(rest) > room and "text" in rest:
            head, tail = _halves(rest["text"], room, fresh=not part)
            part += [rest | {"text": head}] if head else []
            if part:
                yield part
            part, room, rest = [], limit, rest | {"text": tail}
        if size(rest) > room:
            yield part
            part, room = [], limit
        part += [rest] if shown(rest) else []
        room -= size(rest)
    if part:
        yield part


def _halves(words: str, room: int, *, fresh: bool) -> tuple[str, str]:
    """Cut after a line's or a word's end, or between characters if nothing precedes it."""
    head = words[:room]
    if (cut := head.rfind("\n")) > 0:
        return words[:cut], words[cut + 1 :]
    if (cut := head.rfind(" ")) > 0:
        return words[:cut], words[cut:]
    if not fresh:
        return "", words
    ends = [end for _, end, _ in split_graphemes(words[: room + 64])[0] if end <= room]
    cut = ends[-1] if ends else room
    return words[:cut], words[cut:]


def blocks(parts: Iterable[Block]) -> list[Block]:
    """Give rich text blocks of the elements, each short enough for one element's limit."""
    packed: list[list[Block]] = []
    room = 0
    for part in parts:
        if size(part) > room:
            packed.append([])
            room = RICH_ELEMENT
        packed[-1].append(part)
        room -= size(part)
    return [{"type": "rich_text", "elements": inside} for inside in packed]


# --- Leaves of a text as Slack has them: styled runs, and links that show where they lead.


def leaves_in_slack(leaves: Read) -> Leaves:
    """Give the leaves as rich text, none of which calls anybody."""
    return [_leaf(leaf) for leaf in leaves]


def _leaf(leaf: TextRun) -> Block:
    """Give a web address to press; any other is text."""
    if leaf.leads_out and len(leaf.text) <= URL:
        return link(inert_url(shown_text(normalizeLink(leaf.text))))
    return text(inert(leaf.text), *leaf.styles)


# --- A table as a block, at two levels: one that sorts, and one that stands.

_EMPTY = "–"  # Slack takes no empty cell
_NUMBER = re.compile(
    r"(?P<before>\D*?)(?P<number>[-−]?\d+(?:,\d{3})*(?:\.\d+)?)(?P<after>.*)", re.S
)
_LONGEST_NUMBER = 15


def data_table_block(table: Table, caption: str) -> Block | None:
    """Give the table that sorts and turns pages; None where it is too large for one."""
    rows = _rows(table)
    if not _within(rows, DATA_TABLE_ROWS) or not table.rows:
        return None
    numbers = [_numbers(table, column) for column in range(len(table.columns))]
    cells = [
        [_raw(cell, values[at]) for cell, values in zip(row, numbers, strict=True)]
        for at, row in enumerate(rows[1:])
    ]
    return {
        "type": "data_table",
        "caption": shortened(one_line(caption) or "Table", PLAIN_TEXT),
        "page_size": min(len(table.rows), DATA_TABLE_PAGE),
        "rows": [[_raw(cell) for cell in rows[0]], *cells],
    }


def table_block(table: Table) -> Block | None:
    """Give the plain table block; None where the table is too large for one."""
    rows = _rows(table)
    if not _within(rows, TABLE_ROWS):
        return None
    return {
        "type": "table",
        "rows": [[_raw(cell) for cell in row] for row in rows],
        "column_settings": [
            {"align": "right" if at in table.numeric else "left", "is_wrapped": True}
            for at in range(len(table.columns))
        ],
    }


def _rows(table: Table) -> list[list[str]]:
    """Give all rows inert, none of their cells empty; a column of places is headed #."""
    head = [
        inert(name).strip() or ("#" if at in table.numeric else _EMPTY)
        for at, name in enumerate(table.columns)
    ]
    return [head, *([inert(cell).strip() or _EMPTY for cell in row] for row in table.rows)]


def _within(rows: Sequence[Sequence[str]], most: int) -> bool:
    columns = len(rows[0])
    return (
        len(rows) <= most
        and 1 <= columns <= TABLE_COLUMNS
        and all(len(row) == columns for row in rows)
        and sum(len(cell) for row in rows for cell in row) <= TABLE_TEXT
    )


def _raw(cell: str, value: float | None = None) -> Block:
    if value is None:
        return {"type": "raw_text", "text": cell}
    return {"type": "raw_number", "value": value, "text": cell}


def _numbers(table: Table, column: int) -> list[float | None]:
    """Give what a numeric column sorts by: nothing unless all its numbers have one unit."""
    nothing: list[float | None] = [None] * len(table.rows)
    if column not in table.numeric:
        return nothing
    found = [_NUMBER.fullmatch(row[column].strip()) for row in table.rows]
    units = {(number["before"], number["after"]) for number in found if number}
    if len(units) != 1:
        return nothing
    return [_value(number["number"]) if number else None for number in found]


def _value(digits: str) -> float | None:
    """Give a number as Slack takes it; digits beyond those of a float stay text."""
    if len(digits) > _LONGEST_NUMBER:
        return None
    plain = digits.replace(",", "").replace("−", "-")
    return float(plain) if "." in plain else int(plain)


# --- The flow of a text: which paragraph, item, quote or code comes after which.


@dataclass(slots=True)
class _Piece:
    """What becomes an element: leaves of one kind; of items, those of one list."""

    kind: str
    items: list[Leaves]
    indent: int = 0
    number: int | None = None


@dataclass(slots=True)
class Flow(OpenBlocks):
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


# --- Markdown by models and people as Slack's rich text: shown, never obeyed.


def markdown_blocks(prose: Parsed, *, as_table: bool) -> list[Block]:
    """Give the blocks of a text: rich text, and a table block where there is one to be had."""
    flow = Flow(as_table=as_table)
    walk(prose, flow)
    return flow.blocks()
