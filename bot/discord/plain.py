"""Untrusted text made inert: it calls nobody, and none of it is read as Discord's markup.

Knows no Markdown by models and no components.
"""

import re

from bot.render.text_safety import GAP, Tokens

_CALLED = "|".join(GAP.join(word) for word in ("everyone", "here"))
_ENTITY = (
    rf"@{GAP}[!&]?{GAP}\d",  # people and roles
    rf"#{GAP}\d",  # channels
    r"a?:\w{1,64}:\d",  # emoji
    r"/[^<>:\n]{1,100}:\d",  # commands
    r"t:-?\d",  # moments
    r"id:\w",  # pages of a server
    r"sound:\d",
)
# Invitations and gifts unfold wherever they stand, and so does what opens the program.
_UNFOLDS = r"discord(?:app)?(?=\.(?:gg|gift|new|com/(?:invite|gifts))/|://)"
_TOKENS = Tokens(
    re.compile(
        rf"@(?={GAP}(?:{_CALLED}))"
        rf"|<(?={GAP}(?:{'|'.join(_ENTITY)}))|{_UNFOLDS}",
        re.IGNORECASE,
    ),
    signs="@<&＠﹫＜﹤./／．",
)
_MARKUP = re.compile(r"[\\*_~|`\[#<]|:(?=//|[\w+-]{1,64}:)")
_LINE_START = re.compile(r"^(\s*)(?:([-+](?=\s|$)|>)|(\d{1,20})\.(?=\s|$))", re.MULTILINE)


def inert(text: str) -> str:
    """Give a text that calls nobody; what is markup in it stays markup."""
    return _TOKENS.parted(text)


def inert_url(url: str) -> str:
    """Give an address that leads to the same place and holds no token."""
    return _TOKENS.broken_url(url)


def invites(url: str) -> bool:
    """Say whether an address is one that unfolds, so that it must not be one to press."""
    return bool(re.search(_UNFOLDS, url, re.IGNORECASE))


def escaped(words: str) -> str:
    """Give words for the middle of a line: nothing in them is markup."""
    return _MARKUP.sub(r"\\\g<0>", words)


def unmarked(lines: str) -> str:
    """Give lines of which none begins a list, a quote or a heading."""
    return _LINE_START.sub(_without_mark, lines)


def _without_mark(found: re.Match[str]) -> str:
    margin, sign, number = found.groups()
    return f"{margin}\\{sign}" if sign else f"{margin}{number}\\."
