"""Posts in Slack's dress: Block Kit messages, from the newest blocks down to plain text.

Model text is shown as it stands and never obeyed: it calls nobody, forges nothing, loads nothing.
Knows no client: what is sent, and what Slack refuses, is the chat's to see.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any

from slack_sdk.models.blocks import ContextBlock, HeaderBlock, PlainTextObject

from bot.chat import (
    Buttons,
    Caution,
    Heading,
    Line,
    Mentions,
    Note,
    Part,
    Post,
    Prose,
    Quote,
    Steps,
    Table,
)
from bot.render.formatting import monospaced
from bot.render.markdown_parser import Parsed, parsed
from bot.slack.buttons import button_blocks, distinct
from bot.slack.limits import CONTEXT_ELEMENTS, HEADER, PLAIN_TEXT, RICH_ELEMENT
from bot.slack.markdown import markdown_blocks
from bot.slack.plain import callable_ids, inert, one_line
from bot.slack.rich import Block, blocks, element, elements, parted, size, text
from bot.slack.steps import plan_block, step_lines
from bot.slack.tables import data_table_block, table_block
from bot.slack.words import summary_text, whole_text

# What words become: the kind of element, and the style of its text.
_LOOKS: dict[type[Part], tuple[str, ...]] = {
    Quote: ("quote",),
    Line: ("section",),
    Caution: ("section", "bold"),
}


class Level(IntEnum):
    """How much of Block Kit a message uses; what Slack refuses is tried one level plainer."""

    DATA_TABLE = 0
    TABLE = 1
    MONOSPACE = 2
    NO_BLOCKS = 3

    @property
    def plainer(self) -> "Level | None":
        """Give the next level to try; None after plain text."""
        return Level(self + 1) if self < Level.NO_BLOCKS else None


@dataclass(frozen=True, slots=True)
class Message:
    """What `chat.postMessage` and `chat.update` are given."""

    text: str
    blocks: list[Block]

    @property
    def payload(self) -> dict[str, Any]:
        """Give it as arguments of a call."""
        return {"text": self.text, **({"blocks": self.blocks} if self.blocks else {})}


def dressed(post: Post, level: Level = Level.DATA_TABLE) -> Message:
    """Give a post as a message; a post that `fits_slack` is within every limit at every level."""
    if level is Level.NO_BLOCKS:
        return Message(whole_text(post), [])
    return Message(summary_text(post), Dress(post).blocks(level))


class Dress:
    """A post whose Markdown is read once, to be dressed at several levels."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._read = [parsed(part.text) for part in post.parts if isinstance(part, Prose)]
        tables = sum(isinstance(part, Table) for part in post.parts)
        tables += sum(prose.tables for prose in self._read)
        self._one_table = tables == 1
        self.varies = self._one_table or any(isinstance(p, Steps | Buttons) for p in post.parts)

    def blocks(self, level: Level) -> list[Block]:
        """Give the blocks at a level."""
        read = iter(self._read)
        caption = self._post.summary
        made: list[Block] = []
        before: Part | None = None
        for part in _noted(self._post.parts):
            if isinstance(part, Heading):
                caption = part.text
            if isinstance(part, Prose):
                shown = self._prose(next(read), level)
            elif isinstance(part, Table):
                shown = self._table(part, level, caption)
            else:
                shown = _part(part, level)
            made = _joined(made, shown) if _belong(before, part) else [*made, *shown]
            before = part
        return distinct(made)

    def _prose(self, prose: Parsed, level: Level) -> list[Block]:
        return markdown_blocks(prose, as_table=self._one_table and level <= Level.TABLE)

    def _table(self, table: Table, level: Level, caption: str) -> list[Block]:
        """Give the table as well as Slack can show it: one of each message stands out."""
        block = None
        if self._one_table and level is Level.DATA_TABLE:
            block = data_table_block(table, caption)
        if self._one_table and level <= Level.TABLE:
            block = block or table_block(table)
        return [block] if block else _rich(monospaced(table), "preformatted")


def _part(part: Part, level: Level) -> list[Block]:  # noqa: PLR0911
    best = level is Level.DATA_TABLE
    match part:
        case Heading(words):
            return _heading(words)
        case Quote() | Line() | Caution():
            return _rich(part.text, *_LOOKS[type(part)])
        case Note(words):
            return list(_small_print(words))
        case Steps():
            plan = plan_block(part) if best else None
            return [plan] if plan else step_lines(part)
        case Buttons(buttons):
            return list(button_blocks(buttons, feedback=best))
        case Mentions(ids):
            return _calls(ids)
        case _:  # a file is uploaded, not shown
            return []


def _noted(parts: Iterable[Part]) -> Iterator[Part]:
    """Give the parts with notes in a row made one, a line for each."""
    for is_note, run in groupby(parts, lambda part: isinstance(part, Note)):
        if is_note:
            yield Note("\n".join(one_line(part.text) for part in run if isinstance(part, Note)))
        else:
            yield from run


def _heading(words: str) -> list[Block]:
    title = one_line(words)
    if title and len(title) <= HEADER and "\n" not in words.strip():
        return [HeaderBlock(text=PlainTextObject(text=title, emoji=False)).to_dict()]
    return _rich(words, "section", "bold")


def _rich(words: str, kind: str, *styles: str) -> list[Block]:
    """Give rich text of one kind that says no more than the words do."""
    said = inert(words).strip("\n")
    return blocks(elements(kind, [text(said, *styles)])) if said.strip() else []


def _calls(ids: Iterable[str]) -> list[Block]:
    """Give the one kind of element that calls people."""
    leaves: list[Block] = []
    for id_ in callable_ids(ids):
        leaves += [*([text(" ")] if leaves else []), {"type": "user", "user_id": id_}]
    return [{"type": "rich_text", "elements": [element("section", leaves)]}] if leaves else []


def _small_print(words: str) -> Iterator[Block]:
    """Give grey small print of lines that are inert; rich text's parting serves it too."""
    pieces = [part[0]["text"] for part in parted([text(words)], PLAIN_TEXT)]
    shown = [PlainTextObject(text=piece, emoji=False) for piece in pieces]
    for at in range(0, len(shown), CONTEXT_ELEMENTS):
        yield ContextBlock(elements=shown[at : at + CONTEXT_ELEMENTS]).to_dict()


def _belong(before: Part | None, part: Part) -> bool:
    """Say whether nothing need stand between two parts; all others are blocks of their own."""
    return type(before) is type(part) or (isinstance(before, Line) and isinstance(part, Quote))


def _joined(made: list[Block], more: list[Block]) -> list[Block]:
    """Give the blocks with rich text that meets made one where that is short enough."""
    if not made or not more:
        return [*made, *more]
    last, first = made[-1], more[0]
    rich = last["type"] == first["type"] == "rich_text"
    if not rich or size(last) + size(first) > RICH_ELEMENT:
        return [*made, *more]
    both = {"type": "rich_text", "elements": [*last["elements"], *first["elements"]]}
    return [*made[:-1], both, *more[1:]]
