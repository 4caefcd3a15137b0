"""Split a long post into posts that each fit: nothing is dropped, the answer comes first.

Knows no platform: whether a post fits is asked of whoever sends it.
"""

from collections import deque
from collections.abc import Callable, Iterator

from bot.chat import Heading, Note, Part, Post, Prose, Quote
from bot.render.cuts import Halves
from bot.render.division import divided

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
