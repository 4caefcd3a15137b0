"""Random Markdown as models write it: every construct, nested, of any length."""

import re
from itertools import count

from hypothesis import strategies as st

WORD = "§"  # becomes a word that comes once
SEEN = re.compile(r"w\d+w")

INLINE = st.sampled_from(
    (
        f"{WORD} {WORD} {WORD}.",
        f"**{WORD}**",
        f"*{WORD} {WORD}*",
        f"~~{WORD}~~",
        f"`{WORD}`",
        f"[{WORD}](https://x.example/{WORD})",
        f"![{WORD}](https://x.example/{WORD})",
        "\n",
        "  \n",
        f"<b>{WORD}</b>",
        f"&lt;{WORD}&gt;",
        "@channel",
        "<!here>",
        "👩‍👩‍👧",
        "مرحبا",
        "汉字。",
        "\x07",
        f"**{WORD} `{WORD}`",
        f"https://x.example/{WORD}",
        f"[{WORD}][{WORD}]",
        "\\",
        "|",
        "e\u0301",
        f"{WORD}: {WORD}! ",
        f"({WORD})",
        "a\u200bb",
        "$x^2$",
        "- ",
        "1. ",
        "# ",
        f"[{WORD}]: {WORD}",
    )
)
PARAGRAPH = st.lists(INLINE, min_size=1, max_size=6).map(" ".join)
CELLS = st.lists(
    st.sampled_from(("", WORD, f"`{WORD}`", f"{WORD} {WORD}")), min_size=1, max_size=30
)


def _table(rows: list[list[str]]) -> str:
    width = len(rows[0])
    lines = [f"| {' | '.join((row + [''] * width)[:width])} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * width, *lines[1:]])


def _fence(lines: list[str]) -> str:
    return "\n".join(["```py", *lines, "```"])


def _under(mark: str, text: str) -> str:
    return mark + text.replace("\n", "\n" + " " * len(mark))


LEAVES = st.one_of(
    PARAGRAPH,
    st.integers(1, 6).flatmap(lambda n: PARAGRAPH.map(lambda text: f"{'#' * n} {text}")),
    st.lists(CELLS, min_size=1, max_size=8).map(_table),
    st.lists(PARAGRAPH, max_size=6).map(_fence),
    PARAGRAPH.map(lambda text: "    " + text.replace("\n", "\n    ")),
    st.just("---"),
    st.just(f"~~~ {WORD} {WORD}\n{WORD}\n~~~"),
)


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    some = st.lists(inner, min_size=1, max_size=4)
    return st.one_of(
        some.map("\n\n".join),
        some.map(lambda items: "\n".join(_under("- ", item) for item in items)),
        some.map(lambda items: "\n".join(_under("7. ", item) for item in items)),
        inner.map(lambda text: "> " + text.replace("\n", "\n> ")),
    )


def _numbered(text: str) -> str:
    numbers = count()
    return re.sub(WORD, lambda _: f"w{next(numbers)}w", text)


MARKDOWN = (
    st.tuples(
        st.lists(st.recursive(LEAVES, _nested, max_leaves=12), min_size=1, max_size=6),
        st.sampled_from((1, 1, 1, 6)),
        st.sampled_from(("", "\n\n```\n§ §", "\n\n> - `§", f"\n\n{'x' * 9000} {WORD}")),
    )
    .map(lambda drawn: "\n\n".join(drawn[0] * drawn[1]) + drawn[2])
    .map(lambda text: _numbered(text[:20_000]))
)


def words(text: str) -> list[str]:
    """Return the words that occur once, in reading order."""
    return SEEN.findall(text)
