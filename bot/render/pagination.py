"""Pagination: splits a long post into pages that fit a platform's limits.

Markdown is cut between blocks, else inside one at a line, sentence or word. Nothing is dropped, and
code, tables, lists and quotes stay valid on every page.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, takewhile
from typing import TypeVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import split_graphemes

from bot.chat import Buttons, Caution, Heading, Line, Note, Part, Post, Prose, Quote, Steps, Table

_MAX_PAGE_CHARACTERS = 40_000  # no platform's page is longer
_MAX_REPEATED_LENGTH = 300  # longer fence lines and table heads are not repeated
CONTINUED_NOTE = Note("The answer continues below.")
FULL_QUESTION_HEADING = Heading("Full question")
_MAX_HEADING_LENGTH = 300

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)»]?\s+|\n\s*|(?<=[。！？])")
# Characters that would begin a list, heading or quote stay on the line before.
_WORD_END = re.compile(r"\s+(?![-+*#>=~`|:]|\d+[.)])")

# A cut in the marks that a block begins with would make no progress.
_BEGINNING = re.compile(r"(?:[>\s]|[-*+] |\d+[.)] )*(?:(?:```|~~~)(?:.{0,300}\n[>\s]*)?)?")
_MOST = 4  # a page is used to a quarter at least, if it can be

# The blocks that the chats show: see bot.render.markdown_parser.
_BLOCK_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("reference")
_BLOCK_PARSER.core.ruler.enableOnly(["block"])  # inline content is not parsed

T = TypeVar("T")
_Parts = tuple[Part, ...]
_FitsAt = Callable[[int], bool]  # whether a cut at this place leaves a head that fits
_FitsText = Callable[[str], bool]
_FitsPart = Callable[[Part], bool]


def paginate(post: Post, fits: Callable[[Post], bool]) -> tuple[Post, ...]:
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
        short, appendix = list[Part](), list[Part]()
        for part in parts:
            if isinstance(part, Heading) and len(part.text) > _MAX_HEADING_LENGTH:
                words = part.text[:_MAX_HEADING_LENGTH].rsplit(maxsplit=1)[0]
                short.append(Heading(f"{words.rstrip()}…"))
                appendix += [FULL_QUESTION_HEADING, Quote(part.text)]
            else:
                short.append(part)
        first, rest = self._answer_first(tuple(short))
        if first:
            yield first
        yield from self._fill((*rest, *appendix))

    def _answer_first(self, parts: _Parts) -> tuple[_Parts, _Parts]:
        """Return a first page with the start of the only text, if any, and the other parts."""
        if self.fits(parts):
            return parts, ()
        indexes = [i for i, part in enumerate(parts) if isinstance(part, Prose)]
        if len(indexes) != 1:
            return (), parts
        before, after = parts[: indexes[0]], parts[indexes[0] + 1 :]

        def frame(prose: Part) -> _Parts:
            return (*before, prose, CONTINUED_NOTE, *after)

        cut = _cut_part(parts[indexes[0]], lambda prose: self.fits(frame(prose)))
        return (frame(cut[0]), cut[1:]) if cut else ((), parts)

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
        if is_started and not isinstance(part, Prose) and self.fits((part,)):
            return None
        return _cut_part(part, lambda head: self.fits((*page, head)))


def _cut_part(part: Part, fits: _FitsPart) -> tuple[Part, Part] | None:
    """Return the part in two of its kind, the first of which fits; None if it cannot be cut."""
    match part:
        case Prose(text):
            cut = _Markdown(text).cut(lambda head: fits(Prose(head)))
            return (Prose(cut[0]), Prose(cut[1])) if cut else None
        case Table(rows=rows):
            cut_rows = _cut_items(rows, lambda rows: replace(part, rows=rows), fits)
            return cut_rows or _cut_cells(part, fits)
        case Steps(steps=steps):
            return _cut_items(steps, lambda steps: replace(part, steps=steps), fits)
        case Buttons(buttons, more):
            # The menu is in the last row.
            count = _find_furthest(range(1, len(buttons)), lambda n: fits(Buttons(buttons[:n])))
            return (Buttons(buttons[:count]), Buttons(buttons[count:], more)) if count else None
        case Heading(text) | Line(text) | Note(text) | Caution(text) | Quote(text):
            place = _find_cut(text, (), lambda at: fits(replace(part, text=text[:at].rstrip())))
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
    """Cut a row that fits no page: its cells continue in a second row."""
    row, *others = table.rows or ((),)

    def head(length: int) -> Table:
        return replace(table, rows=(tuple(cell[:length] for cell in row),))

    length = _find_furthest(range(1, max(map(len, row), default=0)), lambda n: fits(head(n)))
    rest = (tuple(cell[length:] for cell in row), *others)
    return (head(length), replace(table, rows=rest)) if length else None


# --- Markdown


@dataclass(frozen=True, slots=True)
class _Fence:
    """A code block: where its lines and its code begin and end, and what each page repeats."""

    start: int
    code: int
    code_end: int
    end: int
    margin: str
    opening: str
    closing: str


class _Markdown:
    """A text with its blocks; places are offsets into the text."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._lines = self._text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self._lines)]
        tokens = [t for t in _BLOCK_PARSER.parse(self._text) if t.map and t.nesting >= 0]
        self._blocks = [(self._starts[_first(token)], token) for token in tokens if not token.level]
        self._items = [self._starts[_first(t)] for t in tokens if t.type == "list_item_open"]
        self._fences = [self._parse_fence(token) for token in tokens if token.type == "fence"]

    def cut(self, fits: _FitsText) -> tuple[str, str] | None:
        """Cut where a block, an item, a row, a line of code, a sentence or a word ends."""
        # A heading stays with its block.
        pairs = pairwise(self._blocks)
        blocks = [at for (_, before), (at, _) in pairs if before.type != "heading_open"]
        kinds = (blocks, self._items, self._rows())
        place = _find_cut(self._text, kinds, lambda at: fits(self._split(at)[0]), self._is_place)
        return self._split(place) if place else None

    def _rows(self) -> list[int]:
        """Return where lines of code begin, and rows of tables except the first."""
        rows = [at for f in self._fences for at in self._starts if f.code < at < f.code_end]
        for _, token in self._blocks:
            if token.type == "table_open":
                rows += self._starts[_first(token) + 3 : (token.map or (0, 0))[1]]
        return sorted(rows)

    def _is_place(self, place: int) -> bool:
        """Return whether the text can be cut there: not in the first or last line of a fence.

        A first line that is too long to repeat can be cut.
        """
        return not any(
            (f.start < place <= f.code and f.code - f.start <= _MAX_REPEATED_LENGTH)
            or f.code_end <= place < f.end
            for f in self._fences
        )

    def _split(self, place: int) -> tuple[str, str]:
        """Split the text: close and reopen code, repeat a table's head, dedent an item."""
        head, rest = self._text[:place].rstrip(), self._text[place:].lstrip("\n")
        for fence in self._fences:
            if fence.start < place <= fence.code:  # the rest of its first line becomes code
                return head, f"{fence.closing}\n{fence.margin}{rest}"
            if fence.code < place < fence.code_end:
                margin = "" if place in self._starts else fence.margin
                return f"{head}\n{fence.closing}", f"{fence.opening}\n{margin}{self._text[place:]}"
        start, block = [(at, token) for at, token in self._blocks if at <= place][-1]
        if start == place or place >= self._starts[(block.map or (0, 0))[1]]:
            return head, rest
        if block.type == "blockquote_open" and not rest.lstrip().startswith(">"):
            rest = f"> {rest.lstrip()}"
        elif block.type == "table_open" and place in self._starts[_first(block) + 3 :]:
            table_head = self._text[start : self._starts[_first(block) + 2]]
            rest = (table_head if len(table_head) <= _MAX_REPEATED_LENGTH else "") + rest
        elif block.type.endswith("_list_open"):
            rest = _dedent_item(rest)
        return head, rest

    def _parse_fence(self, token: Token) -> _Fence:
        first, last = token.map or (0, 0)
        line = self._lines[first]
        margin = re.sub(r"[^>\s]", " ", line[: line.find(token.markup)])
        is_closed = last - first > 1 and self._lines[last - 1].strip("> \t").startswith(
            token.markup
        )
        info = token.info.split()
        # An info string of several words is no language name and is not repeated.
        language = info[0] if len(info) == 1 and len(info[0]) <= _MAX_REPEATED_LENGTH else ""
        return _Fence(
            start=self._starts[first],
            code=min(self._starts[first + 1], len(self._text)),
            code_end=self._starts[last - 1] if is_closed else self._starts[last],
            end=self._starts[last],
            margin=margin,
            opening=margin + token.markup + language,
            closing=margin + token.markup,
        )


def _first(token: Token) -> int:
    """Return the first line of a block."""
    return token.map[0] if token.map else 0


def _dedent_item(rest: str) -> str:
    """Return the lines of an item without its indent, and what follows them unchanged."""
    margin, lines = rest[: len(rest) - len(rest.lstrip(" "))], rest.split("\n")
    own = [*takewhile(lambda line: not line.strip() or line.startswith(margin), lines)]
    return "\n".join([*(line.removeprefix(margin) for line in own), *lines[len(own) :]])


# --- Places to cut


def _find_cut(
    text: str,
    kinds: Iterable[Sequence[int]],
    fits_at: _FitsAt,
    is_place: Callable[[int], bool] = lambda _: True,
) -> int | None:
    """Return the furthest place of the first kind that does not leave most of the page empty.

    After these kinds come the ends of sentences and of words; a word longer than a page is cut
    between characters.
    """
    begin = _BEGINNING.match(text)
    first, last = begin.end() if begin else 0, min(len(text.rstrip()), _MAX_PAGE_CHARACTERS)

    def inside(ends: Iterable[int]) -> list[int]:
        return [end for end in ends if first < end < last and is_place(end)]

    sentences = inside(match.end() for match in _SENTENCE_END.finditer(text, 0, last))
    for places in (*kinds, sentences):
        place = _find_furthest(places, fits_at)
        if place and (place * _MOST >= last or not fits_at(place * _MOST)):
            return place
    words = inside(match.end() for match in _WORD_END.finditer(text, 0, last))
    if place := _find_furthest(words, fits_at):
        return place
    graphemes = inside(end for _, end, _ in split_graphemes(text[:last])[0])
    code_points = range(first + 1, last)
    return _find_furthest(graphemes, fits_at) or _find_furthest(code_points, fits_at)


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
