"""Through a Markdown text in order: what opens and closes, and what is written in between."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from markdown_it.token import Token

from bot.chat import Table
from bot.render.cells import has_surplus_cells
from bot.render.reading.leaves import Leaves, leaves_of, words_of
from bot.render.reading.parsing import Code, Parsed, code_of

Row = Sequence[Leaves]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with its cells as leaves: the first row is the head."""

    rows: Sequence[Row]
    numeric: frozenset[int]
    is_nested: bool  # in a list or a quote

    @property
    def plain(self) -> Table:
        """Give the table with its cells as text."""
        columns, *body = (tuple(map(words_of, row)) for row in self.rows)
        return Table(columns, tuple(body), self.numeric)


class Flow(Protocol):
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


def walk(prose: Parsed, flow: Flow) -> None:
    """Give the flow all that the text holds; a table with surplus cells comes as it is written."""
    at, heading = 0, 0
    while at < len(prose.tokens):
        token = prose.tokens[at]
        if token.type == "table_open":
            end = _end_of(prose.tokens, at)
            _tabulate(prose, prose.tokens[at:end], flow)
            at = end
            continue
        at += 1
        match token.type:
            case "inline":
                flow.write(leaves_of(token.children or ()), heading)
            case "fence" | "code_block":
                flow.code(code_of(token))
            case "hr":
                flow.rule()
            case "heading_open":
                heading = int(token.tag[1])
            case "heading_close":
                heading = 0
            case _:
                _move(flow, token)


def _move(flow: Flow, token: Token) -> None:
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


def _tabulate(prose: Parsed, tokens: Sequence[Token], flow: Flow) -> None:
    grid = _grid(tokens)
    source = prose.lines_of(tokens[0])
    if has_surplus_cells(source.split("\n"), len(grid.rows[0])):
        flow.code(Code(source))
    else:
        flow.table(grid)


def _grid(tokens: Sequence[Token]) -> Grid:
    rows: list[list[Leaves]] = []
    right: set[int] = set()
    for before, token in pairwise(tokens):
        if before.type == "tr_open":
            rows.append([])
        if before.type in {"th_open", "td_open"}:
            if "right" in str(before.attrs.get("style", "")):
                right.add(len(rows[-1]))
            rows[-1].append(leaves_of(token.children or ()))
    return Grid(rows, frozenset(right), is_nested=tokens[0].level > 0)


def _end_of(tokens: Sequence[Token], at: int) -> int:
    """Give where the block that is opened here has ended."""
    level = tokens[at].level
    return next(i for i in range(at + 1, len(tokens)) if tokens[i].level == level) + 1
