"""Detect and neutralise prompt injection: text that imitates our prompts or asks for votes.

String matching alone is a weak defence; fences, nonces and several judges are the other layers.
Neutralised text stays readable.
"""

import codecs
import re
from base64 import b64decode
from binascii import Error as Base64Error

_LESS = "<＜﹤〈"  # characters that read as the start of a tag
_INVISIBLE = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
    "|(?<=[A-Za-z<])[\u200c\u200d]|[\u200c\u200d](?=[A-Za-z])"
)
_FENCE = re.compile(rf"[{_LESS}](?=\s{{0,20}}[/／]?\s{{0,20}}response\b)", re.IGNORECASE)
_NONCE_LINE = re.compile(r"^([ \t>*_#`-]{0,20})(nonce\s{0,20}[:：])", re.IGNORECASE | re.MULTILINE)
_BALLOT_KEY = re.compile(r"""(["'])(ranking|nonce)\1(?=\s{0,20}[:：])""", re.IGNORECASE)
_ROLE_LINE = re.compile(
    r"^([ \t>*_#]{0,20})(system|assistant|human)(?=[*_]{0,6}\s{0,20}:)", re.I | re.M
)
_ROLE_TOKEN = re.compile(r"<(?=\|[a-z_]+\|>)|\[(?=/?INST\])|<(?=<?/?SYS>)", re.IGNORECASE)
_BEGGING = re.compile(
    r"\b(?:rank|vote for|place|put|rate|score|choose|select|prefer|pick)\s+"
    r"(?:this|me|my|mine|it|response [a-z])\b[^.\n]{0,40}\b(?:first|top|highest|best|above|#1)\b"
    r"|\b(?:rank|vote)\s+(?:this|me|mine)\b"
    r"|\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+|your\s+)*"
    r"(?:previous|prior|above|other|earlier)\s+(?:instructions?|answers?|responses?|rules?|text)"
    r"|\bas instructed in response\b",
    re.IGNORECASE,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


def remove_invisible(text: str) -> str:
    """Return the text without zero-width, bidirectional and tag characters."""
    return _INVISIBLE.sub("", text)


def neutralise_fences(text: str) -> str:
    """Return the text with imitated fences and nonce lines neutralised, otherwise unchanged."""
    return _NONCE_LINE.sub(r"\1(quoted) \2", _FENCE.sub("‹", remove_invisible(text)))


def neutralise(text: str) -> str:
    """Return the text for judges and chairmen: without working fences, ballots or role markers."""
    text = _BALLOT_KEY.sub(r"\1\2 (quoted)\1", neutralise_fences(text))
    return _ROLE_TOKEN.sub("‹", _ROLE_LINE.sub(r"\1\2 (quoted)", text))


def find_suspicions(text: str) -> tuple[str, ...]:
    """Return the ways in which a text tries to steer a judge, worded for people."""
    shown = remove_invisible(text)
    found = {
        "hides characters": shown != text,
        "imitates a fence": _FENCE.search(shown) or _NONCE_LINE.search(shown),
        "imitates a ballot": len({key.lower() for _, key in _BALLOT_KEY.findall(shown)}) > 1,
        "imitates a role marker": _ROLE_TOKEN.search(shown) or _ROLE_LINE.search(shown),
        "begs for a place": _BEGGING.search(shown),
        "hides an instruction": _BEGGING.search(_decoded(shown)),
    }
    return tuple(name for name, seen in found.items() if seen)


def _decoded(text: str) -> str:
    """Return the text decoded from rot13, and every Base64 run in it decoded."""
    return "\n".join([codecs.decode(text, "rot13"), *map(_from_base64, _BASE64.findall(text))])


def _from_base64(run: str) -> str:
    try:
        return b64decode(run + "=" * (-len(run) % 4)).decode()
    except (Base64Error, UnicodeDecodeError):
        return ""
