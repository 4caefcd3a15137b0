"""Markdown by models and people, made into HTML that can neither run nor load anything."""

import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from bot.render.text_safety import has_surplus_cells

# Any other scheme may start a program of the reader's; without one a link leads to this page.
_NESTING = 40  # the parser leaves out what is nested deeper
_LEADS_OUT = re.compile(r"(https?://|mailto:)", re.IGNORECASE)


def _link_open(tokens: Sequence[Token], i: int, _options: Any, _env: Any) -> str:  # noqa: ANN401
    href = Markup("{}").format(tokens[i].attrs.get("href", ""))
    return f'<a href="{href}" rel="noopener noreferrer nofollow ugc" target="_blank">'


def _fence(renderer: RendererHTML, *args: Any) -> str:  # noqa: ANN401
    return renderer.fence(*args).replace("<pre>", '<pre tabindex="0">', 1)


def _renderer() -> MarkdownIt:
    # An image would be loaded from elsewhere by whoever reads; its link stays.
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING})
    markdown.enable(["table", "strikethrough"]).disable("image")
    markdown.validateLink = lambda url: bool(_LEADS_OUT.match(url))  # type: ignore[method-assign]
    markdown.add_render_rule("link_open", lambda _, *args: _link_open(*args[:4]))
    markdown.add_render_rule("fence", _fence)
    return markdown


_MARKDOWN = _renderer()


def markdown(text: str) -> Markup:
    """Give the HTML of a Markdown text: no raw HTML, no images, links that lead out only by hand.

    Headings are made smaller ones, since the page has its own; what may be wider than the page
    scrolls, and the keyboard reaches it.
    """
    tokens = _MARKDOWN.parse(text)
    if _leaves_out(tokens, text):
        return Markup('<pre tabindex="0">{}</pre>\n').format(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 3)}"
        elif token.type in {"table_open", "code_block"}:
            token.attrSet("tabindex", "0")
        # The page allows no style but its own, so a column on the right is given by its class.
        elif style := token.attrs.pop("style", ""):
            token.attrs |= {"class": "n"} if style == "text-align:right" else {}
    # The renderer escapes all text; with raw HTML off there is nothing else.
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))  # noqa: S704


def _leaves_out(tokens: Sequence[Token], text: str) -> bool:
    """Say whether some of a text is not among its tokens, so that it is shown as it was written."""
    lines = text.split("\n")
    columns = 0
    for token in reversed(tokens):  # a table's columns are known before its opening
        columns += token.type == "th_open"
        if token.type == "table_open" and token.map:
            if has_surplus_cells(lines[slice(*token.map)], columns):
                return True
            columns = 0
    return any(token.level >= _NESTING - 1 for token in tokens)
