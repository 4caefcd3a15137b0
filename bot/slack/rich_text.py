"""Slack rich text: Markdown and tables as Block Kit blocks, escaping, and Block Kit's limits.

Text by models and people is shown and never parsed: it cannot mention anybody or hide a link.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it.common.normalize_url import normalizeLink
from rich.cells import split_graphemes

from bot.chat import Table
from bot.render.formatting import monospace_table, parse_time
from bot.render.markdown_parser import (
    CodeBlock,
    MarkdownTable,
    MarkdownVisitor,
    OpenList,
    ParsedMarkdown,
    TextRun,
    embolden,
    walk_markdown,
)
from bot.render.markdown_parser import TextRuns as Runs
from bot.render.text_safety import (
    INVISIBLE_PATTERN,
    ZERO_WIDTH_SPACE,
    Tokens,
    shorten,
    visible_text,
)

# --- Limits of Block Kit, in characters or elements.

MAX_RICH_TEXT = 3_000
MAX_PLAIN_TEXT = 3_000
MAX_ALT_TEXT = 1_000
_MAX_URL = 2_000
_MAX_TABLE_COLUMNS = 20
_MAX_TABLE_TEXT = 9_500


Block = dict[str, Any]  # a block, an element or a leaf in Slack's JSON
Leaves = list[Block]


def markdown_blocks(prose: ParsedMarkdown, *, as_table: bool) -> list[Block]:
    """Return a parsed text as rich text; with `as_table`, its tables become table blocks."""
    builder = _RichTextBuilder(as_table=as_table)
    walk_markdown(prose, builder)
    return builder.blocks()


# --- Escaping: untrusted text can neither mention people nor be read as mrkdwn.

_USER_ID = re.compile(r"[UW][A-Z0-9]+")
_BROADCASTS = ("channel", "here", "everyone")
_COMMANDS = (*_BROADCASTS, "group", "subteam", "date")


def neutralize(text: str) -> str:
    """Return the text for a field that is not parsed, with tokens that would mention broken."""
    return _MENTIONS.broken(text)


def escape_mrkdwn(text: str) -> str:
    """Return the text for a field that Slack parses as mrkdwn, without any markup."""
    return neutralize(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# Characters that Slack reads as markup, and similar ones that it does not: it has no escapes.
_WIDE_BACKTICK, _SIMILAR_BACKTICK = "\uff40", "\u02cb"
_SIMILAR = str.maketrans(f"*\uff0a~`{_WIDE_BACKTICK}", f"\u2217\ufe61\u223c{_SIMILAR_BACKTICK * 2}")
_WORD_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])[_\uff3f]|[_\uff3f](?![^\W_])")
_EMOJI_COLON = re.compile(r":(?=[^\s:]+:)")
_QUOTE_SIGN = re.compile(r"^(\s*)(?:&gt;|\uff1e)", re.MULTILINE)


def mrkdwn_text(runs: Iterable[tuple[str, str]]) -> Block:
    """Return styled runs as Block Kit's object for mrkdwn: no other markup, link or emoji works."""
    text = "".join(_mrkdwn_run(escape_mrkdwn(run), style) for run, style in runs)
    return {"type": "mrkdwn", "text": _QUOTE_SIGN.sub("\\1\u203a", text), "verbatim": True}


def _mrkdwn_run(escaped: str, style: str) -> str:
    """Return one run, with all markup of its own broken; my_panel stays as it is."""
    if not escaped.strip():
        return escaped
    if style == "time":  # a timestamp; Slack shows it in the reader's own time zone
        timestamp, shown = parse_time(escaped)
        return f"<!date^{timestamp}^{{date_short_pretty}} at {{time}}|{shown}>"
    if style == "code":
        return f"`{escaped.replace(_WIDE_BACKTICK, _SIMILAR_BACKTICK)}`"
    plain = _WORD_EDGE_UNDERSCORE.sub("\u02cd", escaped.translate(_SIMILAR))
    plain = _EMOJI_COLON.sub(f":{ZERO_WIDTH_SPACE}", plain)
    return f"*{plain}*" if style else plain


def one_line(text: str) -> str:
    """Return the neutralized text in one line."""
    return neutralize(" ".join(text.split()))


def mentionable_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids of users, at most as many as one message may mention."""
    return [id_ for id_ in dict.fromkeys(ids) if _USER_ID.fullmatch(id_)][:50]


def _prefix_pattern(words: tuple[str, ...]) -> str:
    """Return a pattern for each whole word, or a prefix of it at the end: the rest may follow."""
    whole = {INVISIBLE_PATTERN.join(word) for word in words}
    prefixes = {
        INVISIBLE_PATTERN.join(word[:n]) + INVISIBLE_PATTERN + r"\Z"
        for word in words
        for n in range(len(word))
    }
    return f"(?:{'|'.join(sorted(whole) + sorted(prefixes))})"


_LESS_THAN = r"<|&lt;|&#0{0,9}60;|&#x0{0,9}3c;"
_MENTIONS = Tokens(
    re.compile(
        rf"@(?={INVISIBLE_PATTERN}{_prefix_pattern(_BROADCASTS)})"
        rf"|(?:{_LESS_THAN})"
        rf"(?={INVISIBLE_PATTERN}(?:\Z|!{INVISIBLE_PATTERN}{_prefix_pattern(_COMMANDS)}|[@#]{INVISIBLE_PATTERN}(?:[a-z0-9]|\Z)))",
        re.IGNORECASE,
    ),
    signs="@<&＠﹫＜﹤",
)


def plain_text(text: str, *, emoji: bool = False) -> Block:
    """Return the text as Block Kit's object for a field that is not parsed."""
    return {"type": "plain_text", "text": text, "emoji": emoji}


# --- Rich text: leaves make elements, elements make blocks, each within its limit.


def text_leaf(text: str, *styles: str) -> Block:
    """Return a run of text; the styles are Slack's: bold, italic, strike, code."""
    leaf: Block = {"type": "text", "text": text}
    return leaf | {"style": dict.fromkeys(styles, True)} if styles else leaf


def rich_text_element(kind: str, children: Sequence[Block], **more: object) -> Block:
    """Return a rich text element: section, quote, preformatted or list."""
    return {"type": f"rich_text_{kind}", "elements": list(children), **more}


def rich_text_elements(kind: str, leaves: Sequence[Block]) -> Iterator[Block]:
    """Yield the leaves as one element, or as several if they are too long for one."""
    for part in split_leaves(_merge_leaves(leaves)):
        yield rich_text_element(kind, part)


def rich_text_blocks(elements: Iterable[Block]) -> list[Block]:
    """Return the elements in rich text blocks, each no longer than one element may be."""
    packed: list[list[Block]] = []
    room = 0
    for element in elements:
        if text_length(element) > room:
            packed.append([])
            room = MAX_RICH_TEXT
        packed[-1].append(element)
        room -= text_length(element)
    return [{"type": "rich_text", "elements": children} for children in packed]


def text_length(element: Block) -> int:
    """Return the number of characters that an element shows."""
    if "elements" not in element:
        return len(_leaf_text(element))
    return sum(map(text_length, element["elements"]))


def split_leaves(leaves: Sequence[Block], limit: int = MAX_RICH_TEXT) -> Iterator[Leaves]:
    """Yield the leaves in lists of at most `limit` characters, split at lines or words if possible.

    White space at a split may be dropped; a URL is never split.
    """
    part: Leaves = []
    room = limit
    for leaf in leaves:
        rest = leaf
        while text_length(rest) > room and "text" in rest:
            head, tail = _split_text(rest["text"], room, is_fresh=not part)
            part += [rest | {"text": head}] if head else []
            if part:
                yield part
            part, room, rest = [], limit, rest | {"text": tail}
        if text_length(rest) > room:
            yield part
            part, room = [], limit
        part += [rest] if _leaf_text(rest) else []
        room -= text_length(rest)
    if part:
        yield part


def _split_text(words: str, room: int, *, is_fresh: bool) -> tuple[str, str]:
    """Split after a line or a word; inside a word only if nothing precedes it."""
    head = words[:room]
    if (cut := head.rfind("\n")) > 0:
        return words[:cut], words[cut + 1 :]
    if (cut := head.rfind(" ")) > 0:
        return words[:cut], words[cut:]
    if not is_fresh:
        return "", words
    ends = [end for _, end, _ in split_graphemes(words[: room + 64])[0] if end <= room]
    cut = ends[-1] if ends else room
    return words[:cut], words[cut:]


def _merge_leaves(leaves: Iterable[Block]) -> Leaves:
    merged: Leaves = []
    for leaf in leaves:
        last = merged[-1] if merged else {}
        if leaf["type"] == last.get("type") == "text" and leaf.get("style") == last.get("style"):
            merged[-1] = last | {"text": last["text"] + leaf["text"]}
        else:
            merged.append(leaf)
    return merged


def _leaf_text(leaf: Block) -> str:
    return str(leaf.get("text", leaf.get("url", "")))


def _render_run(run: TextRun) -> Block:
    """Return a web address as a link that shows where it leads, and anything else as text."""
    if run.is_web_link and len(run.text) <= _MAX_URL:
        url = visible_text(normalizeLink(run.text))
        return {"type": "link", "url": _MENTIONS.neutralize_url(url)}
    return text_leaf(neutralize(run.text), *run.styles)


_EMPTY_CELL = "–"  # Slack refuses empty cells
_NUMBER = re.compile(
    r"(?P<before>\D*?)(?P<number>[-−]?\d+(?:,\d{3})*(?:\.\d+)?)(?P<after>.*)", re.S
)
_MAX_DIGITS = 15


def data_table_block(table: Table, caption: str) -> Block | None:
    """Return a table that users can sort and page through; None if it is too large."""
    head, *rows = _cells(table)
    if not _fits_table([head, *rows], 101) or not rows:
        return None
    values = zip(*(_sort_values(table, column) for column in range(len(head))), strict=True)
    return {
        "type": "data_table",
        "caption": shorten(one_line(caption) or "Table", MAX_PLAIN_TEXT),
        "page_size": min(len(rows), 20),
        "rows": [
            list(map(_raw_cell, head)),
            *(list(map(_raw_cell, *pair)) for pair in zip(rows, values, strict=True)),
        ],
    }


def table_block(table: Table) -> Block | None:
    """Return a plain table; None if it is too large."""
    rows = _cells(table)
    if not _fits_table(rows, 100):
        return None
    return {
        "type": "table",
        "rows": [list(map(_raw_cell, row)) for row in rows],
        "column_settings": [
            {"align": "right" if at in table.numeric else "left", "is_wrapped": True}
            for at in range(len(table.columns))
        ],
    }


def _cells(table: Table) -> list[list[str]]:
    """Return the header and all rows neutralized; an unnamed numeric column is headed #."""
    head = [
        neutralize(name).strip() or ("#" if at in table.numeric else _EMPTY_CELL)
        for at, name in enumerate(table.columns)
    ]
    return [
        head,
        *([neutralize(cell).strip() or _EMPTY_CELL for cell in row] for row in table.rows),
    ]


def _fits_table(rows: Sequence[Sequence[str]], max_rows: int) -> bool:
    columns = len(rows[0])
    return (
        len(rows) <= max_rows
        and 1 <= columns <= _MAX_TABLE_COLUMNS
        and all(len(row) == columns for row in rows)
        and sum(len(cell) for row in rows for cell in row) <= _MAX_TABLE_TEXT
    )


def _raw_cell(cell: str, value: float | None = None) -> Block:
    if value is None:
        return {"type": "raw_text", "text": cell}
    return {"type": "raw_number", "value": value, "text": cell}


def _sort_values(table: Table, column: int) -> list[float | None]:
    """Return the numbers of a column; None for each unless all have the same unit."""
    matches = [_NUMBER.fullmatch(row[column].strip()) for row in table.rows]
    units = {(match["before"], match["after"]) for match in matches if match}
    if column not in table.numeric or len(units) != 1:
        return [None] * len(table.rows)
    return [_parse_number(match["number"]) if match else None for match in matches]


def _parse_number(digits: str) -> float | None:
    plain = digits.replace(",", "").replace("−", "-")
    if len(digits) > _MAX_DIGITS:  # more than a float can represent
        return None
    return float(plain) if "." in plain else int(plain)


# --- Markdown: the visitor that builds rich text from paragraphs, lists, quotes, code and tables.


@dataclass(slots=True)
class _Piece:
    """Leaves that become elements of one kind; for a list, those of each item."""

    kind: str
    items: list[Leaves]
    indent: int = 0
    number: int | None = None


@dataclass(slots=True)
class _RichTextBuilder(MarkdownVisitor):
    """Builds the blocks of a text that is walked in order; see bot.render.markdown_parser.Flow."""

    as_table: bool = False
    _blocks: list[Block] = field(default_factory=list)
    _pieces: list[_Piece] = field(default_factory=list)
    _is_after_heading: bool = False

    def close_item(self) -> None:
        """End an item; an empty one gets a space, so that Slack shows it."""
        if self.is_marker_due:
            self._add([text_leaf(" ")])

    def write(self, leaves: Runs, heading: int = 0) -> None:
        """Add a paragraph; a heading is bold."""
        rendered = [_render_run(run) for run in (embolden(leaves) if heading else leaves)]
        self._add(rendered)
        self._is_after_heading = bool(heading) if rendered else self._is_after_heading

    def code(self, code: CodeBlock) -> None:
        """Add a code block."""
        self._add_preformatted(neutralize(code.text))

    def table(self, grid: MarkdownTable) -> None:
        """Add a table: as a table block if possible, else monospaced."""
        block = table_block(grid.plain) if self.as_table and not grid.is_nested else None
        if not block:
            self._add_preformatted(neutralize(monospace_table(grid.plain)))
            return
        self._blocks += [*rich_text_blocks(self._elements()), block]
        self._pieces = []
        self._is_after_heading = False

    def rule(self) -> None:
        """Add an empty paragraph, because rich text has no horizontal rule."""
        self._add([text_leaf(" ")])

    def blocks(self) -> list[Block]:
        """Return all blocks."""
        return [*self._blocks, *rich_text_blocks(self._elements())]

    def _elements(self) -> Iterator[Block]:
        for piece in self._pieces:
            if piece.kind == "list":
                yield from _list_elements(piece)
            else:
                yield from rich_text_elements(piece.kind, piece.items[0])

    def _add_preformatted(self, words: str) -> None:
        self.close_item()
        self._pieces.append(_Piece("preformatted", [[text_leaf(words or " ")]]))

    def _add(self, leaves: Leaves) -> None:
        if not leaves:
            return
        if self.is_quoted:
            self._add_to_quote(leaves)
        elif inner := self.inner:
            self._add_to_list(inner, leaves)
        else:
            self._append("section", leaves, "\n" if self._is_after_heading else "\n\n")
        self._is_after_heading = False

    def _add_to_quote(self, leaves: Leaves) -> None:
        """Add a paragraph to the quote; lists in it have their markers as text."""
        is_item = self.is_marker_due
        if inner := self.inner:
            margin = "    " * (len(self.lists) - 1)
            marker = inner.marker("•") if is_item else "  "
            leaves = [text_leaf(margin + marker), *leaves]
            inner.marker_due = False
        self._append("quote", leaves, "\n" if is_item or self._is_after_heading else "\n\n")

    def _add_to_list(self, inner: OpenList, leaves: Leaves) -> None:
        indent = min(len(self.held) - 1, 8)
        last = self._pieces[-1] if self._pieces else None
        is_same_list = last and last.kind == "list" and last.indent == indent
        number = inner.number
        if not inner.marker_due:
            if last and is_same_list:
                last.items[-1] += [text_leaf("\n"), *leaves]
            else:
                self._append("section", leaves, "\n\n")
            return
        inner.marker_due = False
        continues = last and is_same_list and (last.number is None) == (number is None)
        if (
            last
            and continues
            and (number is None or number == (last.number or 0) + len(last.items))
        ):
            last.items.append(list(leaves))
        else:
            self._pieces.append(_Piece("list", [list(leaves)], indent, number))

    def _append(self, kind: str, leaves: Leaves, gap: str) -> None:
        last = self._pieces[-1].kind if self._pieces else ""
        if last == kind:
            self._pieces[-1].items[0] += [text_leaf(gap), *leaves]
        elif last == "list" and kind == "section":
            self._pieces.append(_Piece(kind, [[text_leaf("\n"), *leaves]]))
        else:
            self._pieces.append(_Piece(kind, [list(leaves)]))


def _list_elements(piece: _Piece) -> Iterator[Block]:
    """Yield the items as one list, or as several with continued numbers if it is too long."""
    room, batch, count = MAX_RICH_TEXT, list[Block](), 0
    for leaves in piece.items:
        first, *more = split_leaves(_merge_leaves(leaves))
        section = rich_text_element("section", first)
        if batch and text_length(section) > room:
            yield _list_element(piece, batch, count)
            room, batch, count = MAX_RICH_TEXT, [], count + len(batch)
        batch.append(section)
        room -= text_length(section)
        if more:
            yield _list_element(piece, batch, count)
            room, batch, count = MAX_RICH_TEXT, [], count + len(batch)
            yield from (rich_text_element("section", part) for part in more)
    if batch:
        yield _list_element(piece, batch, count)


def _list_element(piece: _Piece, sections: Sequence[Block], count: int) -> Block:
    """Return a list of these sections; `count` items of it came before."""
    attributes: Block = {"style": "bullet" if piece.number is None else "ordered"}
    if piece.indent:
        attributes["indent"] = piece.indent
    if piece.number is not None and piece.number + count > 1:
        attributes["offset"] = piece.number + count - 1
    return rich_text_element("list", sections, **attributes)
