"""Invisible and confusable characters (Unicode TR 36 and 39): remove, escape and fold them."""

import re
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import normalize

# Fillers, joiners, bidirectional controls, variation selectors and tags; the inside of a class.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_EMOJI = "\u203c-\u3299\U0001f000-\U0001faff"
_JOINING_SCRIPTS = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17ff\u1820-\u18af\ua840-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefc"
)
_NEEDED = (
    "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f"  # a region's flag
    rf"|(?<=[#*0-9\u00a9\u00ae{_EMOJI}])[\ufe0e\ufe0f]"
    rf"|(?<=[\ufe0f{_EMOJI}])\u200d(?=[{_EMOJI}])"
    rf"|(?<=[{_JOINING_SCRIPTS}])[\u200c\u200d]"
)
_INVISIBLE = re.compile(rf"({_NEEDED})|[{INVISIBLE}]+")
_BLANK = re.compile("[\u2800\u3164\uffa0]")
_RIGHT_TO_LEFT = re.compile("[\u05d0-\u05ea\u0620-\u06d3\u0710-\u08c7]")
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u2066-\u2069]")
_ORDINARY = re.compile(
    "\\A\ufeff|(?<=\\w)\u00ad(?=\\w)|(?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\u200b"
    "|(?<=[\u3400-\u9fff])[\ufe00-\ufe0e\U000e0100-\U000e01ef]"
)


def remove_invisible(text: str) -> str:
    """Return the text without invisible characters, except those that emoji and scripts need.

    A filler that looks like a space becomes one.
    """
    return text if text.isascii() else _INVISIBLE.sub(r"\1", _BLANK.sub(" ", text))


def escape_invisible(text: str) -> str:
    """Return the text with such characters visible, a run as its first one: "⟨U+202E +3⟩"."""
    return text if text.isascii() else _INVISIBLE.sub(_escaped, text)


def hides_characters(text: str) -> bool:
    """Return whether a text holds invisible characters that no typesetting explains."""
    if _RIGHT_TO_LEFT.search(text):
        text = _DIRECTIONS.sub("", text)
    text = _ORDINARY.sub("", text)
    return remove_invisible(text) != text


def _escaped(match: re.Match[str]) -> str:
    more = f" +{len(match[0]) - 1}" if len(match[0]) > 1 else ""
    return match[1] or f"⟨U+{ord(match[0][0]):04X}{more}⟩"


# --- Folding, so that a pattern matches whatever looks like its letters

_JAMO = re.compile("[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|.", re.DOTALL)
_ACCENTS = re.compile("[\u0300-\u036f\u0640\u064b-\u0652\u093c\u3099\u309a]")
_ALIKE = dict(zip("łøđħıɑɡ", "lodhiag", strict=True))
_ALIKE |= {chr(code): chr(code - 0x60) for code in range(0x30A1, 0x30F7)}  # katakana to hiragana
_LATIN = {
    **dict(zip("авегікмнорстухѕјԁԛԝһӏѵь", "aberikmhopctyxsjdqwhlvb", strict=True)),
    **dict(zip("αβεηικνορτυχωγΗΜΝΥօոսհց", "abenikvoptuxwyhmnyonuhg", strict=True)),
    **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True)),
    **dict(zip("ᎪᏴᏟᎬᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ〈", "abcehjklmprstvwz<", strict=True)),
    **{
        chr(first + at): chr(ord("a") + at)
        for first in (0x1F150, 0x1F170, 0x1F1E6)  # negative circled and squared, regional
        for at in range(26)
    },
}
LATIN_TO_CYRILLIC = str.maketrans("aeopcyxkmthbi", "аеорсухкмтнві")  # letters that look alike
_DIGITS = str.maketrans("013457@$", "oieastas")
_WORD = re.compile(r"[a-z013457@$]+")
_LETTER = re.compile("[a-z]")


def fold(text: str, dropped: str = "", *, latin: bool = False) -> tuple[str, Sequence[int]]:
    """Return a text in plain characters, and the index in the text of each and of its end.

    Plain are compatibility forms in lower case without accents; if `latin`, also Latin letters for
    characters and digits that look like them.
    """
    plain, at = _fold_ascii(text, dropped) if text.isascii() else _fold_any(text, dropped, latin)
    return _WORD.sub(_without_digits, plain) if latin else plain, at


def _fold_ascii(text: str, dropped: str) -> tuple[str, Sequence[int]]:
    """Fold a text whose characters are plain but for their case: many times as fast."""
    if not any(character in text for character in dropped):
        return text.lower(), range(len(text) + 1)
    at = [index for index, character in enumerate(text) if character not in dropped]
    return "".join(text[index] for index in at).lower(), [*at, len(text)]


def _fold_any(text: str, dropped: str, latin: bool) -> tuple[str, Sequence[int]]:
    pieces, at, index = [], list[int](), 0
    for character in _JAMO.findall(text):
        piece = "" if character in dropped else _plain(character, latin=latin)
        pieces.append(piece)
        at += [index] * len(piece)
        index += len(character)
    return "".join(pieces), [*at, index]


def _without_digits(word: re.Match[str]) -> str:
    return word[0].translate(_DIGITS) if _LETTER.search(word[0]) else word[0]


@lru_cache(maxsize=8192)
def _plain(character: str, *, latin: bool) -> str:
    if latin and character in _LATIN:
        return _LATIN[character]
    bare = _ACCENTS.sub("", normalize("NFKD", character))
    plain = normalize("NFKC", character) if bare[1:] else bare  # no syllable is taken apart
    alike = (_ALIKE.get(c, c) for c in plain.casefold())
    return "".join(_LATIN.get(c, c) if latin else c for c in alike)
