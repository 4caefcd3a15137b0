"""Cut Markdown in two so that both halves read as what they were.

Blocks stay whole where a page can hold them; code that no page holds is closed at the cut and
opened again, a table repeats its head, a list goes on counting.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.render.cuts import Cuts, Halves, first_found, furthest, text_cut

Holds = Callable[[str], bool]

_LONGEST_REPEATED = 300  # a longer opening line or head of a table is not written twice
_KEPT_WHOLE = {"fence", "code_block", "table_open"}
_NUMBER = re.compile(r"^( *)\d+(?=[.)])")


def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.core.ruler.enableOnly(["block"])  # what stands inside a block is not looked at
    return markdown


_BLOCKS = _parser()


def prose_cut(text: str, holds: Holds, alone: Holds) -> Halves[str] | None:
    """Cut a text so that its head holds on this page; None if not one character of it does.

    `alone` says what a page of its own would hold.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _Layout(text).cut(holds, alone)


@dataclass(frozen=True, slots=True)
class _Fence:
    """A block of code: where its lines begin and end, and what opens and closes it."""

    start: int
    code: int
    code_end: int
    end: int
    opening: str
    closing: str

    def forbids(self, place: int) -> bool:
        """Say whether a cut there would leave a fence without its code."""
        return self.start < place <= self.code or self.code_end <= place < self.end


class _Layout:
    """A text, its blocks, and where its lines begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        lines = text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self.tokens = [token for token in _BLOCKS.parse(text) if token.map and token.nesting >= 0]
        self.blocks = [token for token in self.tokens if not token.level]
        self.fences = [
            fence
            for token in self.tokens
            if token.type == "fence" and (fence := self._fence(token, lines))
        ]

    def cut(self, holds: Holds, alone: Holds) -> Halves[str] | None:
        """Cut before a block, or inside the block that is too long for what is left."""
        places = [self._start(block) for block in self.blocks[1:]]
        before = furthest(Cuts(places, self._between), holds)
        at = bisect_right(places, len(self.text) - len(before.rest)) if before else 0
        if not self.blocks:
            return text_cut(self.text, self._between, holds)
        if before and self._moves_whole(at, before, alone):
            return self._before(at)
        inside = first_found(self._inside(self.blocks[at]), holds)
        inside = inside or self._in_words(self.blocks[at], holds, alone=before is None)
        return inside or (self._before(at) if before else None)

    def _before(self, at: int) -> Halves[str]:
        """Cut before a block, and before the heading that stands over it."""
        over = [block.type == "heading_open" for block in self.blocks[max(at - 2, 0) : at]]
        if at > 1 and over == [False, True]:
            at -= 1
        return self._between(self._start(self.blocks[at]))

    def _moves_whole(self, at: int, before: Halves[str], alone: Holds) -> bool:
        """Say whether the block goes to the next page whole: code does, if it can."""
        block = self.blocks[at]
        whole = self.text[self._start(block) : self._end(block)]
        filled = len(before.head) * 2 >= len(whole)
        return (filled or block.type in _KEPT_WHOLE) and alone(whole)

    def _inside(self, block: Token) -> Iterator[Cuts[str]]:
        if block.type == "table_open":
            yield self._rows(block)
        elif block.type.endswith("_list_open"):
            yield Cuts(self._items(block), lambda place: self._in_list(block, place))
        if block.type != "paragraph_open":
            first, last = block.map or (0, 0)
            places = [self.starts[line] for line in range(first + 1, last)]
            yield Cuts(self._allowed(places), lambda place: self._mended(block, place))

    def _in_words(self, block: Token, holds: Holds, *, alone: bool) -> Halves[str] | None:
        """Cut a block in its words; one that begins a page alone even between two characters."""
        start = self._start(block)
        words = self.text[start : self._end(block)]
        if block.type == "fence" and self.fences and self.fences[0].start <= start:
            start = self.fences[0].code
            words = self.text[start : self.fences[0].code_end]
        elif block.type == "blockquote_open":
            # A cut after nothing but the mark would leave as much as there was before.
            words = words.lstrip("> \t")
            start = self._end(block) - len(words)
        return text_cut(
            words, lambda place: self._mended(block, start + place), holds, in_words=alone
        )

    def _rows(self, block: Token) -> Cuts[str]:
        first, last = block.map or (0, 0)
        head = self.text[self.starts[first] : self.starts[first + 2]]
        repeated = head if len(head) <= _LONGEST_REPEATED else ""

        def at(place: int) -> Halves[str]:
            return Halves(self.text[:place].rstrip("\n"), repeated + self.text[place:])

        return Cuts([self.starts[line] for line in range(first + 3, last)] if repeated else [], at)

    def _items(self, block: Token) -> list[int]:
        first, last = block.map or (0, 0)
        items = [
            self.starts[token.map[0]]
            for token in self.tokens
            if token.type == "list_item_open" and token.map and first < token.map[0] < last
        ]
        return self._allowed(sorted(set(items)))

    def _in_list(self, block: Token, place: int) -> Halves[str]:
        """Cut before an item; what is counted goes on from its number."""
        head, rest = self._mended(block, place)
        if block.type != "ordered_list_open":
            return Halves(head, rest)
        tops = [
            self.starts[token.map[0]]
            for token in self.tokens
            if token.type == "list_item_open" and token.level == 1 and token.map
        ]
        if place not in tops:
            return Halves(head, rest)
        start = self._start(block)
        number = int(block.attrs.get("start", 1)) + sum(start <= top < place for top in tops)
        return Halves(head, _NUMBER.sub(rf"\g<1>{number}", rest, count=1))

    def _mended(self, block: Token, place: int) -> Halves[str]:
        """Cut inside a block: code is closed and opened again, an item's lines move out."""
        head, rest = self._between(place)
        for fence in self.fences:
            if fence.code < place < fence.code_end:
                rest = self.text[place:]
                return Halves(f"{head}\n{fence.closing}", f"{fence.opening}\n{rest}")
        if block.type == "blockquote_open" and not rest.lstrip().startswith(">"):
            return Halves(head, f"> {rest.lstrip()}")
        if block.type.endswith("_list_open"):
            return Halves(head, _moved_out(rest))
        return Halves(head, rest)

    def _between(self, place: int) -> Halves[str]:
        return Halves(self.text[:place].rstrip(), self.text[place:].lstrip("\n"))

    def _allowed(self, places: Sequence[int]) -> list[int]:
        return [p for p in places if not any(fence.forbids(p) for fence in self.fences)]

    def _fence(self, token: Token, lines: Sequence[str]) -> _Fence | None:
        """Give a block of code as it can be cut; None where its opening line is too long."""
        first, last = token.map or (0, 0)
        line = lines[first]
        if len(line) > _LONGEST_REPEATED or token.markup not in line:
            return None
        margin = re.sub(r"[^>\s]", " ", line[: line.index(token.markup)])
        closed = last - first > 1 and lines[last - 1].strip("> \t").startswith(token.markup)
        end = min(self.starts[last], len(self.text))
        info = token.info.split()
        return _Fence(
            start=self.starts[first],
            code=min(self.starts[first + 1], len(self.text)),
            code_end=self.starts[last - 1] if closed else end + 1,
            end=end,
            # More than one word is no language's name, and is said once.
            opening=margin + token.markup + (info[0] if len(info) == 1 else ""),
            closing=margin + token.markup,
        )

    def _start(self, block: Token) -> int:
        return self.starts[(block.map or (0, 0))[0]]

    def _end(self, block: Token) -> int:
        return min(self.starts[(block.map or (0, 0))[1]], len(self.text))


def _moved_out(rest: str) -> str:
    """Give lines that stood in an item without the margin of the first of them."""
    margin = len(rest) - len(rest.lstrip(" "))
    lines = rest.split("\n")
    for at, line in enumerate(lines):
        if line.strip() and not line.startswith(" " * margin):
            break
        lines[at] = line[margin:]
    return "\n".join(lines)
