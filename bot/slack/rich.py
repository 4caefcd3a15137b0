"""Slack's rich text, put together: leaves into elements, elements into blocks, each within limits.

Rich text is shown as it stands: Slack reads no markup in it. Every text here must be inert.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.cells import split_graphemes

from bot.slack.limits import RICH_ELEMENT

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
