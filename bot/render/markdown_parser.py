"""Inline Markdown as leaves: words in their styles, and addresses that show where they lead."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.chat import Table
from bot.render.text_safety import has_surplus_cells, shown_text

# --- Inline Markdown as leaves: words in their styles, and addresses that show where they lead.

_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
_BARE_URL = re.compile(r"https?://[^\s<>\"`|\\^{}\[\]]+", re.IGNORECASE)
_WEB_URL = re.compile(r"https?://[^/\s]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextRun:
    """Untrusted words in styles: bold, italic, strike, code. An address may be one to press."""

    text: str
    styles: tuple[str, ...] = ()
    is_address: bool = False

    @property
    def leads_out(self) -> bool:
        """Say whether it is an address on the web; no other is ever pressed."""
        return self.is_address and bool(_WEB_URL.match(self.text))


Leaves = Sequence[TextRun]


def inline_runs(tokens: Iterable[Token]) -> list[TextRun]:
    """Give the leaves of inline tokens; raw HTML and foreign markup are text among them."""
    run = _RunBuilder()
    for token in tokens:
        _add_token(run, token)
    return run.leaves


def plain_leaves(words: str) -> list[TextRun]:
    """Give the leaves of words that are no Markdown: addresses, and the text between them."""
    run = _RunBuilder()
    run.write_linked(words)
    return run.leaves


def bold(leaves: Iterable[TextRun]) -> list[TextRun]:
    """Give the leaves with their words in bold."""
    return [
        leaf
        if leaf.is_address
        else replace(leaf, styles=tuple({**dict.fromkeys(leaf.styles), "bold": None}))
        for leaf in leaves
    ]


def plain_text(leaves: Iterable[TextRun]) -> str:
    """Give what the leaves say in one line."""
    return " ".join("".join(leaf.text for leaf in leaves).split())


@dataclass(slots=True)
class _RunBuilder:
    """What an inline text has come to."""

    leaves: list[TextRun] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    links: list[tuple[int, Token]] = field(default_factory=list)  # where each label began

    def write(self, words: str, *styles: str) -> None:
        """Add text in the styles that are open."""
        if words:
            self.leaves.append(TextRun(words, tuple(dict.fromkeys([*self.styles, *styles]))))

    def write_linked(self, words: str) -> None:
        """Add text, in which addresses can be pressed unless it is a link's label."""
        at = 0
        for found in () if self.links else _BARE_URL.finditer(words):
            url = _trim_url(found[0])
            self.write(words[at : found.start()])
            self.leaves.append(TextRun(url, is_address=True))
            at = found.start() + len(url)
        self.write(words[at:])

    def close_link(self) -> None:
        """Follow the label by the address, unless the label is the address."""
        began, opened = self.links.pop()
        href = str(opened.attrs.get("href", ""))
        address = TextRun(href, is_address=True)
        label = "".join(leaf.text for leaf in self.leaves[began:])
        if label in {"", href} or f"mailto:{label}" == href:
            self.leaves[began:] = [address] if address.leads_out else [TextRun(label or " ")]
            return
        self.write(" (")
        self.leaves.append(address)
        title = str(opened.attrs.get("title", ""))
        self.write(f", {title})" if title else ")")


def _add_token(run: _RunBuilder, token: Token) -> None:
    match token.type:
        case "link_open":
            run.links.append((len(run.leaves), token))
        case "link_close":
            run.close_link()
        case "image":
            _add_image(run, token)
        case "code_inline":
            run.write(token.content, "code")
        case "softbreak" | "hardbreak":
            run.write("\n")
        case kind if kind.endswith("_open"):
            run.styles.append(_STYLES.get(kind.removesuffix("_open"), "bold"))
        case kind if kind.endswith("_close"):
            run.styles.pop()
        case _:
            run.write_linked(token.content)


def _add_image(run: _RunBuilder, token: Token) -> None:
    """Show an image as a link: loading it would tell its server who reads."""
    href = str(token.attrs.get("src", ""))
    opened = Token("link_open", "a", 1, attrs={"href": href, "title": token.attrs.get("title", "")})
    run.links.append((len(run.leaves), opened))
    run.write(token.content)
    run.close_link()


def _trim_url(url: str) -> str:
    """Give an address without the sentence's own signs at its end."""
    url = url.rstrip(".,;:!?'*_~")
    return url.rstrip(").,;:!?'*_~") if "(" not in url else url


# --- Markdown as tokens; raw HTML, references and what is nested beyond reason are text among the

_MAX_NESTING = 40  # the parser leaves out what is nested deeper
_MAX_BRACKETS = 2_000  # each may begin a link, and the parser looks for the end of every one
_MAX_LANGUAGE_LENGTH = 24


def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING})
    # What a reference defines would be left out where the reference is on another page.
    return markdown.enable(["table", "strikethrough"]).disable("reference")


_MARKDOWN = _parser()


@dataclass(frozen=True, slots=True)
class Parsed:
    """Markdown read once: its tokens, and the text that their lines count."""

    tokens: Sequence[Token]
    source: str

    @property
    def tables(self) -> int:
        """Give how many tables stand outside of lists and quotes."""
        return sum(token.type == "table_open" and not token.level for token in self.tokens)

    def lines_of(self, token: Token) -> str:
        """Give a block as it was written."""
        first, last = token.map or (0, 0)
        return "\n".join(self.source.split("\n")[first:last]).strip("\n")


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code, and the language that it names."""

    text: str
    language: str = ""


def parsed(source: str) -> Parsed:
    """Read Markdown; what is nested or linked beyond reason is plain paragraphs."""
    source = shown_text(source)
    if source.count("[") > _MAX_BRACKETS:
        return Parsed(_plain_paragraphs(source), source)
    tokens = _MARKDOWN.parse(source)
    if any(token.level >= _MAX_NESTING - 1 for token in tokens):
        return Parsed(_plain_paragraphs(source), source)
    return Parsed(tokens, source)


def code_block(token: Token) -> Code:
    """Give a block of code; words after the fence that are no language's name come first in it."""
    code = token.content.removesuffix("\n")
    info = token.info.strip()
    if len(info) > _MAX_LANGUAGE_LENGTH or len(info.split()) > 1:
        return Code(f"{info}\n{code}")
    return Code(code, info)


def _plain_paragraphs(source: str) -> list[Token]:
    texts = [Token("text", "", 0, content=words.strip()) for words in source.split("\n\n")]
    return [Token("inline", "", 0, children=[words]) for words in texts]


# --- Where a flow stands: in which quotes and lists, and whether an item's marker is still due.


@dataclass(slots=True)
class OpenQuote:
    """A quote that is open."""


@dataclass(slots=True)
class OpenList:
    """A list that is open: the number of its next item, if it counts them."""

    next_number: int | None
    marker_due: bool = False

    @property
    def number(self) -> int | None:
        """Give the number of the item that is open, if they are counted."""
        return None if self.next_number is None else self.next_number - 1

    def marker(self, bullet: str) -> str:
        """Give what stands before the item that is open."""
        return f"{bullet} " if self.number is None else f"{self.number}. "


@dataclass(slots=True)
class OpenBlocks:
    """The quotes and lists that are open, outermost first; the part of a flow all chats share."""

    held: list[OpenQuote | OpenList] = field(default_factory=list)

    def open_quote(self) -> None:
        """Begin a quote."""
        self.held.append(OpenQuote())

    def open_list(self, number: int | None = None) -> None:
        """Begin a list, ordered from a number on or of bullets."""
        self.held.append(OpenList(number))

    def close(self) -> None:
        """End the innermost quote or list."""
        self.held.pop()

    def open_item(self) -> None:
        """Begin an item of the innermost list."""
        if inner := self.inner:
            inner.marker_due = True
            inner.next_number = None if inner.next_number is None else inner.next_number + 1

    @property
    def inner(self) -> OpenList | None:
        """Give the innermost that is open, if it is a list."""
        return self.held[-1] if self.held and isinstance(self.held[-1], OpenList) else None

    @property
    def lists(self) -> list[OpenList]:
        """Give the lists that are open."""
        return [held for held in self.held if isinstance(held, OpenList)]

    @property
    def is_quoted(self) -> bool:
        """Say whether a quote is open."""
        return len(self.lists) < len(self.held)

    @property
    def is_marker_due(self) -> bool:
        """Say whether an item has begun of which nothing is written."""
        return bool(self.inner and self.inner.marker_due)


# --- Through a Markdown text in order: what opens and closes, and what is written in between.

_Row = Sequence[Leaves]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with its cells as leaves: the first row is the head."""

    rows: Sequence[_Row]
    numeric: frozenset[int]
    is_nested: bool  # in a list or a quote

    @property
    def plain(self) -> Table:
        """Give the table with its cells as text."""
        columns, *body = (tuple(map(plain_text, row)) for row in self.rows)
        return Table(columns, tuple(body), self.numeric)


class MarkdownVisitor(Protocol):
    """Takes what a text holds in order."""

    def open_quote(self) -> None:
        """Begin a quote."""
        ...

    def open_list(self, number: int | None = None) -> None:
        """Begin a list, ordered from a number on or of bullets."""
        ...

    def close(self) -> None:
        """End the innermost quote or list."""
        ...

    def open_item(self) -> None:
        """Begin an item of the innermost list."""
        ...

    def close_item(self) -> None:
        """End an item: an empty one is shown too."""
        ...

    def write(self, leaves: Leaves, heading: int = 0) -> None:
        """Add a paragraph, or a heading of a level from 1 to 6."""
        ...

    def code(self, code: Code) -> None:
        """Add a block of code."""
        ...

    def table(self, grid: Grid) -> None:
        """Add a table."""
        ...

    def rule(self) -> None:
        """Add a line across."""
        ...


def walk(prose: Parsed, flow: MarkdownVisitor) -> None:
    """Give the flow all that the text holds; a table with surplus cells comes as it is written."""
    at, heading = 0, 0
    while at < len(prose.tokens):
        token = prose.tokens[at]
        if token.type == "table_open":
            end = _block_end(prose.tokens, at)
            _visit_table(prose, prose.tokens[at:end], flow)
            at = end
            continue
        at += 1
        match token.type:
            case "inline":
                flow.write(inline_runs(token.children or ()), heading)
            case "fence" | "code_block":
                flow.code(code_block(token))
            case "hr":
                flow.rule()
            case "heading_open":
                heading = int(token.tag[1])
            case "heading_close":
                heading = 0
            case _:
                _visit_container(flow, token)


def _visit_container(flow: MarkdownVisitor, token: Token) -> None:
    match token.type:
        case "blockquote_open":
            flow.open_quote()
        case "bullet_list_open":
            flow.open_list()
        case "ordered_list_open":
            flow.open_list(int(token.attrs.get("start", 1)))
        case "list_item_open":
            flow.open_item()
        case "list_item_close":
            flow.close_item()
        case "blockquote_close" | "bullet_list_close" | "ordered_list_close":
            flow.close()


def _visit_table(prose: Parsed, tokens: Sequence[Token], flow: MarkdownVisitor) -> None:
    grid = _parse_table(tokens)
    source = prose.lines_of(tokens[0])
    if has_surplus_cells(source.split("\n"), len(grid.rows[0])):
        flow.code(Code(source))
    else:
        flow.table(grid)


def _parse_table(tokens: Sequence[Token]) -> Grid:
    rows: list[list[Leaves]] = []
    right: set[int] = set()
    for before, token in pairwise(tokens):
        if before.type == "tr_open":
            rows.append([])
        if before.type in {"th_open", "td_open"}:
            if "right" in str(before.attrs.get("style", "")):
                right.add(len(rows[-1]))
            rows[-1].append(inline_runs(token.children or ()))
    return Grid(rows, frozenset(right), is_nested=tokens[0].level > 0)


def _block_end(tokens: Sequence[Token], at: int) -> int:
    """Give where the block that is opened here has ended."""
    level = tokens[at].level
    return next(i for i in range(at + 1, len(tokens)) if tokens[i].level == level) + 1
