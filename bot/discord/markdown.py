"""Untrusted text made inert: it calls nobody, and none of it is read as Discord's markup."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from markdown_it.common.normalize_url import normalizeLink

from bot.chat import Table
from bot.discord.config import LIST_DEPTH, NARROW, URL
from bot.render.formatting import monospaced
from bot.render.markdown_parser import (
    Code,
    Grid,
    Leaves,
    OpenBlocks,
    OpenList,
    TextRun,
    bold,
    parsed,
    plain_leaves,
    walk,
)
from bot.render.text_safety import BREAK, GAP, Tokens, shown_text

# --- Untrusted text made inert: it calls nobody, and none of it is read as Discord's markup.

_CALLED = "|".join(GAP.join(word) for word in ("everyone", "here"))
_ENTITY = (
    rf"@{GAP}[!&]?{GAP}\d",  # people and roles
    rf"#{GAP}\d",  # channels
    r"a?:\w{1,64}:\d",  # emoji
    r"/[^<>:\n]{1,100}:\d",  # commands
    r"t:-?\d",  # moments
    r"id:\w",  # pages of a server
    r"sound:\d",
)
# Invitations and gifts unfold wherever they stand, and so does what opens the program.
_UNFOLDS = r"discord(?:app)?(?=\.(?:gg|gift|new|com/(?:invite|gifts))/|://)"
_TOKENS = Tokens(
    re.compile(
        rf"@(?={GAP}(?:{_CALLED}))"
        rf"|<(?={GAP}(?:{'|'.join(_ENTITY)}))|{_UNFOLDS}",
        re.IGNORECASE,
    ),
    signs="@<&＠﹫＜﹤./／．",
)
_MARKUP = re.compile(r"[\\*_~|`\[#<]|:(?=//|[\w+-]{1,64}:)")
_LINE_START = re.compile(r"^(\s*)(?:([-+](?=\s|$)|>)|(\d{1,20})\.(?=\s|$))", re.MULTILINE)


def inert(text: str) -> str:
    """Give a text that calls nobody; what is markup in it stays markup."""
    return _TOKENS.parted(text)


def inert_url(url: str) -> str:
    """Give an address that leads to the same place and holds no token."""
    return _TOKENS.broken_url(url)


def invites(url: str) -> bool:
    """Say whether an address is one that unfolds, so that it must not be one to press."""
    return bool(re.search(_UNFOLDS, url, re.IGNORECASE))


def escaped(words: str) -> str:
    """Give words for the middle of a line: nothing in them is markup."""
    return _MARKUP.sub(r"\\\g<0>", words)


def unmarked(lines: str) -> str:
    """Give lines of which none begins a list, a quote or a heading."""
    return _LINE_START.sub(_without_mark, lines)


def _without_mark(found: re.Match[str]) -> str:
    margin, sign, number = found.groups()
    return f"{margin}\\{sign}" if sign else f"{margin}{number}\\."


# --- Leaves of a text as Discord's Markdown: each style begins and ends where it should.

_MARKS = {"strike": "~~", "bold": "**", "italic": "_"}  # outermost first
_SIGNS = frozenset("*_~`")


def marked(leaves: Leaves) -> str:
    """Give leaves as lines of Markdown that show what they say, and nothing else."""
    runs = [run for styles, same in groupby(leaves, _styles) for run in _runs(styles, same)]
    lines = "".join(_joined([run for run in runs if run.words]))
    return unmarked("\n".join(line.strip() for line in lines.split("\n")))


def marked_words(words: str, *, strong: bool = False) -> str:
    """Give words that are no Markdown, as lines that show them as they are."""
    leaves = plain_leaves(shown_text(words))
    return marked(bold(leaves) if strong else leaves)


@dataclass(frozen=True, slots=True)
class _Run:
    """Words of one style within a line, already escaped."""

    styles: tuple[str, ...]
    words: str


def _styles(leaf: TextRun) -> tuple[str, ...]:
    """Give the styles that the leaf is shown in; code and addresses stand for themselves."""
    if leaf.is_address or "code" in leaf.styles:
        return ()
    return tuple(style for style in _MARKS if style in leaf.styles)


def _runs(styles: tuple[str, ...], leaves: Iterable[TextRun]) -> Iterable[_Run]:
    """Give runs that neither hold the end of a line in a style nor begin or end with a space."""
    words = "".join(map(_written, leaves))
    if not styles:
        yield _Run((), words)
        return
    for at, line in enumerate(words.split("\n")):
        core = line.strip()
        start = line.find(core) if core else len(line)
        yield _Run((), ("\n" if at else "") + line[:start])
        yield _Run(styles, core)
        yield _Run((), line[start + len(core) :])


def _joined(runs: Sequence[_Run]) -> Iterable[str]:
    before = ""
    for at, run in enumerate(runs):
        after = runs[at + 1].words[:1] if at + 1 < len(runs) else ""
        words = _wrapped(run, before, after)
        # Signs of two neighbours would be read as one sign.
        yield (BREAK if before in _SIGNS and words[0] in _SIGNS else "") + words
        before = words[-1]


def _wrapped(run: _Run, before: str, after: str) -> str:
    """Give the run in its signs; _ is none beside a letter, where only * is."""
    words = run.words
    for style in reversed(run.styles):
        sign = _MARKS[style]
        if run.styles == ("italic",) and (before.isalnum() or after.isalnum()):
            sign = "*"
        words = f"{sign}{words}{sign}"
    return words


def _written(leaf: TextRun) -> str:
    if "code" in leaf.styles:
        return _code(leaf.text)
    if leaf.leads_out and len(leaf.text) <= URL and not invites(leaf.text):
        return f"<{inert_url(shown_text(normalizeLink(leaf.text)))}>"
    return escaped(leaf.text)


def _code(words: str) -> str:
    """Give words as code; backticks in it stay apart from those around it."""
    if "`" not in words:
        return f"`{words}`" if words.strip() else escaped(words)
    while "``" in words:
        words = words.replace("``", f"`{BREAK}`")
    left = " " if words.startswith("`") else ""
    right = " " if words.endswith("`") else ""
    return f"``{left}{words}{right}``"


# --- Tables and code for a narrow screen: columns where they fit, else a line a row or cell.

_LANGUAGE = re.compile(r"[a-z0-9_+\-.#]+", re.IGNORECASE)
_OF_ONE_WIDTH = re.compile(r"[\x20-\x7e\n–—·…−×→←≤≥±°€£§µäöüßéèêáàâçñÄÖÜÉ]*")
_LETTERS = 2  # a text no longer than this is a label
_NOTHING = "–"
_UNBROKEN = "\u00a0"  # a figure stays in one line
_APART = f"{_UNBROKEN}· "


def code_text(code: str, language: str = "") -> str:
    """Give a block of code, whole and closed, whatever it holds."""
    while "```" in code:
        code = code.replace("```", f"`{BREAK}`{BREAK}`")
    if code.endswith("`"):
        code += BREAK
    named = language if _LANGUAGE.fullmatch(language) else ""
    if language and not named:
        code = f"{language}\n{code}"
    return f"```{named}\n{code if code.strip() else BREAK}\n```"


def table_text(plain: Table, rows: Sequence[Sequence[Leaves]]) -> str:
    """Give a table that somebody wrote: columns, or an item a row with a line for every cell."""
    if columns := _columns(plain):
        return columns
    head, *body = rows
    if not body:
        return "- " + " · ".join(_cell(cell) for cell in head)
    return "\n".join(line for row in body for line in _pairs(head, row))


def standings_text(table: Table) -> str:
    """Give a table of ours: columns, or a line a row that leads with whom it is about."""
    if columns := _columns(table):
        return columns
    return "\n".join(_numbered(table))


def _columns(table: Table) -> str:
    """Give the table in columns; "" where a phone would cut them."""
    text = monospaced(table)
    wide = max(map(len, text.split("\n")))
    return code_text(text) if wide <= NARROW and _OF_ONE_WIDTH.fullmatch(text) else ""


def _pairs(head: Sequence[Leaves], row: Sequence[Leaves]) -> Iterator[str]:
    for at, (name, cell) in enumerate(zip(head, row, strict=True)):
        margin = "  - " if at else "- "
        value = _cell(bold(cell)) if not at else _cell(cell)
        named = marked(name).replace("\n", " ")
        yield f"{margin}{named}: {value}" if named.strip() else f"{margin}{value}"


def _cell(cell: Leaves) -> str:
    return marked(cell).replace("\n", " ") or _NOTHING


def _numbered(table: Table) -> Iterator[str]:
    """Give a line for each row; places are a list's numbers only where the list counts the same."""
    places = [row[0] for row in table.rows] if table.columns[0] == "" else []
    counted = [int(place) if place.isdecimal() else 0 for place in places]
    in_order = counted == list(range(counted[0], counted[0] + len(counted))) if counted else False
    who = _who(table)
    for row in table.rows:
        name = marked([TextRun(_one_line(row[who]) or _NOTHING, ("bold",))])
        said = _APART.join(
            _said(table, row, at).replace(" ", _UNBROKEN)
            for at in _told(table, row)
            if at != who and at in table.numeric
        )
        words = " ".join(part for part in (name, *_labels(table, row, who), said) if part)
        if not places:
            yield f"- {words}"
        else:
            yield f"{row[0]}. {words}" if in_order else f"{marked_words(row[0] + '.')} {words}"


def _told(table: Table, row: Sequence[str]) -> Iterator[int]:
    """Give the columns of a row that say something."""
    for at, (name, cell) in enumerate(zip(table.columns, row, strict=True)):
        if cell.strip() and name:
            yield at


def _who(table: Table) -> int:
    """Give the column a row is about: the first of texts that are longer than a label."""
    texts = [at for at in range(len(table.columns)) if at not in table.numeric]
    long = (at for at in texts if any(len(row[at]) > _LETTERS for row in table.rows))
    return next(long, texts[0] if texts else 0)


def _labels(table: Table, row: Sequence[str], who: int) -> Iterator[str]:
    for at in _told(table, row):
        if at != who and at not in table.numeric:
            yield f"({marked_words(_one_line(f'{table.columns[at]} {row[at]}'))})"


def _said(table: Table, row: Sequence[str], at: int) -> str:
    """Give a number with what it counts; one that brings its unit stands alone."""
    cell, name = _one_line(row[at]), table.columns[at].lower()
    if cell.isdecimal():
        name = name.removesuffix("s") if cell == "1" else name
        return marked_words(f"{cell} {name}")
    return marked_words(cell if any(map(str.isdecimal, cell)) else f"{name} {cell}")


def _one_line(cell: str) -> str:
    return " ".join(shown_text(cell).split())


# --- The flow of a text: paragraphs, items, quotes and code as lines of Discord's Markdown.

_BIG_HEADINGS = 2  # levels that are larger than bold text
_BLANK = "\n\n"


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines of words, item, heading, table or code; `within` is the outermost that is open."""

    kind: str
    lines: str
    within: object
    quoted: bool


@dataclass(slots=True)
class Flow(OpenBlocks):
    """Takes what a text holds in order, and gives it as one text."""

    _pieces: list[_Piece] = field(default_factory=list)

    def close_item(self) -> None:
        """End an item: an empty one is shown too."""
        if self.is_marker_due:
            self._add("words", BREAK)

    def write(self, leaves: Leaves, heading: int = 0) -> None:
        """Add a paragraph, or a heading; a large one only where nothing is around it."""
        large = heading and heading <= _BIG_HEADINGS and not self.held
        lines = marked(bold(leaves) if heading and not large else leaves)
        if not lines.strip():
            return
        if large:
            lines = f"### {lines.replace(chr(10), ' ')}"
        self._add("heading" if heading else "words", lines)

    def code(self, code: Code) -> None:
        """Add a block of code; the item it stands in alone still has its marker."""
        self.close_item()
        self._put("code", code_text(code.text, code.language))

    def table(self, grid: Grid) -> None:
        """Add a table as a phone can show it."""
        self.close_item()
        lines = table_text(grid.plain, grid.rows)
        self._put("code" if lines.startswith("```") else "table", lines)

    def rule(self) -> None:
        """Add a line across: none, since paragraphs stand apart anyway."""
        self.close_item()

    def text(self) -> str:
        """Give all of it."""
        made = ""
        last: _Piece | None = None
        for piece in self._pieces:
            lines = piece.lines
            if piece.quoted:
                lines = "\n".join(f"> {line}" for line in lines.split("\n"))
            made += (_gap(last, piece) if last else "") + lines
            last = piece
        return made

    def _add(self, kind: str, lines: str) -> None:
        if inner := self.inner:
            self._put("item", self._in_item(inner, lines))
        else:
            self._put(kind, lines)

    def _in_item(self, inner: OpenList, lines: str) -> str:
        """Give lines with the item's marker, or under it once that is written."""
        outer = [" " * len(held.marker("-")) for held in self.lists[:-1]]
        margin = "".join(outer[:LIST_DEPTH])
        marker = inner.marker("-")
        hanging = "\n" + margin + " " * len(marker)
        first = marker if inner.marker_due else " " * len(marker)
        inner.marker_due = False
        return margin + first + lines.replace("\n", hanging)

    def _put(self, kind: str, lines: str) -> None:
        within = self.held[0] if self.held else None
        self._pieces.append(_Piece(kind, lines, within, self.is_quoted))


def _gap(last: _Piece, piece: _Piece) -> str:
    """Give what stands between two pieces: code and items keep their own distance."""
    same = last.within is not None and last.within is piece.within
    items = last.kind == piece.kind == "item"
    close = "code" in {last.kind, piece.kind} or last.kind == "heading" or (same and items)
    if same and last.quoted and piece.quoted:
        return "\n" if close else "\n> \n"
    return "\n" if close or (same and last.quoted != piece.quoted) else _BLANK


# --- Markdown by models and people as Discord's own Markdown: shown, never obeyed.


def markdown_text(source: str) -> str:
    """Give the text that shows in Discord what the Markdown says; "" where that is nothing."""
    flow = Flow()
    walk(parsed(source), flow)
    return flow.text()
