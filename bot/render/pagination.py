"""Places where something can be cut in two, and the furthest of them that a page still holds."""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import split_graphemes

from bot.chat import Buttons, Caution, Heading, Line, Note, Part, Post, Prose, Quote, Steps, Table

# --- Places where something can be cut in two, and the furthest of them that a page still holds.

T = TypeVar("T")

_REACH = 40_000  # no page holds more characters than this
_SENTENCE = re.compile(r"(?<=[.!?…。！？])[\"'”’)»]?\s+|\n\s*|(?<=[。！？])")
# What would begin a list, a heading or a quote stays with the words before it.
_WORD = re.compile(r"\s+(?![-+*#>=~`|:]|\d+[.)])")

_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")


class Halves(NamedTuple, Generic[T]):
    """What stays on the page, and what goes to the next."""

    head: T
    rest: T


@dataclass(frozen=True, slots=True)
class Cuts(Generic[T]):
    """Places in order, and what a cut at each of them gives."""

    places: Sequence[int]
    at: Callable[[int], Halves[T]]


def furthest(cuts: Cuts[T], holds: Callable[[T], bool]) -> Halves[T] | None:
    """Give the cut with the longest head that holds; None if none does.

    Heads are tried from the shortest, twice as many places at a time, then by halves: what is
    far too long for a page is never laid out.
    """
    low, high = 0, 1  # the first `low` places are known to hold
    while high <= len(cuts.places) and holds(cuts.at(cuts.places[high - 1]).head):
        low, high = high, high * 2
    high = min(high, len(cuts.places) + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(cuts.at(cuts.places[middle - 1]).head):
            low = middle
        else:
            high = middle
    return cuts.at(cuts.places[low - 1]) if low else None


def first_found(kinds: Iterator[Cuts[T]], holds: Callable[[T], bool]) -> Halves[T] | None:
    """Give the furthest cut of the first kind that has one."""
    return next((found for cuts in kinds if (found := furthest(cuts, holds))), None)


def text_cut(
    text: str,
    at: Callable[[int], Halves[T]],
    holds: Callable[[T], bool],
    *,
    in_words: bool = True,
) -> Halves[T] | None:
    """Cut text after a sentence, unless half the page would stay empty; else after a word.

    A word that no page holds is cut between two characters, unless that is not wanted.
    """
    words = furthest(Cuts(_ends(_WORD, text), at), holds)
    if words is None and not in_words:
        return None
    if words is None:
        return first_found(iter([Cuts(_characters(text), at), Cuts(_points(text), at)]), holds)
    sentences = furthest(Cuts(_ends(_SENTENCE, text), at), holds)
    if sentences and len(str(sentences.head)) * 2 >= len(str(words.head)):
        return sentences
    return words


def _ends(pattern: re.Pattern[str], text: str) -> list[int]:
    """Give where each match ends inside the text."""
    ends = [found.end() for found in pattern.finditer(text, 0, _REACH)]
    return [end for end in ends if text[:end].strip() and text[end:].strip()]


def _characters(text: str) -> list[int]:
    """Give every place between two characters as people count them."""
    in_flags = {flag.start() + 1 for flag in _FLAG.finditer(text, 0, _REACH)}
    ends = [end for _, end, _ in split_graphemes(text[:_REACH])[0] if end < len(text)]
    return [end for end in ends if end not in in_flags]


def _points(text: str) -> range:
    return range(1, min(len(text), _REACH))


# --- Cut Markdown in two so that both halves read as what they were.

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


# --- Divide one part of a post in two of its kind, so that the first holds on a page.

PartFits = Callable[[Part], bool]


def divided(part: Part, holds: PartFits, alone: PartFits) -> Halves[Part] | None:
    """Give the part in two, the first of which holds; None where there is no such cut.

    `alone` says what a page of its own would hold.
    """
    match part:
        case Prose(text):
            cut = prose_cut(text, lambda head: holds(Prose(head)), lambda t: alone(Prose(t)))
            return Halves(Prose(cut.head), Prose(cut.rest)) if cut else None
        case Table(rows=rows):
            cuts = Cuts(range(1, len(rows)), partial(_rows, part))
            return furthest(cuts, holds) or _cells(part, holds)
        case Steps(steps=steps):
            return furthest(Cuts(range(1, len(steps)), partial(_steps, part)), holds)
        case Buttons(buttons):
            return furthest(Cuts(range(1, len(buttons)), partial(_buttons, part)), holds)
        case Heading() | Line() | Note() | Caution() | Quote():
            return text_cut(part.text, partial(_words, part), holds)
    return None


def _words(part: Heading | Line | Note | Caution | Quote, at: int) -> Halves[Part]:
    head, rest = part.text[:at].rstrip(), part.text[at:].lstrip()
    return Halves(replace(part, text=head), replace(part, text=rest))


def _rows(table: Table, at: int) -> Halves[Part]:
    return Halves(replace(table, rows=table.rows[:at]), replace(table, rows=table.rows[at:]))


def _steps(steps: Steps, at: int) -> Halves[Part]:
    return Halves(replace(steps, steps=steps.steps[:at]), replace(steps, steps=steps.steps[at:]))


def _buttons(buttons: Buttons, at: int) -> Halves[Part]:
    return Halves(Buttons(buttons.buttons[:at]), Buttons(buttons.buttons[at:]))


def _cells(table: Table, holds: PartFits) -> Halves[Part] | None:
    """Divide a row that no page holds: it goes on in a row of its own, cell under cell."""
    if not table.rows:
        return None
    first, *others = table.rows

    def at(place: int) -> Halves[Part]:
        head, rest = _row_cut(first, place)
        return Halves(replace(table, rows=(head,)), replace(table, rows=(rest, *others)))

    return text_cut("".join(first), at, holds)


def _row_cut(row: tuple[str, ...], place: int) -> Halves[tuple[str, ...]]:
    """Cut a row after so many characters of its cells."""
    head, rest = list[str](), list[str]()
    for cell in row:
        head.append(cell[: max(place, 0)].rstrip())
        rest.append(cell[max(place, 0) :].lstrip())
        place -= len(cell)
    return Halves(tuple(head), tuple(rest))


# --- Split a long post into posts that each fit: nothing is dropped, the answer comes first.

Fits = Callable[[Post], bool]
Parts = tuple[Part, ...]

GOES_ON = Note("The answer goes on below.")
IN_FULL = Heading("The question in full")
_LONG_HEADING = 300


def pages(post: Post, fits: Fits) -> tuple[Post, ...]:
    """Give the post as pages in order; one that fits is its own only page.

    Of a post with one text, all else is on the first page, around the beginning of the text.
    What cannot be made to fit however it is cut is a page of its own.
    """
    if fits(post):
        return (post,)
    return tuple(_Pager(post, fits).pages())


def may_fit(post: Post, longest: int, longest_heading: int) -> bool:
    """Say no early to what is far too long to be looked at, and to a heading that is none."""
    headings = (part.text for part in post.parts if isinstance(part, Heading))
    if any(len(text) > longest_heading for text in headings):
        return False
    return sum(len(getattr(part, "text", "")) for part in post.parts) <= longest


class _Pager:
    """Fills pages with the parts of one post."""

    def __init__(self, post: Post, fits: Fits) -> None:
        self._summary = post.summary
        self._takes = fits
        self._parts = tuple(map(_shortened, post.parts))
        cut = zip(post.parts, self._parts, strict=True)
        self._appendix = tuple(part for was, now in cut if was != now for part in _in_full(was))

    def pages(self) -> Iterator[Post]:
        """Give the pages: the answer's first one and what is left, or part after part."""
        if self._appendix and self._fits(self._parts):
            yield self._page(self._parts)
            yield from self._filled(self._appendix)
        elif first := self._answer_first():
            yield self._page(first.head)
            yield from self._filled((*first.rest, *self._appendix))
        else:
            yield from self._filled((*self._parts, *self._appendix))

    def _answer_first(self) -> Halves[Parts] | None:
        """Give the first page with all but the rest of its one text; None if there is no such."""
        at = [i for i, part in enumerate(self._parts) if isinstance(part, Prose)]
        if len(at) != 1:
            return None
        before, after = self._parts[: at[0]], self._parts[at[0] + 1 :]

        def framed(prose: Part) -> Parts:
            return (*before, prose, GOES_ON, *after)

        halves = divided(
            self._parts[at[0]], lambda prose: self._fits(framed(prose)), self._fits_alone
        )
        return Halves(framed(halves.head), (halves.rest,)) if halves else None

    def _filled(self, parts: Parts) -> Iterator[Post]:
        """Fill page after page; a heading is not left alone at the end of one."""
        left, page = deque(parts), list[Part]()
        while left:
            part = left.popleft()
            if self._fits((*page, part)):
                page.append(part)
                continue
            halves = self._divided(part, tuple(page))
            if halves:
                page.append(halves.head)
                left.extendleft([halves.rest] if getattr(halves.rest, "text", "…").strip() else [])
            elif page:
                left.appendleft(part)
                if isinstance(page[-1], Heading) and len(page) > 1:
                    left.appendleft(page.pop())
            else:
                page.append(part)  # no cut makes it fit
            yield self._page(tuple(page))
            page = []
        if page:
            yield self._page(tuple(page))

    def _divided(self, part: Part, page: Parts) -> Halves[Part] | None:
        """Divide a part for what is left of a page; one that fits on the next waits for it."""
        started = any(not isinstance(other, Heading) for other in page)
        if started and not isinstance(part, Prose) and self._fits_alone(part):
            return None
        return divided(part, lambda head: self._fits((*page, head)), self._fits_alone)

    def _fits(self, parts: Parts) -> bool:
        return self._takes(self._page(parts))

    def _fits_alone(self, part: Part) -> bool:
        return self._fits((part,))

    def _page(self, parts: Parts) -> Post:
        return Post(parts, self._summary)


def _shortened(part: Part) -> Part:
    """Give a heading that is as long as a text its beginning only."""
    if not isinstance(part, Heading) or len(part.text) <= _LONG_HEADING:
        return part
    words = part.text[:_LONG_HEADING].rsplit(maxsplit=1)[0]
    return Heading(f"{words.rstrip()}…")


def _in_full(heading: Part) -> Parts:
    return (IN_FULL, Quote(heading.text)) if isinstance(heading, Heading) else ()
