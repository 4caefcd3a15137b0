"""How an answer is dressed: its lists, headings, bold words and code, counted in its Markdown."""

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

STYLE = ("lists", "headings", "bold", "code")
_COUNTED = {
    "list_item_open": "lists",
    "heading_open": "headings",
    "strong_open": "bold",
    "fence": "code",
    "code_inline": "code",
}


def style_of(text: str) -> tuple[int, ...]:
    """Count what STYLE names: items of lists, headings, bold runs, and code blocks and spans."""
    found = Counter[str]()
    for token in _reader().parse(text):
        found.update(
            _COUNTED[one.type] for one in (token, *(token.children or ())) if one.type in _COUNTED
        )
    return tuple(found[trait] for trait in STYLE)


@cache
def _reader() -> "MarkdownIt":
    # It takes a moment to load, and most commands read no answer.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
