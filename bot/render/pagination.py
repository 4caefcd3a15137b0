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

_MAX_PAGE_CHARACTERS = 40_000  # no page holds more characters than this
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)»]?\s+|\n\s*|(?<=[。！？])")
# What would begin a list, a heading or a quote stays with the words before it.
_WORD_END = re.compile(r"\s+(?![-+*#>=~`|:]|\d+[.)])")

_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")


class _Split(NamedTuple, Generic[T]):
    """What stays on the page, and what goes to the next."""

    head: T
    rest: T


@dataclass(frozen=True, slots=True)
class _Cuts(Generic[T]):
    """Places in order, and what a cut at each of them gives."""

    places: Sequence[int]
    at: Callable[[int], _Split[T]]


def _find_furthest_cut(cuts: _Cuts[T], holds: Callable[[T], bool]) -> _Split[T] | None:
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


def _find_first_cut(kinds: Iterator[_Cuts[T]], holds: Callable[[T], bool]) -> _Split[T] | None:
    """Give the furthest cut of the first kind that has one."""
    return next((found for cuts in kinds if (found := _find_furthest_cut(cuts, holds))), None)


def _cut_text(
    text: str,
    at: Callable[[int], _Split[T]],
    holds: Callable[[T], bool],
    *,
    in_words: bool = True,
) -> _Split[T] | None:
    """Cut text after a sentence, unless half the page would stay empty; else after a word.

    A word that no page holds is cut between two characters, unless that is not wanted.
    """
    words = _find_furthest_cut(_Cuts(_match_ends(_WORD_END, text), at), holds)
    if words is None and not in_words:
        return None
    if words is None:
        return _find_first_cut(
            iter([_Cuts(_grapheme_ends(text), at), _Cuts(_code_point_ends(text), at)]), holds
        )
    sentences = _find_furthest_cut(_Cuts(_match_ends(_SENTENCE_END, text), at), holds)
    if sentences and len(str(sentences.head)) * 2 >= len(str(words.head)):
        return sentences
    return words


def _match_ends(pattern: re.Pattern[str], text: str) -> list[int]:
    """Give where each match ends inside the text."""
    ends = [found.end() for found in pattern.finditer(text, 0, _MAX_PAGE_CHARACTERS)]
    return [end for end in ends if text[:end].strip() and text[end:].strip()]


def _grapheme_ends(text: str) -> list[int]:
    """Give every place between two characters as people count them."""
    in_flags = {flag.start() + 1 for flag in _FLAG.finditer(text, 0, _MAX_PAGE_CHARACTERS)}
    ends = [end for _, end, _ in split_graphemes(text[:_MAX_PAGE_CHARACTERS])[0] if end < len(text)]
    return [end for end in ends if end not in in_flags]


def _code_point_ends(text: str) -> range:
    return range(1, min(len(text), _MAX_PAGE_CHARACTERS))


# --- Cut Markdown in two so that both halves read as what they were.

_FitsText = Callable[[str], bool]

_MAX_REPEATED_LENGTH = 300  # a longer opening line or head of a table is not written twice
_UNBROKEN_BLOCKS = {"fence", "code_block", "table_open"}
_ITEM_NUMBER = re.compile(r"^( *)\d+(?=[.)])")


def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.core.ruler.enableOnly(["block"])  # what stands inside a block is not looked at
    return markdown


_BLOCK_PARSER = _parser()


def _cut_markdown(text: str, holds: _FitsText, alone: _FitsText) -> _Split[str] | None:
    """Cut a text so that its head holds on this page; None if not one character of it does.

    `alone` says what a page of its own would hold.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _MarkdownCutter(text).cut(holds, alone)


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


class _MarkdownCutter:
    """A text, its blocks, and where its lines begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        lines = text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self.tokens = [
            token for token in _BLOCK_PARSER.parse(text) if token.map and token.nesting >= 0
        ]
        self.blocks = [token for token in self.tokens if not token.level]
        self.fences = [
            fence
            for token in self.tokens
            if token.type == "fence" and (fence := self._fence(token, lines))
        ]

    def cut(self, holds: _FitsText, alone: _FitsText) -> _Split[str] | None:
        """Cut before a block, or inside the block that is too long for what is left."""
        places = [self._start(block) for block in self.blocks[1:]]
        before = _find_furthest_cut(_Cuts(places, self._between), holds)
        at = bisect_right(places, len(self.text) - len(before.rest)) if before else 0
        if not self.blocks:
            return _cut_text(self.text, self._between, holds)
        if before and self._moves_whole(at, before, alone):
            return self._before(at)
        inside = _find_first_cut(self._inside(self.blocks[at]), holds)
        inside = inside or self._in_words(self.blocks[at], holds, alone=before is None)
        return inside or (self._before(at) if before else None)

    def _before(self, at: int) -> _Split[str]:
        """Cut before a block, and before the heading that stands over it."""
        over = [block.type == "heading_open" for block in self.blocks[max(at - 2, 0) : at]]
        if at > 1 and over == [False, True]:
            at -= 1
        return self._between(self._start(self.blocks[at]))

    def _moves_whole(self, at: int, before: _Split[str], alone: _FitsText) -> bool:
        """Say whether the block goes to the next page whole: code does, if it can."""
        block = self.blocks[at]
        whole = self.text[self._start(block) : self._end(block)]
        filled = len(before.head) * 2 >= len(whole)
        return (filled or block.type in _UNBROKEN_BLOCKS) and alone(whole)

    def _inside(self, block: Token) -> Iterator[_Cuts[str]]:
        if block.type == "table_open":
            yield self._rows(block)
        elif block.type.endswith("_list_open"):
            yield _Cuts(self._items(block), lambda place: self._in_list(block, place))
        if block.type != "paragraph_open":
            first, last = block.map or (0, 0)
            places = [self.starts[line] for line in range(first + 1, last)]
            yield _Cuts(self._allowed(places), lambda place: self._mended(block, place))

    def _in_words(self, block: Token, holds: _FitsText, *, alone: bool) -> _Split[str] | None:
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
        return _cut_text(
            words, lambda place: self._mended(block, start + place), holds, in_words=alone
        )

    def _rows(self, block: Token) -> _Cuts[str]:
        first, last = block.map or (0, 0)
        head = self.text[self.starts[first] : self.starts[first + 2]]
        repeated = head if len(head) <= _MAX_REPEATED_LENGTH else ""

        def at(place: int) -> _Split[str]:
            return _Split(self.text[:place].rstrip("\n"), repeated + self.text[place:])

        return _Cuts([self.starts[line] for line in range(first + 3, last)] if repeated else [], at)

    def _items(self, block: Token) -> list[int]:
        first, last = block.map or (0, 0)
        items = [
            self.starts[token.map[0]]
            for token in self.tokens
            if token.type == "list_item_open" and token.map and first < token.map[0] < last
        ]
        return self._allowed(sorted(set(items)))

    def _in_list(self, block: Token, place: int) -> _Split[str]:
        """Cut before an item; what is counted goes on from its number."""
        head, rest = self._mended(block, place)
        if block.type != "ordered_list_open":
            return _Split(head, rest)
        tops = [
            self.starts[token.map[0]]
            for token in self.tokens
            if token.type == "list_item_open" and token.level == 1 and token.map
        ]
        if place not in tops:
            return _Split(head, rest)
        start = self._start(block)
        number = int(block.attrs.get("start", 1)) + sum(start <= top < place for top in tops)
        return _Split(head, _ITEM_NUMBER.sub(rf"\g<1>{number}", rest, count=1))

    def _mended(self, block: Token, place: int) -> _Split[str]:
        """Cut inside a block: code is closed and opened again, an item's lines move out."""
        head, rest = self._between(place)
        for fence in self.fences:
            if fence.code < place < fence.code_end:
                rest = self.text[place:]
                return _Split(f"{head}\n{fence.closing}", f"{fence.opening}\n{rest}")
        if block.type == "blockquote_open" and not rest.lstrip().startswith(">"):
            return _Split(head, f"> {rest.lstrip()}")
        if block.type.endswith("_list_open"):
            return _Split(head, _dedent_item(rest))
        return _Split(head, rest)

    def _between(self, place: int) -> _Split[str]:
        return _Split(self.text[:place].rstrip(), self.text[place:].lstrip("\n"))

    def _allowed(self, places: Sequence[int]) -> list[int]:
        return [p for p in places if not any(fence.forbids(p) for fence in self.fences)]

    def _fence(self, token: Token, lines: Sequence[str]) -> _Fence | None:
        """Give a block of code as it can be cut; None where its opening line is too long."""
        first, last = token.map or (0, 0)
        line = lines[first]
        if len(line) > _MAX_REPEATED_LENGTH or token.markup not in line:
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


def _dedent_item(rest: str) -> str:
    """Give lines that stood in an item without the margin of the first of them."""
    margin = len(rest) - len(rest.lstrip(" "))
    lines = rest.split("\n")
    for at, line in enumerate(lines):
        if line.strip() and not line.startswith(" " * margin):
            break
        lines[at] = line[margin:]
    return "\n".join(lines)


# --- Divide one part of a post in two of its kind, so that the first holds on a page.

_FitsPart = Callable[[Part], bool]


def _cut_part(part: Part, holds: _FitsPart, alone: _FitsPart) -> _Split[Part] | None:
    """Give the part in two, the first of which holds; None where there is no such cut.

    `alone` says what a page of its own would hold.
    """
    match part:
        case Prose(text):
            cut = _cut_markdown(text, lambda head: holds(Prose(head)), lambda t: alone(Prose(t)))
            return _Split(Prose(cut.head), Prose(cut.rest)) if cut else None
        case Table(rows=rows):
            cuts = _Cuts(range(1, len(rows)), partial(_cut_rows, part))
            return _find_furthest_cut(cuts, holds) or _cut_cells(part, holds)
        case Steps(steps=steps):
            return _find_furthest_cut(_Cuts(range(1, len(steps)), partial(_cut_steps, part)), holds)
        case Buttons(buttons):
            return _find_furthest_cut(
                _Cuts(range(1, len(buttons)), partial(_cut_buttons, part)), holds
            )
        case Heading() | Line() | Note() | Caution() | Quote():
            return _cut_text(part.text, partial(_cut_words, part), holds)
    return None


def _cut_words(part: Heading | Line | Note | Caution | Quote, at: int) -> _Split[Part]:
    head, rest = part.text[:at].rstrip(), part.text[at:].lstrip()
    return _Split(replace(part, text=head), replace(part, text=rest))


def _cut_rows(table: Table, at: int) -> _Split[Part]:
    return _Split(replace(table, rows=table.rows[:at]), replace(table, rows=table.rows[at:]))


def _cut_steps(steps: Steps, at: int) -> _Split[Part]:
    return _Split(replace(steps, steps=steps.steps[:at]), replace(steps, steps=steps.steps[at:]))


def _cut_buttons(buttons: Buttons, at: int) -> _Split[Part]:
    return _Split(Buttons(buttons.buttons[:at]), Buttons(buttons.buttons[at:]))


def _cut_cells(table: Table, holds: _FitsPart) -> _Split[Part] | None:
    """Divide a row that no page holds: it goes on in a row of its own, cell under cell."""
    if not table.rows:
        return None
    first, *others = table.rows

    def at(place: int) -> _Split[Part]:
        head, rest = _cut_row(first, place)
        return _Split(replace(table, rows=(head,)), replace(table, rows=(rest, *others)))

    return _cut_text("".join(first), at, holds)


def _cut_row(row: tuple[str, ...], place: int) -> _Split[tuple[str, ...]]:
    """Cut a row after so many characters of its cells."""
    head, rest = list[str](), list[str]()
    for cell in row:
        head.append(cell[: max(place, 0)].rstrip())
        rest.append(cell[max(place, 0) :].lstrip())
        place -= len(cell)
    return _Split(tuple(head), tuple(rest))


# --- Split a long post into posts that each fit: nothing is dropped, the answer comes first.

Fits = Callable[[Post], bool]
_Parts = tuple[Part, ...]

CONTINUED_NOTE = Note("The answer goes on below.")
FULL_QUESTION_HEADING = Heading("The question in full")
_MAX_HEADING_LENGTH = 300


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
        self._parts = tuple(map(_shorten_heading, post.parts))
        cut = zip(post.parts, self._parts, strict=True)
        self._appendix = tuple(
            part for was, now in cut if was != now for part in _full_question(was)
        )

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

    def _answer_first(self) -> _Split[_Parts] | None:
        """Give the first page with all but the rest of its one text; None if there is no such."""
        at = [i for i, part in enumerate(self._parts) if isinstance(part, Prose)]
        if len(at) != 1:
            return None
        before, after = self._parts[: at[0]], self._parts[at[0] + 1 :]

        def framed(prose: Part) -> _Parts:
            return (*before, prose, CONTINUED_NOTE, *after)

        halves = _cut_part(
            self._parts[at[0]], lambda prose: self._fits(framed(prose)), self._fits_alone
        )
        return _Split(framed(halves.head), (halves.rest,)) if halves else None

    def _filled(self, parts: _Parts) -> Iterator[Post]:
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

    def _divided(self, part: Part, page: _Parts) -> _Split[Part] | None:
        """Divide a part for what is left of a page; one that fits on the next waits for it."""
        started = any(not isinstance(other, Heading) for other in page)
        if started and not isinstance(part, Prose) and self._fits_alone(part):
            return None
        return _cut_part(part, lambda head: self._fits((*page, head)), self._fits_alone)

    def _fits(self, parts: _Parts) -> bool:
        return self._takes(self._page(parts))

    def _fits_alone(self, part: Part) -> bool:
        return self._fits((part,))

    def _page(self, parts: _Parts) -> Post:
        return Post(parts, self._summary)


def _shorten_heading(part: Part) -> Part:
    """Give a heading that is as long as a text its beginning only."""
    if not isinstance(part, Heading) or len(part.text) <= _MAX_HEADING_LENGTH:
        return part
    words = part.text[:_MAX_HEADING_LENGTH].rsplit(maxsplit=1)[0]
    return Heading(f"{words.rstrip()}…")


def _full_question(heading: Part) -> _Parts:
    return (FULL_QUESTION_HEADING, Quote(heading.text)) if isinstance(heading, Heading) else ()
