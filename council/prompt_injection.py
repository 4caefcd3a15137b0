"""Detect and neutralise prompt injection: text that imitates our prompts or asks for votes.

Patterns are the weakest layer: fences with nonces, stripped characters, strict ballots and the rule
that no model ranks its own answer hold without them. Neutralised text stays readable.
"""

import codecs
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from enum import StrEnum
from html import unescape
from urllib.parse import unquote

from council.confusables import fold, hides_characters, remove_invisible
from council.pleas import Span, find_pleas, sentence_ends

PLEA_MASK = "[request to the judges removed]"


class Suspicion(StrEnum):
    """A way in which a text tries to steer a judge, as answers store it."""

    HIDDEN_CHARACTERS = "hides characters"
    FENCE = "imitates a fence"
    BALLOT = "imitates a ballot"
    ROLE_MARKER = "imitates a role marker"
    PLEA = "begs for a place"  # judges see the mask instead
    ENCODED = "hides an instruction"  # the same


# Patterns for folded text; their group "at" is what is replaced, or empty where words are inserted.
_LINE = r"(?:^|(?<=[\r\v\f\x1c-\x1e\x85\u2028\u2029]))"
_FENCE = re.compile(r"(?P<at><)(?=\s{0,20}/?\s{0,20}(?:response|reason)\b)")
_NONCE_LINE = re.compile(rf"{_LINE}[ \t>*_#`-]{{0,20}}(?P<at>)nonce\s{{0,20}}:", re.MULTILINE)
_BALLOT_KEY = re.compile(r"""(["'])(?P<key>ranking|nonce)(?P<at>)\1(?=\s{0,20}:)""")
_RANKING = re.compile(r"""(["'])ranking\1\s{0,20}:\s{0,20}\[[\s\["']{0,20}(?:response )?[a-j]\b""")
_ROLE_LINE = re.compile(
    rf"{_LINE}[ \t>*_#]{{0,20}}(?:system|assistant|human|(?<=### )instruction)(?P<at>)"
    r"(?=[*_]{0,6}\s{0,20}:)",
    re.MULTILINE,
)
_ROLE_TOKEN = re.compile(
    r"(?P<at><(?=\|[a-z0-9_▁ ]{1,40}\|>"  # ChatML, Llama 3, Phi, Command R, DeepSeek
    r"|</?sys>|/?sys>|(?:start|end)_of_turn>|/?(?:system|system_prompt|assistant|human)>)"  # Gemma
    r"|\[(?=/?(?:inst|system_prompt|available_tools|tool_results)\]))"  # Llama 2, Mistral
)
_CODE = re.compile(r"```[^`]*```")
_SPACED_OUT = re.compile(r"(?<![^\W_])[^\W_](?:[ ._-]{1,4}[^\W_]){7,400}(?![^\W_])")
_FENCES = ((_FENCE, "‹"), (_NONCE_LINE, "(quoted) "))
_IMITATIONS = (
    *_FENCES,
    (_BALLOT_KEY, " (quoted)"),
    (_ROLE_LINE, " (quoted)"),
    (_ROLE_TOKEN, "‹"),
)
_Edits = tuple[tuple[re.Pattern[str], str], ...]


def neutralise_fences(text: str) -> str:
    """Return the text with imitated fences and nonce lines neutralised, otherwise unchanged."""
    return _edit(remove_invisible(text), _FENCES)


def neutralise(text: str) -> str:
    """Return the text for judges and chairmen: without working fences, ballots or role markers."""
    return _edit(remove_invisible(text), _IMITATIONS)


def mask_pleas(text: str, *, by_author: bool = True) -> str:
    """Return the text without sentences that ask for a place or give orders, encoded or not.

    A judge's reason, which is not `by_author`, may say which answer is best.
    """
    pleas, pieces, end = find_pleas(text, by_author=by_author), [], 0
    for start, stop in _find_encoded(text) if by_author and not pleas else pleas:
        plea = text[start:stop]
        pieces += [text[end:start], plea[: len(plea) - len(plea.lstrip())], PLEA_MASK]
        end = stop
    return "".join((*pieces, text[end:]))


def find_suspicions(text: str) -> tuple[Suspicion, ...]:
    """Return the ways in which a text tries to steer a judge."""
    shown = remove_invisible(text)
    plain = fold(shown, latin=True)[0]
    spoken = _CODE.sub("", plain)
    begs = bool(find_pleas(shown))
    checks = {
        Suspicion.HIDDEN_CHARACTERS: hides_characters(text),
        Suspicion.FENCE: _FENCE.search(spoken) or _NONCE_LINE.search(spoken),
        Suspicion.BALLOT: len({key for _, key, _ in _BALLOT_KEY.findall(plain)}) > 1
        or _RANKING.search(plain),
        Suspicion.ROLE_MARKER: _ROLE_TOKEN.search(plain) or _ROLE_LINE.search(spoken),
        Suspicion.PLEA: begs,
        Suspicion.ENCODED: not begs and _is_encoded(shown),
    }
    return tuple(suspicion for suspicion, seen in checks.items() if seen)


def _edit(text: str, edits: _Edits) -> str:
    plain, at = fold(text, latin=True)
    places = sorted(
        (at[match.start("at")], at[match.end("at")], new)
        for pattern, new in edits
        for match in pattern.finditer(plain)
    )
    pieces, end = [], 0
    for start, stop, new in places:
        pieces += [text[end:start], new]
        end = stop
    return "".join((*pieces, text[end:]))


_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2} ?){16,4000}")


def _is_encoded(text: str) -> bool:
    return any(find_pleas(decoded) for decoded in _decoded(text) if decoded not in {"", text})


def _find_encoded(text: str, depth: int = 6) -> list[Span]:
    """Return where a text hides a plea: its halves, again and again, as far as they hide one."""
    if not _is_encoded(text):
        return []
    middle = len(text) // 2
    cut = min(sentence_ends(text), key=lambda end: abs(end - middle))
    if not depth or cut in {0, len(text)}:
        return [(0, len(text))]
    later = _find_encoded(text[cut:], depth - 1)
    spans = _find_encoded(text[:cut], depth - 1) + [(cut + a, cut + b) for a, b in later]
    return spans or [(0, len(text))]


def _decoded(text: str) -> Iterator[str]:
    """Yield the text as it reads backwards, in rot13, or with escaped and encoded parts decoded."""
    yield text[::-1]
    yield codecs.decode(text, "rot13")
    yield "\n".join(_joined(match[0]) for match in _SPACED_OUT.finditer(text))
    yield unescape(unquote(text))
    yield "\n".join(map(_from_base64, _BASE64.findall(text)))
    yield "\n".join(bytes.fromhex(run).decode(errors="ignore") for run in _HEX.findall(text))


def _joined(spaced_out: str) -> str:
    """Return "r a n k   i t" as "rank it"."""
    return re.sub(r"\b[ ._-]{2,}", " ", re.sub(r"(?<=\w)[ ._-](?=\w)", "", spaced_out))


def _from_base64(run: str) -> str:
    try:
        return b64decode(run + "=" * (-len(run) % 4)).decode()
    except (Base64Error, UnicodeDecodeError):
        return ""


# --- Instructions that a judge obeyed

# As rounds of the first version of ballots were flagged, so that they verify.
_FIRST_INVISIBLE = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
    "|(?<=[A-Za-z<])[\u200c\u200d]|[\u200c\u200d](?=[A-Za-z])"
)
_FIRST_BEGGING = re.compile(
    r"\b(?:rank|vote for|place|put|rate|score|choose|select|prefer|pick)\s+"
    r"(?:this|me|my|mine|it|response [a-z])\b[^.\n]{0,40}\b(?:first|top|highest|best|above|#1)\b"
    r"|\b(?:rank|vote)\s+(?:this|me|mine)\b"
    r"|\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+|your\s+)*"
    r"(?:previous|prior|above|other|earlier)\s+(?:instructions?|answers?|responses?|rules?|text)"
    r"|\bas instructed in response\b",
    re.IGNORECASE,
)


def follows_instruction(reason: str, version: str) -> bool:
    """Return whether a judge's reason repeats an instruction, by this version of ballots."""
    if version == "1":
        return bool(_FIRST_BEGGING.search(_FIRST_INVISIBLE.sub("", reason)))
    return bool(find_pleas(remove_invisible(reason), by_author=False))
