"""Untrusted Markdown as HTML for the page: links, highlighted code, mathematics, no raw HTML."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from bot.render.math_rules import add_math
from bot.render.text_safety import has_surplus_cells
from bot.web.mathml import render_formula

_MAX_NESTING = 40  # the parser leaves out what is nested deeper
# Any other scheme may start a program; a link without a scheme leads to this page.
_EXTERNAL_LINK = re.compile(r"(https?://|mailto:)", re.IGNORECASE)
# Enough for a long answer; what is over it is shown as plain code.
_MAX_FORMULAS, _MAX_HIGHLIGHTED = 20_000, 60_000  # characters of a text
_FORMULA_OVERHEAD = 20  # even one of a letter takes time
# Names and aliases of lexers; some of the others need much time for a short text.
_LANGUAGE = re.compile(
    "bash|c|c#|c[+][+]|cpp|cs|csharp|css|diff|docker|dockerfile|go|golang|html|ini|java|javascript|"
    "js|json|json5|jsx|kotlin|lua|make|makefile|nginx|php|postgres|postgresql|powershell|ps1|py|"
    "python|python3|r|rb|rs|ruby|rust|scala|sh|shell|sql|swift|terraform|toml|ts|tsx|typescript|"
    "xml|yaml|yml|zsh"
)


def render_markdown(text: str) -> Markup:
    """Render untrusted Markdown as HTML without raw HTML and images; only external links remain.

    Headings become smaller, since the page has its own. Wide blocks scroll and can be focused.
    A block without an end, as in an answer that was cut off, ends with the text.
    """
    tokens = _MARKDOWN.parse(text)
    if _is_truncated(tokens, text):
        return Markup('<pre tabindex="0">{}</pre>\n').format(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 3)}"
        elif token.type in {"table_open", "code_block"}:
            token.attrSet("tabindex", "0")
        # The page's policy forbids inline styles, so alignment needs a class.
        elif style := token.attrs.pop("style", ""):
            token.attrs |= {"class": "n"} if style == "text-align:right" else {}
    # The renderer escapes all text, and raw HTML is off.
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {"left": _Allowance()})
    return Markup(html)  # noqa: S704


@dataclass(slots=True)
class _Allowance:
    """How many characters of one text may still be typeset and highlighted."""

    formulas: int = _MAX_FORMULAS
    code: int = _MAX_HIGHLIGHTED


def _is_truncated(tokens: Sequence[Token], text: str) -> bool:
    """Return whether the tokens lack a part of the text, so that it must be shown as source."""
    lines = text.split("\n")
    columns = 0
    for token in reversed(tokens):  # a table's columns are counted before its opening token
        columns += token.type == "th_open"
        if token.type == "table_open" and token.map:
            if has_surplus_cells(lines[slice(*token.map)], columns):
                return True
            columns = 0
    return any(token.level >= _MAX_NESTING - 1 for token in tokens)


def _markdown_parser() -> MarkdownIt:
    # An image would be loaded from elsewhere by every reader; its link stays.
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = lambda url: bool(_EXTERNAL_LINK.match(url))  # type: ignore[method-assign]
    parser.add_render_rule("link_open", lambda _, *args: _link_open(*args[:4]))
    parser.add_render_rule("code_inline", lambda _, *args: _code_inline(*args[:4]))
    parser.add_render_rule("fence", lambda _, *args: _fence(*args[:4]))
    return add_math(parser)


def _link_open(tokens: Sequence[Token], i: int, _options: Any, _env: Any) -> str:  # noqa: ANN401
    href = Markup("{}").format(tokens[i].attrs.get("href", ""))
    return f'<a href="{href}" rel="noopener noreferrer nofollow ugc" target="_blank">'


def _code_inline(tokens: Sequence[Token], i: int, _options: Any, env: Any) -> str:  # noqa: ANN401
    formula = _formula(tokens[i], env["left"])
    return str(formula or Markup("<code>{}</code>").format(tokens[i].content))


def _fence(tokens: Sequence[Token], i: int, _options: Any, env: Any) -> str:  # noqa: ANN401
    token = tokens[i]
    if formula := _formula(token, env["left"]):
        return f'<p class="math" tabindex="0">{formula}</p>\n'
    language = (token.info.split() or [""])[0]
    code = _highlight(token.content, language.lower(), env["left"])
    name = Markup(' class="language-{}"').format(language) if language else ""
    return (
        f'<div class="code"><pre tabindex="0"><code{name}>{escape(code)}</code></pre>'
        '<button type="button" data-copy aria-label="Copy this code">Copy</button></div>\n'
    )


def _formula(token: Token, left: _Allowance) -> Markup | None:
    """Return a token's formula as MathML; None if it is none, or must be shown as code."""
    style = token.meta.get("math")
    if not style or len(token.content) > left.formulas:
        return None
    left.formulas -= max(_FORMULA_OVERHEAD, len(token.content))
    return render_formula(token.content.strip(), display=style == "display")


def _highlight(code: str, language: str, left: _Allowance) -> str | Markup:
    """Return code with its parts in spans; plain if its language is unknown or it is too long."""
    if not _LANGUAGE.fullmatch(language) or len(code) > left.code:
        return code
    left.code -= len(code)
    # The lexers take a moment to load, which pages without code need not wait for.
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    # The formatter escapes the code; its classes are fixed.
    return Markup(highlight(code, lexer, HtmlFormatter(nowrap=True)))  # noqa: S704


_MARKDOWN = _markdown_parser()
