"""Untrusted text made inert: it can neither call people nor be read as Slack's markup.

Knows no Markdown and no blocks.
"""

import re
from collections.abc import Iterable

from bot.render.text_safety import GAP, Tokens
from bot.slack.limits import CALLED

_PERSON = re.compile(r"[UW][A-Z0-9]+")
_CALLED = ("channel", "here", "everyone")
_COMMANDS = (*_CALLED, "group", "subteam", "date")


def _begun(words: tuple[str, ...]) -> str:
    """Match each word whole, or as much of it as a text ends with: the rest may follow."""
    whole = {GAP.join(word) for word in words}
    parts = {GAP.join(word[:n]) + GAP + r"\Z" for word in words for n in range(len(word))}
    return f"(?:{'|'.join(sorted(whole) + sorted(parts))})"


_LESS = r"<|&lt;|&#0{0,9}60;|&#x0{0,9}3c;"
_PINGS = Tokens(
    re.compile(
        rf"@(?={GAP}{_begun(_CALLED)})"
        rf"|(?:{_LESS})(?={GAP}(?:\Z|!{GAP}{_begun(_COMMANDS)}|[@#]{GAP}(?:[a-z0-9]|\Z)))",
        re.IGNORECASE,
    ),
    signs="@<&＠﹫＜﹤",
)


def inert(text: str) -> str:
    """Give the text as it can be shown in any field that Slack does not parse."""
    return _PINGS.broken(text)


def escaped(text: str) -> str:
    """Give the text for a field that Slack parses as mrkdwn: nothing in it is markup."""
    return inert(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def inert_url(url: str) -> str:
    """Give an address that leads to the same place and holds no token that calls people."""
    return _PINGS.broken_url(url)


def one_line(text: str) -> str:
    """Give the text in one line, inert."""
    return inert(" ".join(text.split()))


def callable_ids(ids: Iterable[str]) -> list[str]:
    """Give the ids that are people's, as many as one message calls."""
    return [id_ for id_ in dict.fromkeys(ids) if _PERSON.fullmatch(id_)][:CALLED]
