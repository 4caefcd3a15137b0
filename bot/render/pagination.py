"""Pagination: splits a long post into pages that fit a platform's limits.

Markdown is cut between blocks, else inside one at a line, sentence or word. Nothing is dropped, and
code, tables, lists and quotes stay valid on every page.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import split_graphemes

from bot.chat import Buttons, Caution, Heading, Line, Note, Part, Post, Prose, Quote, Steps, Table

_MAX_PAGE_CHARACTERS = 40_000  # no platform's page is longer
_MAX_REPEATED_LENGTH = 300  # longer fence lines and table heads are not repeated
CONTINUED_NOTE = Note("The answer goes on below.")
FULL_QUESTION_HEADING = Heading("The question in full")
_MAX_HEADING_LENGTH = 300

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)»]?\s+|\n\s*|(?<=[。！？])")
# Characters that would begin a list, heading or quote stay on the line before.
_WORD_END = re.compile(r"\s+(?![-+*#>=~`|:]|\d+[.)])")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_ITEM_NUMBER = re.compile(r"^( *)\d+(?=[.)])")
_UNBROKEN_BLOCKS = {"fence", "code_block", "table_open"}

_BLOCK_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
_BLOCK_PARSER.core.ruler.enableOnly(["block"])  # inline content is not parsed

T = TypeVar("T")
Fits = Callable[[Post], bool]
_Parts = tuple[Part, ...]
_FitsAt = Callable[[int], bool]  # whether a cut at this place leaves a head that fits
_FitsText = Callable[[str], bool]
_FitsPart = Callable[[Part], bool]


# --- Places to cut


def _find_furthest(places: Sequence[int], fits_at: _FitsAt) -> int | None:
    """Return the last of the ordered places that fits, or None.

    The number of places tried is doubled until one does not fit, so that text far too long for a
    page is never laid out.
    """
    step = 1
    while step <= len(places) and fits_at(places[step - 1]):
        step *= 2
    high = min(step - 1, len(places))
    count = bisect_left(places, 1, step // 2, high, key=lambda place: not fits_at(place))
    return places[count - 1] if count else None


def _find_text_cut(text: str, fits_at: _FitsAt, *, in_words: bool = True) -> int | None:
    """Return the end of a sentence, unless that leaves half the page empty; else that of a word.

    A word longer than a page is cut between characters, unless `in_words` is False.
    """
    word = _find_furthest(_match_ends(_WORD_END, text), fits_at)
    if word is None and in_words:
        code_points = range(1, min(len(text), _MAX_PAGE_CHARACTERS))
        word = _find_furthest(_grapheme_ends(text), fits_at) or _find_furthest(code_points, fits_at)
    sentence = _find_furthest(_match_ends(_SENTENCE_END, text), fits_at)
    return sentence if word and sentence and sentence * 2 >= word else word


def _match_ends(pattern: re.Pattern[str], text: str) -> list[int]:
    """Return where matches end inside the text."""
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    ends = (match.end() for match in pattern.finditer(text, 0, _MAX_PAGE_CHARACTERS))
    return [end for end in ends if first < end < last]


def _grapheme_ends(text: str) -> list[int]:
    """Return every place between two user-perceived characters."""
    in_flags = {flag.start() + 1 for flag in _FLAG.finditer(text, 0, _MAX_PAGE_CHARACTERS)}
    ends = [end for _, end, _ in split_graphemes(text[:_MAX_PAGE_CHARACTERS])[0] if end < len(text)]
    return [end for end in ends if end not in in_flags]


# --- Markdown


@dataclass(frozen=True, slots=True)
class _Fence:
    """A code block: where its code begins and ends, and what its lines begin with."""

    code: int
    code_end: int
    margin: str
    markup: str
    opening: str


class _Markdown:
    """A text with its blocks; places are offsets into the text."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = self.text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        tokens = [t for t in _BLOCK_PARSER.parse(self.text) if t.map and t.nesting >= 0]
        self._blocks = [token for token in tokens if not token.level]
        self._items = [token for token in tokens if token.type == "list_item_open"]
        parsed = (self._parse_fence(token, lines) for token in tokens if token.type == "fence")
        self._fences = [fence for fence in parsed if fence]

    def cut(self, fits: _FitsText, fits_alone: _FitsText) -> tuple[str, str] | None:
        """Cut before a block, or inside the one that is too long, so that the head fits."""
        if not self._blocks:
            place = _find_text_cut(self.text, lambda place: fits(self._split(place)[0]))
            return self._split(place) if place else None
        starts = [self._span(block)[0] for block in self._blocks]
        before = _find_furthest(starts[1:], lambda place: fits(self._split(place)[0]))
        index = starts.index(before) if before else 0
        inside = None
        if not before or not self._moves_whole(index, before, fits_alone):
            inside = self._cut_inside(self._blocks[index], fits, in_words=not before)
        if inside or not before:
            return inside
        # A heading goes with its block.
        if index > 1 and self._blocks[index - 1].type == "heading_open":
            index -= self._blocks[index - 2].type != "heading_open"
        return self._split(starts[index])

    def _moves_whole(self, index: int, before: int, fits_alone: _FitsText) -> bool:
        """Return whether the block goes whole to the next page; code does if it fits there."""
        start, end = self._span(self._blocks[index])
        is_filled = before * 2 >= end - start
        is_unbroken = self._blocks[index].type in _UNBROKEN_BLOCKS
        return (is_filled or is_unbroken) and fits_alone(self.text[start:end])

    def _cut_inside(
        self, block: Token, fits: _FitsText, *, in_words: bool
    ) -> tuple[str, str] | None:
        """Cut before an item, else before a line, else in the text of a block."""

        def fits_at(place: int) -> bool:
            return fits(self._split_inside(block, place)[0])

        start, end = self._span(block)
        items = [at for item in self._items if start < (at := self._span(item)[0]) < end]
        place = _find_furthest(items, fits_at) or _find_furthest(self._lines(block), fits_at)
        if place:
            return self._split_inside(block, place)
        second_line = self._starts[(block.map or (0, 0))[0] + 1]
        if fence := next((fence for fence in self._fences if fence.code == second_line), None):
            start, end = fence.code + len(fence.margin), fence.code_end
        elif block.type == "blockquote_open":
            # A cut right after the quote mark would make no progress.
            start = end - len(self.text[start:end].lstrip("> \t"))
        words = self.text[start:end]
        length = _find_text_cut(words, lambda at: fits_at(start + at), in_words=in_words)
        return self._split_inside(block, start + length) if length else None

    def _lines(self, block: Token) -> list[int]:
        """Return the lines before which a block can be cut; a table keeps a row with its head."""
        first, last = block.map or (0, 0)
        if block.type == "paragraph_open":
            return []
        places = self._starts[first + (3 if block.type == "table_open" else 1) : last]
        return [p for p in places if not any(p in {f.code, f.code_end} for f in self._fences)]

    def _split_inside(self, block: Token, place: int) -> tuple[str, str]:
        """Split inside a block: close and reopen code, repeat a table's head, continue a list."""
        head, rest = self._split(place)
        for fence in self._fences:
            if fence.code < place < fence.code_end:
                margin = "" if place in self._starts else fence.margin
                closing = f"{head}\n{fence.margin}{fence.markup}"
                return closing, f"{fence.opening}\n{margin}{self.text[place:]}"
        if block.type == "blockquote_open" and not rest.lstrip().startswith(">"):
            rest = f"> {rest.lstrip()}"
        elif block.type == "table_open" and place in self._lines(block):
            first, _ = block.map or (0, 0)
            table_head = self.text[self._starts[first] : self._starts[first + 2]]
            rest = (table_head if len(table_head) <= _MAX_REPEATED_LENGTH else "") + rest
        elif block.type.endswith("_list_open"):
            rest = _dedent_item(rest)
            tops = [self._span(item)[0] for item in self._items if item.level == 1]
            if block.type == "ordered_list_open" and place in tops:
                number = int(block.attrs.get("start", 1)) + tops.index(place)
                number -= tops.index(self._span(block)[0])
                rest = _ITEM_NUMBER.sub(rf"\g<1>{number}", rest, count=1)
        return head, rest

    def _split(self, place: int) -> tuple[str, str]:
        return self.text[:place].rstrip(), self.text[place:].lstrip("\n")

    def _span(self, token: Token) -> tuple[int, int]:
        first, last = token.map or (0, 0)
        return self._starts[first], min(self._starts[last], len(self.text))

    def _parse_fence(self, token: Token, lines: Sequence[str]) -> _Fence | None:
        """Return a code block that can be cut; None if its opening line is too long."""
        first, last = token.map or (0, 0)
        line = lines[first]
        if len(line) > _MAX_REPEATED_LENGTH or token.markup not in line:
            return None
        margin = re.sub(r"[^>\s]", " ", line[: line.index(token.markup)])
        is_closed = last - first > 1 and lines[last - 1].strip("> \t").startswith(token.markup)
        end = min(self._starts[last], len(self.text))
        info = token.info.split()
        return _Fence(
            code=min(self._starts[first + 1], len(self.text)),
            code_end=self._starts[last - 1] if is_closed else end + 1,
            margin=margin,
            markup=token.markup,
            # An info string of several words is no language name and is not repeated.
            opening=margin + token.markup + (info[0] if len(info) == 1 else ""),
        )


def _dedent_item(rest: str) -> str:
    """Return the lines of an item without its indent."""
    margin = len(rest) - len(rest.lstrip(" "))
    lines = rest.split("\n")
    for index, line in enumerate(lines):
        if line.strip() and not line.startswith(" " * margin):
            break
        lines[index] = line[margin:]
    return "\n".join(lines)


# --- Pages of one part


def _cut_part(part: Part, fits: _FitsPart, fits_alone: _FitsPart) -> tuple[Part, Part] | None:
    """Return the part in two of its kind, the first of which fits; None if it cannot be cut."""
    match part:
        case Prose(text):
            cut = _Markdown(text).cut(lambda t: fits(Prose(t)), lambda t: fits_alone(Prose(t)))
            return (Prose(cut[0]), Prose(cut[1])) if cut else None
        case Table(rows=rows):
            return _cut_items(rows, lambda rows: replace(part, rows=rows), fits) or _cut_cells(
                part, fits
            )
        case Steps(steps=steps):
            return _cut_items(steps, lambda steps: replace(part, steps=steps), fits)
        case Buttons(buttons):
            return _cut_items(buttons, Buttons, fits)
        case Heading(text) | Line(text) | Note(text) | Caution(text) | Quote(text):
            place = _find_text_cut(
                text, lambda place: fits(replace(part, text=text[:place].rstrip()))
            )
            if place:
                head, rest = text[:place].rstrip(), text[place:].lstrip()
                return replace(part, text=head), replace(part, text=rest)
    return None


def _cut_items(
    items: tuple[T, ...], make: Callable[[tuple[T, ...]], Part], fits: _FitsPart
) -> tuple[Part, Part] | None:
    """Cut between items of the part that `make` returns for them."""
    count = _find_furthest(range(1, len(items)), lambda count: fits(make(items[:count])))
    return (make(items[:count]), make(items[count:])) if count else None


def _cut_cells(table: Table, fits: _FitsPart) -> tuple[Part, Part] | None:
    """Cut a row that fits no page: it continues in a second row, cell by cell."""
    if not table.rows:
        return None
    first, *others = table.rows

    def split(place: int) -> tuple[Table, Table]:
        ends = [0, *accumulate(map(len, first))]
        places = [max(place - end, 0) for end in ends[:-1]]
        head = tuple(c[:p].rstrip() for c, p in zip(first, places, strict=True))
        rest = tuple(c[p:].lstrip() for c, p in zip(first, places, strict=True))
        return replace(table, rows=(head,)), replace(table, rows=(rest, *others))

    place = _find_text_cut("".join(first), lambda place: fits(split(place)[0]))
    return split(place) if place else None


# --- Pages


def paginate(post: Post, fits: Fits) -> tuple[Post, ...]:
    """Return the post as pages in order; a post that fits is its only page.

    If the post has one text, all other parts are on the first page with the beginning of the text.
    A part that fits no page however it is cut is a page by itself.
    """
    if fits(post):
        return (post,)
    pages = _Pager(lambda parts: fits(Post(parts, post.summary))).pages(post.parts)
    return tuple(Post(parts, post.summary) for parts in pages)


def may_fit(post: Post, longest: int, longest_heading: int) -> bool:
    """Return False early for posts that are far too long to lay out."""
    headings = (part.text for part in post.parts if isinstance(part, Heading))
    if any(len(text) > longest_heading for text in headings):
        return False
    return sum(len(getattr(part, "text", "")) for part in post.parts) <= longest


@dataclass(frozen=True, slots=True)
class _Pager:
    """Fills pages with the parts of one post."""

    fits: Callable[[_Parts], bool]

    def pages(self, parts: _Parts) -> Iterator[_Parts]:
        """Yield the page with the start of the answer, then the rest; or part by part."""
        short = tuple(map(_shorten_heading, parts))
        cut = (part for part, kept in zip(parts, short, strict=True) if part != kept)
        appendix = tuple(part for heading in cut for part in _full_question(heading))
        if appendix and self.fits(short):
            yield short
            yield from self._fill(appendix)
        elif first := self._answer_first(short):
            yield first[0]
            yield from self._fill((first[1], *appendix))
        else:
            yield from self._fill((*short, *appendix))

    def _answer_first(self, parts: _Parts) -> tuple[_Parts, Part] | None:
        """Return the first page and the rest of its only text; None if there are several texts."""
        indexes = [i for i, part in enumerate(parts) if isinstance(part, Prose)]
        if len(indexes) != 1:
            return None
        before, after = parts[: indexes[0]], parts[indexes[0] + 1 :]

        def frame(prose: Part) -> _Parts:
            return (*before, prose, CONTINUED_NOTE, *after)

        cut = _cut_part(parts[indexes[0]], lambda prose: self.fits(frame(prose)), self._fits_alone)
        return (frame(cut[0]), cut[1]) if cut else None

    def _fill(self, parts: _Parts) -> Iterator[_Parts]:
        """Fill page after page; a heading is not left alone at the end of one."""
        queue, page = deque(parts), list[Part]()
        while queue:
            part = queue.popleft()
            if self.fits((*page, part)):
                page.append(part)
                continue
            if cut := self._cut_for_page(part, tuple(page)):
                page.append(cut[0])
                queue.extendleft([cut[1]] if getattr(cut[1], "text", "…").strip() else [])
            elif page:
                queue.appendleft(part)
                if isinstance(page[-1], Heading) and len(page) > 1:
                    queue.appendleft(page.pop())
            else:
                page.append(part)  # no cut makes it fit
            yield tuple(page)
            page = []
        if page:
            yield tuple(page)

    def _cut_for_page(self, part: Part, page: _Parts) -> tuple[Part, Part] | None:
        """Cut a part for the rest of a page; one that fits the next page whole waits for it."""
        is_started = any(not isinstance(other, Heading) for other in page)
        if is_started and not isinstance(part, Prose) and self._fits_alone(part):
            return None
        return _cut_part(part, lambda head: self.fits((*page, head)), self._fits_alone)

    def _fits_alone(self, part: Part) -> bool:
        return self.fits((part,))


def _shorten_heading(part: Part) -> Part:
    """Return the heading, cut if it is too long."""
    if not isinstance(part, Heading) or len(part.text) <= _MAX_HEADING_LENGTH:
        return part
    words = part.text[:_MAX_HEADING_LENGTH].rsplit(maxsplit=1)[0]
    return Heading(f"{words.rstrip()}…")


def _full_question(heading: Part) -> _Parts:
    return (FULL_QUESTION_HEADING, Quote(heading.text)) if isinstance(heading, Heading) else ()
