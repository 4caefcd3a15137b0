r"""Markdown rules for mathematics as models write it: `\(…\)`, `\[…\]`, `$…$`, `$$…$$`.

A formula becomes a token of code with its style, "inline" or "display", in `meta["math"]`, so that
a renderer that cannot typeset shows its source. Plug-ins for this exist, but search for an end
without a limit or do not know brackets.
"""

import re
from bisect import bisect_left

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

MAX_FORMULA = 2_000  # characters
_CLOSING = {r"\[": r"\]", "$$": "$$", r"\(": r"\)"}
# A dollar is money where a digit follows the second one or a letter touches either from outside.
_DOLLARS = re.compile(r"(?<!\w)\$(?![\s$])((?:[^$`\\\n]|\\.){1,2000})(?<!\s)\$(?![\w$])")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def add_math(parser: MarkdownIt) -> MarkdownIt:
    """Add the rules to a parser, and return it."""
    parser.inline.ruler.before("escape", "math", _inline_math)
    may_end = ["paragraph", "blockquote", "list"]
    parser.block.ruler.before("fence", "math", _math_block, {"alt": may_end})
    return parser


def _find_closing(source: str, position: int) -> tuple[str, int]:
    """Return the opening mark at a position, and where the closing one is; -1 without one."""
    opening = source[position : position + 2]
    if opening not in _CLOSING:
        return "", -1
    return opening, source.find(_CLOSING[opening], position + 2, position + MAX_FORMULA + 4)


def _inline_math(state: StateInline, silent: bool) -> bool:
    opening, end = _find_closing(state.src, state.pos)
    if end >= 0:
        formula, after = state.src[state.pos + 2 : end], end + 2
    elif match := _DOLLARS.match(state.src, state.pos):
        formula, after = match[1], match.end()
    else:
        return False
    if not formula.strip():
        return False
    if not silent:
        token = state.push("code_inline", "code", 0)
        token.content = formula.strip()
        token.meta = {"math": "display" if opening in {r"\[", "$$"} else "inline"}
    state.pos = after
    return True


def _math_block(state: StateBlock, first: int, end_line: int, silent: bool) -> bool:
    opening, end = _find_closing(state.src, state.bMarks[first] + state.tShift[first])
    if end < 0 or opening == r"\(" or state.is_code_block(first):
        return False
    last = bisect_left(state.eMarks, end + 2, first, end_line)
    if last == end_line or state.src[end + 2 : state.eMarks[last]].strip():
        return False  # a sentence goes on after it, or the block around it ends before it
    formula = state.getLines(first, last + 1, state.blkIndent, False).strip()[2:-2].strip()
    if not formula or _BLANK_LINE.search(formula):
        return False
    if min(state.sCount[first : last + 1]) < state.blkIndent:
        return False
    if not silent:
        token = state.push("fence", "code", 0)
        token.content = formula + "\n"
        token.map = [first, last + 1]
        token.meta = {"math": "display"}
    state.line = last + 1
    return True
