"""Markdown renderer for Discord: untrusted text becomes inert Markdown that suits a phone."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from markdown_it.common.normalize_url import normalizeLink

from bot.chat import Table
from bot.render.formatting import monospace_table, parse_time, styled_runs
from bot.render.markdown_parser import (
    CodeBlock,
    MarkdownTable,
    MarkdownVisitor,
    OpenList,
    TextRun,
    TextRuns,
    embolden,
    linkify,
    parse_markdown,
    walk_markdown,
)
from bot.render.text_safety import INVISIBLE_PATTERN, ZERO_WIDTH_SPACE, Tokens, visible_text

MAX_URL_LENGTH = 2_000
PHONE_COLUMNS = 28  # monospaced columns that fit a phone's screen

# Texts that Discord would turn into mentions, links or previews.
_EVERYONE = "|".join(INVISIBLE_PATTERN.join(word) for word in ("everyone", "here"))
_ENTITY = (
    rf"@{INVISIBLE_PATTERN}[!&]?{INVISIBLE_PATTERN}\d",  # users and roles
    rf"#{INVISIBLE_PATTERN}\d",  # channels
    r"a?:\w{1,64}:\d",  # emoji
    r"/[^<>:\n]{1,100}:\d",  # commands
    r"t:-?\d",  # timestamps
    r"id:\w",  # pages of a server
    r"sound:\d",
)
# Discord shows a preview of invitations and gifts anywhere, and of links that open its client.
_PREVIEWED = r"discord(?:app)?(?=\.(?:gg|gift|new|com/(?:invite|gifts))/|://)"
_TOKENS = Tokens(
    re.compile(
        rf"@(?={INVISIBLE_PATTERN}(?:{_EVERYONE}))"
        rf"|<(?={INVISIBLE_PATTERN}(?:{'|'.join(_ENTITY)}))|{_PREVIEWED}",
        re.IGNORECASE,
    ),
    signs="@<&＠﹫＜﹤./／．",
)
_MARKUP = re.compile(r"[\\*_~|`\[#<]|:(?=//|[\w+-]{1,64}:)")
_LINE_START = re.compile(r"^(\s*)(?:([-+](?=\s|$)|>)|(\d{1,20})\.(?=\s|$))", re.MULTILINE)
_DELIMITERS = {"strike": "~~", "bold": "**", "italic": "_"}  # outermost first
_DELIMITER_CHARACTERS = frozenset("*_~`")
_LANGUAGE = re.compile(r"[a-z0-9_+\-.#]+", re.IGNORECASE)
_MONOSPACED = re.compile(r"[\x20-\x7e\n–—·…−×→←≤≥±°€£§µäöüßéèêáàâçñÄÖÜÉ]*")
_MAX_LABEL_LENGTH = 2  # a column of longer texts can be what a row is about
_TIME_SIGN = "\uffff"  # which no visible text contains
_TIMES = re.compile(f"{_TIME_SIGN}(\\d+){_TIME_SIGN}")
_COUNT = re.compile(r"\d+|[\d.]+ of \d+")
_PERCENT = re.compile(r"\d+ %")
_IS_DURATION = re.compile(r".*\d (?:s|min|h)")
_EMPTY_CELL = "–"
_NO_BREAK_SPACE = "\u00a0"  # keeps a number and its unit in one line
_MAX_HEADING_LEVEL = 2  # deeper headings become bold text


def render_markdown(source: str) -> str:
    """Render untrusted Markdown as Discord's; it mentions nobody. Return "" for an empty text."""
    writer = MarkdownWriter()
    walk_markdown(parse_markdown(source), writer)
    return writer.text()


def render_plain_text(text: str, *, strong: bool = False) -> str:
    """Render text that is not Markdown, with all of its markup escaped."""
    leaves = linkify(visible_text(text))
    return render_leaves(embolden(leaves) if strong else leaves)


def render_styled_text(text: str) -> str:
    """Render a line or note: its `code` and **strong** words are styled, all else is escaped."""
    leaves: list[TextRun] = []
    for run, style in styled_runs(text):
        plain = (
            [TextRun(visible_text(run), ("code",))]
            if style == "code"
            else linkify(visible_text(run))
        )
        if style == "time":
            plain = [TextRun(f"{_TIME_SIGN}{parse_time(run)[0]}{_TIME_SIGN}")]
        leaves += embolden(plain) if style == "bold" else plain
    return render_leaves(leaves)


def render_times(rendered: str) -> str:
    """Return rendered text with its moments as Discord shows them, in the reader's time zone."""
    return _TIMES.sub(r"<t:\1:f>", rendered)


def neutralize(text: str) -> str:
    """Return a text without mentions, entities and previews; its Markdown is unchanged."""
    return _TOKENS.break_tokens(text)


def escape_markup(text: str) -> str:
    """Escape the markup within lines."""
    return _MARKUP.sub(r"\\\g<0>", text)


def _escape_marker(match: re.Match[str]) -> str:
    margin, sign, number = match.groups()
    return f"{margin}\\{sign}" if sign else f"{margin}{number}\\."


_Run = tuple[tuple[str, ...], str]  # the styles of an escaped text within a line


def render_leaves(leaves: TextRuns) -> str:
    """Render styled text runs as lines of Discord's Markdown."""
    runs = [run for styles, same in groupby(leaves, _styles) for run in _split_runs(styles, same)]
    lines = "".join(_join_runs([run for run in runs if run[1]]))
    lines = "\n".join(line.strip() for line in lines.split("\n"))
    return _LINE_START.sub(_escape_marker, lines)


def _styles(leaf: TextRun) -> tuple[str, ...]:
    """Return the styles of a leaf; code and URLs are shown without any."""
    if leaf.is_address or "code" in leaf.styles:
        return ()
    return tuple(style for style in _DELIMITERS if style in leaf.styles)


def _split_runs(styles: tuple[str, ...], leaves: Iterable[TextRun]) -> Iterable[_Run]:
    """Yield runs; styled ones contain no line break and no space at either end."""
    text = "".join(_render_leaves(leaves))
    if not styles:
        yield (), text
        return
    for at, line in enumerate(text.split("\n")):
        core = line.strip()
        start = line.find(core) if core else len(line)
        yield (), ("\n" if at else "") + line[:start]
        yield styles, core
        yield (), line[start + len(core) :]


def _join_runs(runs: Sequence[_Run]) -> Iterable[str]:
    before = ""
    for run, (_, following) in pairwise([*runs, ((), "")]):
        text = _delimit(run, before, following[:1])
        # Adjacent delimiters would be read as one.
        joins = before in _DELIMITER_CHARACTERS and text[0] in _DELIMITER_CHARACTERS
        yield (ZERO_WIDTH_SPACE if joins else "") + text
        before = text[-1]


def _delimit(run: _Run, before: str, after: str) -> str:
    """Return the run between its delimiters; next to a letter, only * marks italics, not _."""
    styles, text = run
    for style in reversed(styles):
        delimiter = _DELIMITERS[style]
        if styles == ("italic",) and (before.isalnum() or after.isalnum()):
            delimiter = "*"
        text = f"{delimiter}{text}{delimiter}"
    return text


def _render_leaves(leaves: Iterable[TextRun]) -> Iterator[str]:
    # Neighbours are escaped together, because an emoji may begin in one and end in the next.
    for is_marked, same in groupby(leaves, lambda leaf: bool(_render_marked(leaf))):
        if is_marked:
            yield from map(_render_marked, same)
        else:
            yield escape_markup("".join(leaf.text for leaf in same))


def _render_marked(leaf: TextRun) -> str:
    """Return a leaf of code or a link as Discord's Markdown, "" for any other."""
    if "code" in leaf.styles:
        return _render_inline_code(leaf.text)
    # A link that Discord always shows a preview of must not be a link.
    has_preview = re.search(_PREVIEWED, leaf.text, re.IGNORECASE)
    if not leaf.is_web_link or len(leaf.text) > MAX_URL_LENGTH or has_preview:
        return ""
    url = _TOKENS.neutralize_url(visible_text(normalizeLink(leaf.text)))
    return f"<{url}>" if TextRun(url, is_address=True).is_web_link else ""


def _render_inline_code(code: str) -> str:
    """Return inline code; its own backticks cannot close it."""
    if "`" not in code:
        return f"`{code}`" if code.strip() else escape_markup(code)
    while "``" in code:
        code = code.replace("``", f"`{ZERO_WIDTH_SPACE}`")
    left = " " if code.startswith("`") else ""
    right = " " if code.endswith("`") else ""
    return f"``{left}{code}{right}``"


def render_code_block(code: str, language: str = "") -> str:
    """Return a code block that its content cannot close."""
    tag = language if _LANGUAGE.fullmatch(language) else ""
    if language and not tag:
        code = f"{language}\n{code}"
    while "```" in code:
        code = code.replace("```", f"`{ZERO_WIDTH_SPACE}`{ZERO_WIDTH_SPACE}`")
    if code.endswith("`"):
        code += ZERO_WIDTH_SPACE
    return f"```{tag}\n{code if code.strip() else ZERO_WIDTH_SPACE}\n```"


def render_table(table: MarkdownTable) -> str:
    """Render a Markdown table: in columns if they fit a phone, else a list with a line a cell."""
    if columns := _render_columns(table.plain):
        return columns
    head, *body = table.rows
    if not body:
        return "- " + " · ".join(_render_cell(cell) for cell in head)
    return "\n".join(line for row in body for line in _cell_lines(head, row))


def render_standings(table: Table) -> str:
    """Render a table of the bot: in columns if they fit a phone, else a list with a line a row."""
    return _render_columns(table) or "\n".join(_row_lines(table))


def _render_columns(table: Table) -> str:
    text = monospace_table(table)
    width = max(map(len, text.split("\n")))
    fits = width <= PHONE_COLUMNS and _MONOSPACED.fullmatch(text)
    return render_code_block(text) if fits else ""


def _cell_lines(head: Sequence[TextRuns], row: Sequence[TextRuns]) -> Iterator[str]:
    for at, (name, cell) in enumerate(zip(head, row, strict=True)):
        margin = "  - " if at else "- "
        value = _render_cell(embolden(cell)) if not at else _render_cell(cell)
        title = render_leaves(name).replace("\n", " ")
        colon = "\\:" if ":" in title else ":"  # two could make an emoji of what is between them
        yield f"{margin}{title}{colon} {value}" if title.strip() else f"{margin}{value}"


def _render_cell(cell: TextRuns) -> str:
    return render_leaves(cell).replace("\n", " ") or _EMPTY_CELL


def _row_lines(table: Table) -> Iterator[str]:
    """Yield a line per row; places become list numbers only if they are consecutive."""
    places = [row[0] for row in table.rows] if table.has_places else []
    numbers = [int(place) if place.isdecimal() else 0 for place in places]
    in_order = numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else False
    subject = _subject_column(table)
    for row in table.rows:
        name = render_leaves([TextRun(_one_line(row[subject]) or _EMPTY_CELL, ("bold",))])
        figures = f"{_NO_BREAK_SPACE}· ".join(
            _render_figure(table, row, at).replace(" ", _NO_BREAK_SPACE)
            for at in _filled_columns(table, row)
            if at != subject and at in table.numeric
        )
        text = " ".join(part for part in (name, *_labels(table, row, subject), figures) if part)
        if not places:
            yield f"- {text}"
        else:
            yield f"{row[0]}. {text}" if in_order else f"{render_plain_text(row[0] + '.')} {text}"


def _filled_columns(table: Table, row: Sequence[str]) -> Iterator[int]:
    for at, (name, cell) in enumerate(zip(table.columns, row, strict=True)):
        if cell.strip() and name and not (at == 0 and table.has_places):
            yield at


def _subject_column(table: Table) -> int:
    """Return the column that rows are about: the first with texts longer than a label."""
    texts = [at for at in range(len(table.columns)) if at not in table.numeric]
    long = (at for at in texts if any(len(row[at]) > _MAX_LABEL_LENGTH for row in table.rows))
    return next(long, texts[0] if texts else 0)


def _labels(table: Table, row: Sequence[str], subject: int) -> Iterator[str]:
    for at in _filled_columns(table, row):
        if at != subject and at not in table.numeric:
            yield f"({render_plain_text(_one_line(f'{table.columns[at]} {row[at]}'))})"


def _render_figure(table: Table, row: Sequence[str], at: int) -> str:
    """Return a number with what it is: "2 first votes", "80 % right", "share .31".

    A duration, such as "4.1 s", says what it is.
    """
    cell, name = _one_line(row[at]), table.columns[at].lower()
    if _COUNT.fullmatch(cell) or (_PERCENT.fullmatch(cell) and name != "points"):
        name = name.removesuffix("s") if cell == "1" else name
        return render_plain_text(f"{cell} {name}")
    says_what = _IS_DURATION.fullmatch(cell) or cell.startswith(name)
    return render_plain_text(cell if says_what else f"{name} {cell}")


def _one_line(cell: str) -> str:
    return " ".join(visible_text(cell).split())


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of words, item, heading, table or code; `container` is the outermost open block."""

    kind: str
    lines: str
    container: object
    quoted: bool


@dataclass(slots=True)
class MarkdownWriter(MarkdownVisitor):
    """Writer of Discord's Markdown for the parser's walk: paragraphs, lists, quotes and code."""

    _blocks: list[_Block] = field(default_factory=list)

    def close_item(self) -> None:
        """End a list item; an empty one is written too."""
        if self.is_marker_due:
            self._add("words", ZERO_WIDTH_SPACE)

    def write(self, leaves: TextRuns, heading: int = 0) -> None:
        """Add a paragraph or heading; a heading inside another block becomes bold text."""
        is_large = heading and heading <= _MAX_HEADING_LEVEL and not self.held
        lines = render_leaves(embolden(leaves) if heading and not is_large else leaves)
        if not lines.strip():
            return
        if is_large:
            lines = f"### {lines.replace(chr(10), ' ')}"
        self._add("heading" if heading else "words", lines)

    def code(self, code: CodeBlock) -> None:
        """Add a code block, under the marker of its list item."""
        self.close_item()
        self._append("code", render_code_block(code.text, code.language))

    def table(self, grid: MarkdownTable) -> None:
        """Add a table."""
        self.close_item()
        lines = render_table(grid)
        self._append("code" if lines.startswith("```") else "table", lines)

    def rule(self) -> None:
        """Add nothing for a horizontal rule: Discord has none."""
        self.close_item()

    def text(self) -> str:
        """Return everything written so far."""
        text = ""
        last: _Block | None = None
        for block in self._blocks:
            lines = block.lines
            if block.quoted:
                lines = "\n".join(f"> {line}" for line in lines.split("\n"))
            text += (_gap(last, block) if last else "") + lines
            last = block
        return text

    def _add(self, kind: str, lines: str) -> None:
        if inner := self.inner:
            self._append("item", self._indent(inner, lines))
        else:
            self._append(kind, lines)

    def _indent(self, inner: OpenList, lines: str) -> str:
        """Return lines after the item's marker, or indented below it if that is written already."""
        outer = [" " * len(held.marker("-")) for held in self.lists[:-1]]
        margin = "".join(outer[:8])
        marker = inner.marker("-")
        indent = " " * len(marker)
        first = marker if inner.marker_due else indent
        inner.marker_due = False
        return margin + first + lines.replace("\n", f"\n{margin}{indent}")

    def _append(self, kind: str, lines: str) -> None:
        container = self.held[0] if self.held else None
        self._blocks.append(_Block(kind, lines, container, self.is_quoted))


def _gap(last: _Block, block: _Block) -> str:
    """Return what separates two blocks: one line break around code and in lists, else two."""
    same = last.container is not None and last.container is block.container
    items = last.kind == block.kind == "item"
    close = "code" in {last.kind, block.kind} or last.kind == "heading" or (same and items)
    if same and last.quoted and block.quoted:
        return "\n" if close else "\n> \n"
    return "\n" if close or (same and last.quoted != block.quoted) else "\n\n"
