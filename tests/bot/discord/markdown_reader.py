"""A parser of Discord's Markdown, after the rules of its clients.

Independent of the renderer: tests parse what it writes and compare what a person would see with
the source.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """Something shown: a kind, and the words in it."""

    kind: str
    words: str = ""
    children: tuple["Node", ...] = ()


_CODE_BLOCK = re.compile(r"```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n][\s\S]*?)\n*```", re.I)
_QUOTE = re.compile(r"(?: *>>> +([\s\S]*))|(?: *>(?!>>) +[^\n]*(?:\n *>(?!>>) +[^\n]*)*\n?)")
_HEADING = re.compile(r" *(#{1,3})\s+([^\n]+?)#*\s*(?:\n|$)")
_SMALL = re.compile(r" *-# +([^\n]+)(?:\n|$)")
_LIST = re.compile(r"( *)(?:[*+-]|\d+\.) [\s\S]+?(?:\n(?! )(?!\1(?:[*+-]|\d+\.) )\n*|\s*$)")
_ITEM = re.compile(r"( *)((?:[*+-]|\d+\.)) [^\n]*(?:\n(?!\1(?:[*+-]|\d+\.) )[^\n]*)*(?:\n|$)")

_INLINE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("escape", re.compile(r"\\([^0-9A-Za-z\s])")),
    ("address", re.compile(r"<(https?://[^ >]+)>")),
    ("scheme", re.compile(r"<([^: >]+:/[^ >]+)>")),
    ("mention", re.compile(r"<@[!&]?\d+>|<#\d+>|</[^:>\n]+:\d+>|<id:\w+>|@everyone|@here")),
    ("moment", re.compile(r"<t:-?\d+(?::[tTdDfFR])?>")),
    ("emoji", re.compile(r"<a?:\w+:\d+>|:[\w+-]+:(?::skin-tone-\d:)?")),
    ("masked", re.compile(r"\[((?:\\.|[^\[\]\\\n])*)\]\(\s*<?((?:\([^)]*\)|[^\s()<>])+)>?[^)]*\)")),
    ("bare", re.compile(r"https?://[^\s<]+[^<.,:;\"'\]\s]")),
    ("strong", re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)")),
    ("underline", re.compile(r"__((?:\\[\s\S]|[^\\])+?)__(?!_)")),
    ("em", re.compile(r"_((?:__|\\[\s\S]|[^\\_])+?)_(?![A-Za-z0-9_])")),
    (
        "em",
        re.compile(r"\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)"),
    ),
    ("strike", re.compile(r"~~(?=\S)((?:\\[\s\S]|~(?!~)|[^\s~\\]|\s(?!~~))+?)~~")),
    ("spoiler", re.compile(r"\|\|([\s\S]+?)\|\|")),
    ("code", re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)")),
)
_STYLES = {"strong", "em", "strike", "underline", "spoiler"}


def read(text: str) -> tuple[Node, ...]:
    return tuple(_blocks(text, quoted=False))


def kinds(nodes: tuple[Node, ...]) -> set[str]:
    return {kind for node in nodes for kind in ({node.kind} | kinds(node.children))}


def visible_text(nodes: tuple[Node, ...]) -> str:
    return "".join(node.words + visible_text(node.children) for node in nodes)


def _blocks(text: str, *, quoted: bool) -> Iterator[Node]:
    at, plain = 0, ""
    while at < len(text):
        starts_line = at == 0 or text[at - 1] == "\n"
        found = _block_at(text, at, starts_line=starts_line, quoted=quoted)
        if not found:
            plain += text[at]
            step = 1
            if text[at] == "\\" and at + 1 < len(text):
                plain += text[at + 1]
                step = 2
            elif text[at] == "`" and (code := _INLINE[-1][1].match(text, at)):
                plain += code[0][1:]
                step = len(code[0])
            at += step
            continue
        yield from _inline(plain)
        plain = ""
        node, at = found
        yield node
    yield from _inline(plain)


def _block_at(text: str, at: int, *, starts_line: bool, quoted: bool) -> tuple[Node, int] | None:
    if found := _CODE_BLOCK.match(text, at):
        return Node("block", f"{found[2]}\n"), found.end()
    if not starts_line:
        return None
    if not quoted and (found := _QUOTE.match(text, at)):
        words = found[1] or re.sub(r"^ *> ?", "", found[0], flags=re.M)
        kind = "rest quoted" if found[1] else "quote"
        return Node(kind, "", tuple(_blocks(words, quoted=True))), found.end()
    for kind, rule in (("heading", _HEADING), ("small", _SMALL)):
        if found := rule.match(text, at):
            return Node(
                kind, "", (*_inline(found[found.re.groups]), Node("end", "\n"))
            ), found.end()
    if found := _LIST.match(text, at):
        return Node("list", "", tuple(_items(found[0], quoted=quoted))), found.end()
    return None


def _items(text: str, *, quoted: bool) -> Iterator[Node]:
    for item in _ITEM.finditer(text):
        mark = len(item[1]) + len(item[2]) + 1
        inside = item[0][mark:]
        inside = re.sub(rf"^ {{1,{mark}}}", "", inside, flags=re.M)
        yield Node("item", "", tuple(_blocks(inside, quoted=quoted)))


def _inline(text: str) -> Iterator[Node]:
    at, plain = 0, ""
    while at < len(text):
        node, end = _inline_at(text, at)
        if node:
            if plain:
                yield Node("text", plain)
            plain = ""
            yield node
        else:
            plain += text[at:end]
        at = end
    if plain:
        yield Node("text", plain)


def _inline_at(text: str, at: int) -> tuple[Node | None, int]:
    """Return what is read at a place; of several styles the longest, of others the first."""
    styled: tuple[str, re.Match[str]] | None = None
    for kind, rule in _INLINE:
        found = rule.match(text, at)
        if not found:
            continue
        if kind in _STYLES:
            styled = styled if styled and styled[1].end() >= found.end() else (kind, found)
        elif not styled:
            return _NODES.get(kind, _whole)(kind, found), found.end()
    if styled:
        return Node(styled[0], "", tuple(_inline(styled[1][1]))), styled[1].end()
    return None, at + 1


def _whole(kind: str, found: re.Match[str]) -> Node:
    return Node(kind, found[0])


_NODES: dict[str, Callable[[str, re.Match[str]], Node]] = {
    "escape": lambda _, found: Node("text", found[1]),
    "address": lambda kind, found: Node(kind, found[1]),
    "code": lambda kind, found: Node(kind, found[2]),
    "masked": lambda kind, found: Node(kind, found[1]),
}
