"""Markdown by models and people as Slack's rich text: shown, never obeyed.

Knows no posts. What Slack has no form for is shown as text, and nothing is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.chat import Table
from bot.render.cells import has_surplus_cells
from bot.slack.flow import Flow
from bot.slack.inline import leaves_of
from bot.slack.plain import inert, shown_text
from bot.slack.rich import Block, Leaves, blocks, bold, shown, text
from bot.slack.tables import monospaced, table_block

_NESTING = 40  # the parser leaves out what is nested deeper
_BRACKETS = 2_000  # each may begin a link, and the parser looks for the end of every one
_LONGEST_LANGUAGE = 24


def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING})
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


def parsed(source: str) -> Parsed:
    """Read Markdown; what is nested or linked beyond reason is plain paragraphs."""
    source = shown_text(source)
    if source.count("[") > _BRACKETS:
        return Parsed(_plain_paragraphs(source), source)
    tokens = _MARKDOWN.parse(source)
    if any(token.level >= _NESTING - 1 for token in tokens):
        return Parsed(_plain_paragraphs(source), source)
    return Parsed(tokens, source)


def markdown_blocks(prose: Parsed, *, as_table: bool) -> list[Block]:
    """Give the blocks of a text: rich text, and a table block where there is one to be had."""
    made: list[Block] = []
    flow = Flow()
    at = 0
    while at < len(prose.tokens):
        token = prose.tokens[at]
        if token.type != "table_open":
            _add(flow, token)
            at += 1
            continue
        end = _end_of(prose.tokens, at)
        table = _table(prose.tokens[at:end])
        block = table_block(table) if as_table and not token.level else None
        source = _source_of(prose, token)
        if has_surplus_cells(source.split("\n"), len(table.columns)):
            flow.code(source)
        elif block:
            made += [*blocks(flow.elements()), block]
            flow = Flow()
        else:
            flow.code(monospaced(table))
        at = end
    return [*made, *blocks(flow.elements())]


def _add(flow: Flow, token: Token) -> None:
    """Add what a token holds; what only opens or closes changes where the flow stands."""
    match token.type:
        case "inline":
            leaves = leaves_of(token.children or ())
            flow.write(bold(leaves) if flow.heading else leaves)
        case "fence" | "code_block":
            flow.code(inert(_code_of(token)))
        case "hr":
            flow.write([text(" ")])
        case "heading_open" | "heading_close":
            flow.heading = token.nesting == 1
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


def _code_of(token: Token) -> str:
    """Give a block of code; words after the fence that are no language's name come first."""
    code = token.content.removesuffix("\n")
    info = token.info.strip()
    if len(info) > _LONGEST_LANGUAGE or len(info.split()) > 1:
        return f"{info}\n{code}"
    return code


def _table(tokens: Sequence[Token]) -> Table:
    """Give the table that its tokens hold, its cells as text."""
    rows: list[list[str]] = []
    right: set[int] = set()
    for before, token in pairwise(tokens):
        if before.type == "tr_open":
            rows.append([])
        if before.type in {"th_open", "td_open"}:
            if "right" in str(before.attrs.get("style", "")):
                right.add(len(rows[-1]))
            rows[-1].append(_words(leaves_of(token.children or ())))
    columns, *body = map(tuple, rows)
    return Table(columns, tuple(body), frozenset(right))


def _words(leaves: Leaves) -> str:
    return " ".join("".join(map(shown, leaves)).split())


def _end_of(tokens: Sequence[Token], at: int) -> int:
    """Give where the block that is opened here has ended."""
    level = tokens[at].level
    return next(i for i in range(at + 1, len(tokens)) if tokens[i].level == level) + 1


def _source_of(prose: Parsed, token: Token) -> str:
    first, last = token.map or (0, 0)
    return inert("\n".join(prose.source.split("\n")[first:last]).strip("\n"))


def _plain_paragraphs(source: str) -> list[Token]:
    texts = [Token("text", "", 0, content=words.strip()) for words in source.split("\n\n")]
    return [Token("inline", "", 0, children=[words]) for words in texts]
