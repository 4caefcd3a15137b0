"""Pagination: splits a long post into pages that fit a platform's limits.

Nothing is dropped, and code, tables, lists and quotes stay valid on every page.
"""

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

_MAX_PAGE_CHARACTERS = 40_000  # no platform's page is longer
_MAX_REPEATED_LENGTH = 300  # longer fence lines and table heads are not repeated
CONTINUED_NOTE = Note("The answer goes on below.")
FULL_QUESTION_HEADING = Heading("The question in full")
_MAX_HEADING_LENGTH = 300


# Cut points

T = TypeVar("T")

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)»]?\s+|\n\s*|(?<=[。！？])")
# Characters that would begin a list, heading or quote stay on the line before.
_WORD_END = re.compile(r"\s+(?![-+*#>=~`|:]|\d+[.)])")

_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")


class _Split(NamedTuple, Generic[T]):
    """What stays on the page, and what goes to the next."""

    head: T
    rest: T


@dataclass(frozen=True, slots=True)
class _Cuts(Generic[T]):
    """Cut points in order, and the split at each of them."""

    places: Sequence[int]
    split: Callable[[int], _Split[T]]


def _find_furthest_cut(cuts: _Cuts[T], fits: Callable[[T], bool]) -> _Split[T] | None:
    """Return the cut with the longest head that fits, or None.

    Heads are tried from the shortest with doubling steps, then by bisection, so that text far too
    long for a page is never laid out.
    """
    low, high = 0, 1  # the first `low` cuts are known to fit
    while high <= len(cuts.places) and fits(cuts.split(cuts.places[high - 1]).head):
        low, high = high, high * 2
    high = min(high, len(cuts.places) + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(cuts.split(cuts.places[middle - 1]).head):
            low = middle
        else:
            high = middle
    return cuts.split(cuts.places[low - 1]) if low else None


def _find_first_cut(kinds: Iterator[_Cuts[T]], fits: Callable[[T], bool]) -> _Split[T] | None:
    """Return the furthest cut of the first kind that has one."""
    return next((split for cuts in kinds if (split := _find_furthest_cut(cuts, fits))), None)


def _cut_text(
    text: str,
    split: Callable[[int], _Split[T]],
    fits: Callable[[T], bool],
    *,
    in_words: bool = True,
) -> _Split[T] | None:
    """Cut text after a sentence, unless that leaves half the page empty; else after a word.

    A word longer than a page is cut between characters, unless `in_words` is False.
    """
    words = _find_furthest_cut(_Cuts(_match_ends(_WORD_END, text), split), fits)
    if words is None and not in_words:
        return None
    if words is None:
        return _find_first_cut(
            iter([_Cuts(_grapheme_ends(text), split), _Cuts(_code_point_ends(text), split)]),
            fits,
        )
    sentences = _find_furthest_cut(_Cuts(_match_ends(_SENTENCE_END, text), split), fits)
    if sentences and len(str(sentences.head)) * 2 >= len(str(words.head)):
        return sentences
    return words


def _match_ends(pattern: re.Pattern[str], text: str) -> list[int]:
    """Return where each match ends inside the text."""
    ends = [match.end() for match in pattern.finditer(text, 0, _MAX_PAGE_CHARACTERS)]
    return [end for end in ends if text[:end].strip() and text[end:].strip()]


def _grapheme_ends(text: str) -> list[int]:
    """Return every place between two user-perceived characters."""
    in_flags = {flag.start() + 1 for flag in _FLAG.finditer(text, 0, _MAX_PAGE_CHARACTERS)}
    ends = [end for _, end, _ in split_graphemes(text[:_MAX_PAGE_CHARACTERS])[0] if end < len(text)]
    return [end for end in ends if end not in in_flags]


def _code_point_ends(text: str) -> range:
    return range(1, min(len(text), _MAX_PAGE_CHARACTERS))


# Cutting Markdown

_FitsText = Callable[[str], bool]

_UNBROKEN_BLOCKS = {"fence", "code_block", "table_open"}
_ITEM_NUMBER = re.compile(r"^( *)\d+(?=[.)])")


def _parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.core.ruler.enableOnly(["block"])  # inline content is not parsed
    return markdown


_BLOCK_PARSER = _parser()


def _cut_markdown(text: str, fits: _FitsText, fits_alone: _FitsText) -> _Split[str] | None:
    """Cut a text so that its head fits this page; None if not one character does.

    `alone` says whether a text fits a page by itself.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _MarkdownCutter(text).cut(fits, fits_alone)


@dataclass(frozen=True, slots=True)
class _Fence:
    """A code block: where its lines begin and end, and its opening and closing lines."""

    start: int
    code: int
    code_end: int
    end: int
    opening: str
    closing: str

    def forbids(self, place: int) -> bool:
        """Return whether a cut there would leave a fence without its code."""
        return self.start < place <= self.code or self.code_end <= place < self.end


class _MarkdownCutter:
    """A text with its blocks and line starts."""

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
            if token.type == "fence" and (fence := self._parse_fence(token, lines))
        ]

    def cut(self, fits: _FitsText, fits_alone: _FitsText) -> _Split[str] | None:
        """Cut before a block, or inside the block that is too long for the page."""
        places = [self._start(block) for block in self.blocks[1:]]
        before = _find_furthest_cut(_Cuts(places, self._split_at), fits)
        index = bisect_right(places, len(self.text) - len(before.rest)) if before else 0
        if not self.blocks:
            return _cut_text(self.text, self._split_at, fits)
        if before and self._moves_whole(index, before, fits_alone):
            return self._cut_before(index)
        inside = _find_first_cut(self._inner_cuts(self.blocks[index]), fits)
        inside = inside or self._cut_in_words(self.blocks[index], fits, anywhere=before is None)
        return inside or (self._cut_before(index) if before else None)

    def _cut_before(self, index: int) -> _Split[str]:
        """Cut before a block, and before its heading."""
        is_heading = [
            block.type == "heading_open" for block in self.blocks[max(index - 2, 0) : index]
        ]
        if index > 1 and is_heading == [False, True]:
            index -= 1
        return self._split_at(self._start(self.blocks[index]))

    def _moves_whole(self, index: int, before: _Split[str], fits_alone: _FitsText) -> bool:
        """Return whether the block goes whole to the next page; code does if it fits there."""
        block = self.blocks[index]
        whole = self.text[self._start(block) : self._end(block)]
        filled = len(before.head) * 2 >= len(whole)
        return (filled or block.type in _UNBROKEN_BLOCKS) and fits_alone(whole)

    def _inner_cuts(self, block: Token) -> Iterator[_Cuts[str]]:
        if block.type == "table_open":
            yield self._row_cuts(block)
        elif block.type.endswith("_list_open"):
            yield _Cuts(self._item_starts(block), lambda place: self._cut_list(block, place))
        if block.type != "paragraph_open":
            first, last = block.map or (0, 0)
            places = [self.starts[line] for line in range(first + 1, last)]
            yield _Cuts(self._allowed_places(places), lambda place: self._cut_inside(block, place))

    def _cut_in_words(self, block: Token, fits: _FitsText, *, anywhere: bool) -> _Split[str] | None:
        """Cut a block in its text; one that begins a page even between characters."""
        start = self._start(block)
        words = self.text[start : self._end(block)]
        if block.type == "fence" and self.fences and self.fences[0].start <= start:
            start = self.fences[0].code
            words = self.text[start : self.fences[0].code_end]
        elif block.type == "blockquote_open":
            # A cut right after the quote mark would make no progress.
            words = words.lstrip("> \t")
            start = self._end(block) - len(words)
        return _cut_text(
            words, lambda place: self._cut_inside(block, start + place), fits, in_words=anywhere
        )

    def _row_cuts(self, block: Token) -> _Cuts[str]:
        first, last = block.map or (0, 0)
        head = self.text[self.starts[first] : self.starts[first + 2]]
        repeated = head if len(head) <= _MAX_REPEATED_LENGTH else ""

        def split(place: int) -> _Split[str]:
            return _Split(self.text[:place].rstrip("\n"), repeated + self.text[place:])

        return _Cuts(
            [self.starts[line] for line in range(first + 3, last)] if repeated else [], split
        )

    def _item_starts(self, block: Token) -> list[int]:
        first, last = block.map or (0, 0)
        items = [
            self.starts[token.map[0]]
            for token in self.tokens
            if token.type == "list_item_open" and token.map and first < token.map[0] < last
        ]
        return self._allowed_places(sorted(set(items)))

    def _cut_list(self, block: Token, place: int) -> _Split[str]:
        """Cut before an item; an ordered list continues from its number."""
        head, rest = self._cut_inside(block, place)
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

    def _cut_inside(self, block: Token, place: int) -> _Split[str]:
        """Cut inside a block: close and reopen code, move an item's lines out."""
        head, rest = self._split_at(place)
        for fence in self.fences:
            if fence.code < place < fence.code_end:
                rest = self.text[place:]
                return _Split(f"{head}\n{fence.closing}", f"{fence.opening}\n{rest}")
        if block.type == "blockquote_open" and not rest.lstrip().startswith(">"):
            return _Split(head, f"> {rest.lstrip()}")
        if block.type.endswith("_list_open"):
            return _Split(head, _dedent_item(rest))
        return _Split(head, rest)

    def _split_at(self, place: int) -> _Split[str]:
        return _Split(self.text[:place].rstrip(), self.text[place:].lstrip("\n"))

    def _allowed_places(self, places: Sequence[int]) -> list[int]:
        return [p for p in places if not any(fence.forbids(p) for fence in self.fences)]

    def _parse_fence(self, token: Token, lines: Sequence[str]) -> _Fence | None:
        """Return a code block that can be cut; None if its opening line is too long."""
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
            # An info string of several words is no language name and is not repeated.
            opening=margin + token.markup + (info[0] if len(info) == 1 else ""),
            closing=margin + token.markup,
        )

    def _start(self, block: Token) -> int:
        return self.starts[(block.map or (0, 0))[0]]

    def _end(self, block: Token) -> int:
        return min(self.starts[(block.map or (0, 0))[1]], len(self.text))


def _dedent_item(rest: str) -> str:
    """Return the lines of an item without its indent."""
    margin = len(rest) - len(rest.lstrip(" "))
    lines = rest.split("\n")
    for index, line in enumerate(lines):
        if line.strip() and not line.startswith(" " * margin):
            break
        lines[index] = line[margin:]
    return "\n".join(lines)


# Cutting parts

_FitsPart = Callable[[Part], bool]


def _cut_part(part: Part, fits: _FitsPart, fits_alone: _FitsPart) -> _Split[Part] | None:
    """Return the part in two of its kind, the first of which fits; None if it cannot be cut.

    `alone` says whether a part fits a page by itself.
    """
    match part:
        case Prose(text):
            cut = _cut_markdown(
                text, lambda head: fits(Prose(head)), lambda t: fits_alone(Prose(t))
            )
            return _Split(Prose(cut.head), Prose(cut.rest)) if cut else None
        case Table(rows=rows):
            cuts = _Cuts(range(1, len(rows)), partial(_cut_rows, part))
            return _find_furthest_cut(cuts, fits) or _cut_cells(part, fits)
        case Steps(steps=steps):
            return _find_furthest_cut(_Cuts(range(1, len(steps)), partial(_cut_steps, part)), fits)
        case Buttons(buttons):
            return _find_furthest_cut(
                _Cuts(range(1, len(buttons)), partial(_cut_buttons, part)), fits
            )
        case Heading() | Line() | Note() | Caution() | Quote():
            return _cut_text(part.text, partial(_cut_words, part), fits)
    return None


def _cut_words(part: Heading | Line | Note | Caution | Quote, place: int) -> _Split[Part]:
    head, rest = part.text[:place].rstrip(), part.text[place:].lstrip()
    return _Split(replace(part, text=head), replace(part, text=rest))


def _cut_rows(table: Table, place: int) -> _Split[Part]:
    return _Split(replace(table, rows=table.rows[:place]), replace(table, rows=table.rows[place:]))


def _cut_steps(steps: Steps, place: int) -> _Split[Part]:
    return _Split(
        replace(steps, steps=steps.steps[:place]), replace(steps, steps=steps.steps[place:])
    )


def _cut_buttons(buttons: Buttons, place: int) -> _Split[Part]:
    return _Split(Buttons(buttons.buttons[:place]), Buttons(buttons.buttons[place:]))


def _cut_cells(table: Table, fits: _FitsPart) -> _Split[Part] | None:
    """Cut a row that fits no page: it continues in a second row, cell by cell."""
    if not table.rows:
        return None
    first, *others = table.rows

    def split(place: int) -> _Split[Part]:
        head, rest = _cut_row(first, place)
        return _Split(replace(table, rows=(head,)), replace(table, rows=(rest, *others)))

    return _cut_text("".join(first), split, fits)


def _cut_row(row: tuple[str, ...], place: int) -> _Split[tuple[str, ...]]:
    """Cut a row after so many characters of its cells."""
    head, rest = list[str](), list[str]()
    for cell in row:
        head.append(cell[: max(place, 0)].rstrip())
        rest.append(cell[max(place, 0) :].lstrip())
        place -= len(cell)
    return _Split(tuple(head), tuple(rest))


# Pages

Fits = Callable[[Post], bool]
_Parts = tuple[Part, ...]


def paginate(post: Post, fits: Fits) -> tuple[Post, ...]:
    """Return the post as pages in order; a post that fits is its only page.

    If the post has one text, all other parts are on the first page with the beginning of the text.
    A part that fits no page however it is cut is a page by itself.
    """
    if fits(post):
        return (post,)
    return tuple(_Pager(post, fits).pages())


def may_fit(post: Post, longest: int, longest_heading: int) -> bool:
    """Return False early for posts that are far too long to lay out."""
    headings = (part.text for part in post.parts if isinstance(part, Heading))
    if any(len(text) > longest_heading for text in headings):
        return False
    return sum(len(getattr(part, "text", "")) for part in post.parts) <= longest


class _Pager:
    """Fills pages with the parts of one post."""

    def __init__(self, post: Post, fits: Fits) -> None:
        self._summary = post.summary
        self._post_fits = fits
        self._parts = tuple(map(_shorten_heading, post.parts))
        cut = zip(post.parts, self._parts, strict=True)
        self._appendix = tuple(
            part for was, now in cut if was != now for part in _full_question(was)
        )

    def pages(self) -> Iterator[Post]:
        """Yield the page with the start of the answer, then the rest; or part by part."""
        if self._appendix and self._fits(self._parts):
            yield self._page(self._parts)
            yield from self._fill(self._appendix)
        elif first := self._answer_first():
            yield self._page(first.head)
            yield from self._fill((*first.rest, *self._appendix))
        else:
            yield from self._fill((*self._parts, *self._appendix))

    def _answer_first(self) -> _Split[_Parts] | None:
        """Return the first page and the rest of its only text; None if there are several texts."""
        indexes = [i for i, part in enumerate(self._parts) if isinstance(part, Prose)]
        if len(indexes) != 1:
            return None
        before, after = self._parts[: indexes[0]], self._parts[indexes[0] + 1 :]

        def frame(prose: Part) -> _Parts:
            return (*before, prose, CONTINUED_NOTE, *after)

        split = _cut_part(
            self._parts[indexes[0]], lambda prose: self._fits(frame(prose)), self._fits_alone
        )
        return _Split(frame(split.head), (split.rest,)) if split else None

    def _fill(self, parts: _Parts) -> Iterator[Post]:
        """Fill page after page; a heading is not left alone at the end of one."""
        queue, page = deque(parts), list[Part]()
        while queue:
            part = queue.popleft()
            if self._fits((*page, part)):
                page.append(part)
                continue
            split = self._cut_for_page(part, tuple(page))
            if split:
                page.append(split.head)
                queue.extendleft([split.rest] if getattr(split.rest, "text", "…").strip() else [])
            elif page:
                queue.appendleft(part)
                if isinstance(page[-1], Heading) and len(page) > 1:
                    queue.appendleft(page.pop())
            else:
                page.append(part)  # no cut makes it fit
            yield self._page(tuple(page))
            page = []
        if page:
            yield self._page(tuple(page))

    def _cut_for_page(self, part: Part, page: _Parts) -> _Split[Part] | None:
        """Cut a part for the rest of a page; one that fits the next page whole waits for it."""
        started = any(not isinstance(other, Heading) for other in page)
        if started and not isinstance(part, Prose) and self._fits_alone(part):
            return None
        return _cut_part(part, lambda head: self._fits((*page, head)), self._fits_alone)

    def _fits(self, parts: _Parts) -> bool:
        return self._post_fits(self._page(parts))

    def _fits_alone(self, part: Part) -> bool:
        return self._fits((part,))

    def _page(self, parts: _Parts) -> Post:
        return Post(parts, self._summary)


def _shorten_heading(part: Part) -> Part:
    """Return the heading, cut if it is too long."""
    if not isinstance(part, Heading) or len(part.text) <= _MAX_HEADING_LENGTH:
        return part
    words = part.text[:_MAX_HEADING_LENGTH].rsplit(maxsplit=1)[0]
    return Heading(f"{words.rstrip()}…")


def _full_question(heading: Part) -> _Parts:
    return (FULL_QUESTION_HEADING, Quote(heading.text)) if isinstance(heading, Heading) else ()
