"""What a Markdown parser leaves out of tables."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import is_normalized, normalize
from urllib.parse import quote

from council.prompt_injection import visible

# --- What a Markdown parser leaves out of tables.


def has_surplus_cells(lines: Iterable[str], columns: int) -> bool:
    """Say whether a row has more cells than the table has columns: parsers drop those."""
    return any(line.replace("\\|", "").strip().strip("|").count("|") >= columns for line in lines)


# --- Untrusted text as any chat may show it: what is seen of it, and tokens broken so as not to w

BREAK = "\u200b"
# What may stand between the signs of a token without being seen.
GAP = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]*"
)
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")


def shown_text(text: str) -> str:
    """Give what can be seen of the text: no control characters, lines end in a newline."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL_CHARACTERS.sub("", visible(lines))


def shortened(text: str, limit: int) -> str:
    """Give at most so many characters of the text, cut at a word where there is one, with …."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return head[: head.rfind(" ", limit // 2) % limit].rstrip() + "…"


def in_one_line(text: str, limit: int) -> str:
    """Give the text in one line, of so many characters at most."""
    return shortened(" ".join(text.split()), limit)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a chat would obey: each match ends where the token is broken.

    Full-width and styled letters count as plain ones. None is in a text without one of the signs.
    """

    pattern: re.Pattern[str]
    signs: str

    def broken(self, text: str) -> str:
        """Give the text as it is seen, with none of the tokens in it."""
        return self.parted(shown_text(text))

    def parted(self, text: str) -> str:
        """Give the text with none of the tokens in it, and all else as it is."""
        places = self._places(text)
        return BREAK.join(text[a:b] for a, b in zip([0, *places], [*places, None], strict=True))

    def broken_url(self, url: str) -> str:
        """Give an address that leads to the same place and holds none of the tokens."""
        for at in reversed([at for at in self._places(url) if at < len(url)]):
            url = url[:at] + _percent_encode(url[at]) + url[at + 1 :]
        return url

    def _places(self, text: str) -> list[int]:
        if not any(sign in text for sign in self.signs):
            return []
        return [found.end() for found in self.pattern.finditer(_fold_letters(text))]


def _fold_letters(text: str) -> str:
    """Give the text in plain letters, one for one."""
    if text.isascii() or is_normalized("NFKC", text):
        return text
    return "".join(map(_fold_character, text))


@lru_cache(maxsize=4096)
def _fold_character(character: str) -> str:
    plain = normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def _percent_encode(character: str) -> str:
    quoted = quote(character, safe="")
    return quoted if quoted != character else f"%{ord(character):02X}"
