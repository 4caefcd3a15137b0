"""Markdown parser: walks a text and reports its blocks and styled runs to a visitor.

Knows no platform: each chat implements the visitor.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise, takewhile

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.chat import Table
from bot.render.math_rules import add_math
from bot.render.text_safety import has_surplus_cells, shorten, visible_text

_MAX_NESTING = 40  # the parser drops what is nested deeper
_MAX_BRACKETS, _MAX_BRACKET_DEPTH = 2_000, 100  # the parser searches the end of a link for each
_MAX_LANGUAGE_LENGTH = 24


# --- Inline runs

_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
_BARE_URL = re.compile(r"https?://[^\s<>\"`|\\^{}\[\]]+", re.IGNORECASE)
_WEB_URL = re.compile(r"https?://[^/\s]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextRun:
    """Untrusted text in styles: bold, italic, strike, code; or a URL that may become a link."""

    text: str
    styles: tuple[str, ...] = ()
    is_address: bool = False

    @property
    def is_web_link(self) -> bool:
        """Return whether it is a web address; only those become links."""
        return self.is_address and bool(_WEB_URL.match(self.text))


TextRuns = Sequence[TextRun]


def inline_runs(tokens: Iterable[Token]) -> list[TextRun]:
    """Return the runs of inline tokens; raw HTML and foreign markup become text."""
    builder = _RunBuilder()
    for token in tokens:
        builder.add(token)
    return builder.runs


def linkify(text: str) -> list[TextRun]:
    """Return the runs of plain text: URLs and the text between them."""
    builder = _RunBuilder()
    builder.write_linked(text)
    return builder.runs


def embolden(runs: Iterable[TextRun]) -> list[TextRun]:
    """Return the runs with their text in bold."""
    return [
        run
        if run.is_address
        else replace(run, styles=tuple({**dict.fromkeys(run.styles), "bold": None}))
        for run in runs
    ]


def plain_text(runs: Iterable[TextRun]) -> str:
    """Return the text of the runs on one line."""
    return " ".join("".join(leaf.text for leaf in runs).split())


@dataclass(slots=True)
class _RunBuilder:
    """Collects the runs of an inline text."""

    runs: list[TextRun] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    links: list[tuple[int, str, str]] = field(default_factory=list)  # start of label, URL, title

    def add(self, token: Token) -> None:
        """Add an inline token."""
        match token.type:
            case "link_open":
                self._open_link(token, "href")
            case "link_close":
                self._close_link()
            case "image":  # a link, because loading it would tell its server who reads
                self._open_link(token, "src")
                self._write(token.content)
                self._close_link()
            case "code_inline":
                self._write(token.content, "code")
            case "softbreak" | "hardbreak":
                self._write("\n")
            case kind if kind.endswith("_open"):
                self.styles.append(_STYLES.get(kind.removesuffix("_open"), "bold"))
            case kind if kind.endswith("_close"):
                self.styles.pop()
            case _:
                self.write_linked(token.content)

    def _write(self, text: str, *styles: str) -> None:
        if text:
            self.runs.append(TextRun(text, tuple(dict.fromkeys([*self.styles, *styles]))))

    def write_linked(self, text: str) -> None:
        """Add text with its URLs as links, unless inside a link's label."""
        start = 0
        for match in () if self.links else _BARE_URL.finditer(text):
            # Punctuation at the end belongs to the sentence.
            url = match[0].rstrip(".,;:!?'*_~")
            url = url.rstrip(").,;:!?'*_~") if "(" not in url else url
            self._write(text[start : match.start()])
            self.runs.append(TextRun(url, is_address=True))
            start = match.start() + len(url)
        self._write(text[start:])

    def _open_link(self, token: Token, address: str) -> None:
        href, title = str(token.attrs.get(address, "")), str(token.attrs.get("title", ""))
        self.links.append((len(self.runs), href, title))

    def _close_link(self) -> None:
        """Add the URL after the label, unless the label is the URL."""
        first, href, title = self.links.pop()
        address = TextRun(href, is_address=True)
        label = "".join(leaf.text for leaf in self.runs[first:])
        if label in {"", href} or f"mailto:{label}" == href:
            self.runs[first:] = [address] if address.is_web_link else [TextRun(label or " ")]
            return
        self._write(" (")
        self.runs.append(address)
        self._write(f", {title})" if title else ")")


# --- From text to blocks


# Chats show a formula's source as code, since none can typeset it.
_MARKDOWN = add_math(MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING}))
_MARKDOWN.enable(["table", "strikethrough"])
_MARKDOWN.disable("reference")  # a link and its definition may be split over two pages


@dataclass(frozen=True, slots=True)
class ParsedMarkdown:
    """Parsed Markdown: its tokens, and the source that their line numbers refer to."""

    tokens: Sequence[Token]
    source: str

    @property
    def tables(self) -> int:
        """Return the number of tables outside lists and quotes."""
        return sum(token.type == "table_open" and not token.level for token in self.tokens)


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A block of code and the language it names."""

    text: str
    language: str = ""


def parse_markdown(source: str) -> ParsedMarkdown:
    """Parse Markdown; text nested or linked beyond the limits becomes plain paragraphs."""
    source = visible_text(source)
    if source.count("[") > _MAX_BRACKETS or _bracket_depth(source) > _MAX_BRACKET_DEPTH:
        return ParsedMarkdown(_plain_paragraphs(source), source)
    tokens = _MARKDOWN.parse(source)
    if any(token.level >= _MAX_NESTING - 1 for token in tokens):
        return ParsedMarkdown(_plain_paragraphs(source), source)
    return ParsedMarkdown(tokens, source)


def _bracket_depth(source: str) -> int:
    """Return how many brackets are open at once at most, those that are never closed included."""
    steps = (1 if mark == "[" else -1 for mark in source if mark in "[]")
    return max(accumulate(steps, lambda depth, step: max(0, depth + step)), default=0)


def code_block(token: Token) -> CodeBlock:
    """Return a block of code; an info string that is no language name becomes its first line."""
    code = token.content.removesuffix("\n")
    info = token.info.strip()
    if len(info) > _MAX_LANGUAGE_LENGTH or len(info.split()) > 1:
        return CodeBlock(f"{info}\n{code}")
    return CodeBlock(code, info)


def _plain_paragraphs(source: str) -> list[Token]:
    texts = [Token("text", "", 0, content=text.strip()) for text in source.split("\n\n")]
    return [Token("inline", "", 0, children=[text]) for text in texts]


# --- The first sentence

_MAX_SENTENCE, _MAX_SEARCHED = 200, 4_000  # characters
_ABBREVIATION = re.compile(
    r"(?:\b(?:[a-z]\.[a-z]|etc|vs|cf|no|vol|approx|mr|mrs|ms|dr|st|[a-z]))\.$", re.I
)
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)]*(?=\s)|[。！？]")


def first_sentence(text: str) -> str:
    """Return the first sentence of a Markdown text, plain and of at most 200 characters.

    Headings and code are passed over if other text follows. Return "" for a text without any.
    """
    tokens = parse_markdown(text[:_MAX_SEARCHED]).tokens
    lines, headings = list[str](), list[str]()
    for before, token in pairwise([Token("", "", 0), *tokens]):
        if token.type == "inline":
            line = plain_text(inline_runs(token.children or ()))
            (headings if before.type == "heading_open" else lines).append(line)
    line = next(filter(None, (*lines, *headings)), "")
    for match in _SENTENCE_END.finditer(line):
        if not _ABBREVIATION.search(line[: match.end()]):
            return shorten(line[: match.end()], _MAX_SENTENCE)
    return shorten(line, _MAX_SENTENCE)


# --- Open quotes and lists


class OpenQuote:
    """An open quote."""


@dataclass(slots=True)
class OpenList:
    """An open list; `next_number` is None for bullets."""

    next_number: int | None
    marker_due: bool = False

    @property
    def number(self) -> int | None:
        """Return the number of the open item, None for bullets."""
        return None if self.next_number is None else self.next_number - 1

    def marker(self, bullet: str) -> str:
        """Return the marker of the open item."""
        return f"{bullet} " if self.number is None else f"{self.number}. "


# --- Walk over the parsed blocks


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """A table of runs whose first row is the header."""

    rows: Sequence[Sequence[TextRuns]]
    numeric: frozenset[int]
    is_nested: bool  # in a list or a quote

    @property
    def plain(self) -> Table:
        """Return the table with its cells as plain text."""
        columns, *body = (tuple(map(plain_text, row)) for row in self.rows)
        return Table(columns, tuple(body), self.numeric)


@dataclass(slots=True)
class MarkdownVisitor(ABC):
    """Receives the blocks of a text in order; holds the open quotes and lists, outermost first."""

    held: list[OpenQuote | OpenList] = field(default_factory=list)

    def open_item(self) -> None:
        """Begin an item of the innermost list."""
        if inner := self.inner:
            inner.marker_due = True
            inner.next_number = None if inner.next_number is None else inner.next_number + 1

    @abstractmethod
    def close_item(self) -> None:
        """End an item, even an empty one."""

    @abstractmethod
    def write(self, leaves: TextRuns, heading: int = 0) -> None:
        """Add a paragraph, or a heading of a level from 1 to 6."""

    @abstractmethod
    def code(self, code: CodeBlock) -> None:
        """Add a block of code."""

    @abstractmethod
    def table(self, grid: MarkdownTable) -> None:
        """Add a table."""

    @abstractmethod
    def rule(self) -> None:
        """Add a horizontal rule."""

    @property
    def inner(self) -> OpenList | None:
        """Return the innermost open block if it is a list."""
        return self.held[-1] if self.held and isinstance(self.held[-1], OpenList) else None

    @property
    def lists(self) -> list[OpenList]:
        """Return the open lists."""
        return [block for block in self.held if isinstance(block, OpenList)]

    @property
    def is_quoted(self) -> bool:
        """Return whether a quote is open."""
        return len(self.lists) < len(self.held)

    @property
    def is_marker_due(self) -> bool:
        """Return whether an item has begun of which nothing is written yet."""
        return bool(self.inner and self.inner.marker_due)


def walk_markdown(markdown: ParsedMarkdown, visitor: MarkdownVisitor) -> None:
    """Report all blocks to the visitor; a table with surplus cells is reported as code."""
    tokens, heading = iter(markdown.tokens), 0
    for token in tokens:
        match token.type:
            case "table_open":
                rest = takewhile(lambda inner: inner.type != "table_close", tokens)
                _visit_table(markdown, [token, *rest], visitor)
            case "inline":
                visitor.write(inline_runs(token.children or ()), heading)
            case "fence" | "code_block":
                visitor.code(code_block(token))
            case "hr":
                visitor.rule()
            case "heading_open":
                heading = int(token.tag[1])
            case "heading_close":
                heading = 0
            case _:
                _visit_container(visitor, token)


def _visit_container(visitor: MarkdownVisitor, token: Token) -> None:
    match token.type:
        case "blockquote_open":
            visitor.held.append(OpenQuote())
        case "bullet_list_open":
            visitor.held.append(OpenList(None))
        case "ordered_list_open":
            visitor.held.append(OpenList(int(token.attrs.get("start", 1))))
        case "list_item_open":
            visitor.open_item()
        case "list_item_close":
            visitor.close_item()
        case "blockquote_close" | "bullet_list_close" | "ordered_list_close":
            visitor.held.pop()


def _visit_table(
    markdown: ParsedMarkdown, tokens: Sequence[Token], visitor: MarkdownVisitor
) -> None:
    table = _parse_table(tokens)
    first, last = tokens[0].map or (0, 0)
    source = "\n".join(markdown.source.split("\n")[first:last]).strip("\n")
    if has_surplus_cells(source.split("\n"), len(table.rows[0])):
        visitor.code(CodeBlock(source))
    else:
        visitor.table(table)


def _parse_table(tokens: Sequence[Token]) -> MarkdownTable:
    rows: list[list[TextRuns]] = []
    numeric: set[int] = set()
    for before, token in pairwise(tokens):
        if before.type == "tr_open":
            rows.append([])
        if before.type in {"th_open", "td_open"}:
            if "right" in str(before.attrs.get("style", "")):
                numeric.add(len(rows[-1]))
            rows[-1].append(inline_runs(token.children or ()))
    return MarkdownTable(rows, frozenset(numeric), is_nested=tokens[0].level > 0)
