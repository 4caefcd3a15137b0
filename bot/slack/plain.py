"""Untrusted text made inert: it can neither call people nor be read as Slack's markup.

A token that would call somebody gets a zero-width space inside, wherever it stands, so that
whoever scans a message finds none. Knows no Markdown and no blocks.
"""

import re
from unicodedata import normalize
from urllib.parse import quote

from council.imitations import visible

BREAK = "\u200b"

_CALLED = ("channel", "here", "everyone")
_COMMANDS = (*_CALLED, "group", "subteam", "date")
# What may stand between the signs of a token without being seen.
_GAP = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]*"
)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")


def _begun(words: tuple[str, ...]) -> str:
    """Match each word whole, or as much of it as a text ends with: the rest may follow."""
    whole = {_GAP.join(word) for word in words}
    parts = {_GAP.join(word[:n]) + _GAP + r"\Z" for word in words for n in range(len(word))}
    return f"(?:{'|'.join(sorted(whole) + sorted(parts))})"


_LESS = r"<|&lt;|&#0{0,9}60;|&#x0{0,9}3c;"
_PING = re.compile(
    rf"@(?={_GAP}{_begun(_CALLED)})"
    rf"|(?:{_LESS})(?={_GAP}(?:\Z|!{_GAP}{_begun(_COMMANDS)}|[@#]{_GAP}(?:[a-z0-9]|\Z)))",
    re.IGNORECASE,
)


def inert(text: str) -> str:
    """Give the text as it can be shown in any field that Slack does not parse."""
    shown = shown_text(text)
    breaks = _breaks(shown)
    return BREAK.join(shown[a:b] for a, b in zip([0, *breaks], [*breaks, None], strict=True))


def escaped(text: str) -> str:
    """Give the text for a field that Slack parses as mrkdwn: nothing in it is markup."""
    return inert(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def inert_url(url: str) -> str:
    """Give an address that leads to the same place and holds no token that calls people."""
    breaks = [at for at in _breaks(url) if at < len(url)]
    for at in reversed(breaks):
        url = url[:at] + _percent(url[at]) + url[at + 1 :]
    return url


def shown_text(text: str) -> str:
    """Give what can be seen of the text: no control characters, lines end in a newline."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNPRINTABLE.sub("", visible(lines))


def one_line(text: str) -> str:
    """Give the text in one line, inert."""
    return inert(" ".join(text.split()))


def shortened(text: str, limit: int) -> str:
    """Give at most so many characters of the text, cut at a word where there is one, with …."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return head[: head.rfind(" ", limit // 2) % limit].rstrip() + "…"


def _breaks(text: str) -> list[int]:
    """Give where a token must be broken; full-width and styled letters count as plain ones."""
    if not any(sign in text for sign in "@<&＠﹫＜﹤"):
        return []
    return [found.end() for found in _PING.finditer(_folded(text))]


def _folded(text: str) -> str:
    """Give the text in plain letters, one for one."""
    if text.isascii():
        return text
    return "".join(c if len(plain := normalize("NFKC", c)) != 1 else plain for c in text)


def _percent(character: str) -> str:
    quoted = quote(character, safe="")
    return quoted if quoted != character else f"%{ord(character):02X}"
