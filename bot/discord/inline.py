"""Leaves of a text as Discord's Markdown: each style begins and ends where it should."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from markdown_it.common.normalize_url import normalizeLink

from bot.discord.limits import URL
from bot.discord.plain import escaped, inert_url, invites, unmarked
from bot.render.markdown_parser import Leaf, Leaves, bold, plain_leaves
from bot.render.text_safety import BREAK, shown_text

_MARKS = {"strike": "~~", "bold": "**", "italic": "_"}  # outermost first
_SIGNS = frozenset("*_~`")


def marked(leaves: Leaves) -> str:
    """Give leaves as lines of Markdown that show what they say, and nothing else."""
    runs = [run for styles, same in groupby(leaves, _styles) for run in _runs(styles, same)]
    lines = "".join(_joined([run for run in runs if run.words]))
    return unmarked("\n".join(line.strip() for line in lines.split("\n")))


def marked_words(words: str, *, strong: bool = False) -> str:
    """Give words that are no Markdown, as lines that show them as they are."""
    leaves = plain_leaves(shown_text(words))
    return marked(bold(leaves) if strong else leaves)


@dataclass(frozen=True, slots=True)
class _Run:
    """Words of one style within a line, already escaped."""

    styles: tuple[str, ...]
    words: str


def _styles(leaf: Leaf) -> tuple[str, ...]:
    """Give the styles that the leaf is shown in; code and addresses stand for themselves."""
    if leaf.is_address or "code" in leaf.styles:
        return ()
    return tuple(style for style in _MARKS if style in leaf.styles)


def _runs(styles: tuple[str, ...], leaves: Iterable[Leaf]) -> Iterable[_Run]:
    """Give runs that neither hold the end of a line in a style nor begin or end with a space."""
    words = "".join(map(_written, leaves))
    if not styles:
        yield _Run((), words)
        return
    for at, line in enumerate(words.split("\n")):
        core = line.strip()
        start = line.find(core) if core else len(line)
        yield _Run((), ("\n" if at else "") + line[:start])
        yield _Run(styles, core)
        yield _Run((), line[start + len(core) :])


def _joined(runs: Sequence[_Run]) -> Iterable[str]:
    before = ""
    for at, run in enumerate(runs):
        after = runs[at + 1].words[:1] if at + 1 < len(runs) else ""
        words = _wrapped(run, before, after)
        # Signs of two neighbours would be read as one sign.
        yield (BREAK if before in _SIGNS and words[0] in _SIGNS else "") + words
        before = words[-1]


def _wrapped(run: _Run, before: str, after: str) -> str:
    """Give the run in its signs; _ is none beside a letter, where only * is."""
    words = run.words
    for style in reversed(run.styles):
        sign = _MARKS[style]
        if run.styles == ("italic",) and (before.isalnum() or after.isalnum()):
            sign = "*"
        words = f"{sign}{words}{sign}"
    return words


def _written(leaf: Leaf) -> str:
    if "code" in leaf.styles:
        return _code(leaf.text)
    if leaf.leads_out and len(leaf.text) <= URL and not invites(leaf.text):
        return f"<{inert_url(shown_text(normalizeLink(leaf.text)))}>"
    return escaped(leaf.text)


def _code(words: str) -> str:
    """Give words as code; backticks in it stay apart from those around it."""
    if "`" not in words:
        return f"`{words}`" if words.strip() else escaped(words)
    while "``" in words:
        words = words.replace("``", f"`{BREAK}`")
    left = " " if words.startswith("`") else ""
    right = " " if words.endswith("`") else ""
    return f"``{left}{words}{right}``"
