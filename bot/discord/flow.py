"""The flow of a text: paragraphs, items, quotes and code as lines of Discord's Markdown.

Discord nests lists, and nothing else in them: quotes and code in a list stand at the margin, and
the list goes on after them.
"""

from dataclasses import dataclass, field

from bot.discord.inline import marked
from bot.discord.limits import LIST_DEPTH
from bot.discord.tables import code_text, table_text
from bot.render.markdown_parser import Code, Grid, Leaves, OpenList, Standing, bold
from bot.render.text_safety import BREAK

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
class Flow(Standing):
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
