"""Sanitizers of untrusted text: visible characters only, platform tokens broken, length limited."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import is_normalized, normalize

from council.confusables import INVISIBLE, escape_invisible

ZERO_WIDTH_SPACE = "\u200b"
# They may hide between the characters of a token.
INVISIBLE_PATTERN = f"[{INVISIBLE}]*"
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")


def visible_text(text: str) -> str:
    """Return the visible text: no control characters, invisible ones escaped, LF line ends.

    A zero-width space is removed, because it may have broken a token here before.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace(ZERO_WIDTH_SPACE, "")
    return _CONTROL_CHARACTERS.sub("", escape_invisible(lines))


def visible_line(text: str) -> str:
    """Return the visible text on one line."""
    return " ".join(visible_text(text).split())


def shorten(text: str, limit: int) -> str:
    """Return the text cut to `limit` characters, at a word if possible, ending with "…"."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return head[: head.rfind(" ", limit // 2) % limit].rstrip() + "…"


def shorten_to_line(text: str, limit: int) -> str:
    """Return the text on one line, cut to `limit` characters."""
    return shorten(" ".join(text.split()), limit)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a chat would act on, such as mentions; each match ends where the token is broken.

    Full-width and styled letters count as plain ones. Text without any of `signs` has no tokens.
    """

    pattern: re.Pattern[str]
    signs: str

    def broken(self, text: str) -> str:
        """Return the visible text with all tokens broken."""
        return self.break_tokens(visible_text(text))

    def break_tokens(self, text: str) -> str:
        """Return the text with all tokens broken and nothing else changed."""
        breaks = self._break_places(text)
        return ZERO_WIDTH_SPACE.join(
            text[a:b] for a, b in zip([0, *breaks], [*breaks, None], strict=True)
        )

    def neutralize_url(self, url: str) -> str:
        """Return an equivalent URL without tokens, by percent-encoding."""
        for index in reversed([index for index in self._break_places(url) if index < len(url)]):
            encoded = "".join(f"%{byte:02X}" for byte in url[index].encode())
            url = url[:index] + encoded + url[index + 1 :]
        return url

    def _break_places(self, text: str) -> list[int]:
        if not any(sign in text for sign in self.signs):
            return []
        return [match.end() for match in self.pattern.finditer(_fold_letters(text))]


def has_surplus_cells(lines: Iterable[str], columns: int) -> bool:
    """Return whether a row has more cells than the table has columns; parsers drop those."""
    return any(line.replace("\\|", "").strip().strip("|").count("|") >= columns for line in lines)


def _fold_letters(text: str) -> str:
    """Return the text in plain letters, one for one (NFKC)."""
    if text.isascii() or is_normalized("NFKC", text):
        return text
    return "".join(map(_fold_character, text))


@lru_cache(maxsize=4096)
def _fold_character(character: str) -> str:
    plain = normalize("NFKC", character)
    return plain if len(plain) == 1 else character
