"""Find names of models and makers in a text and mark each with one private-use character."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from council.model_families import all_families

# Four kinds of names, each a page of 256 private-use characters; the family is the offset in it.
_MODEL, _WORD, _MAKER, _BOTH = range(0xE000, 0xE400, 0x100)
CERTAIN_MODEL = "([\ue000-\ue0ff\ue300-\ue3ff])"  # a model whose name is no ordinary word
MODEL = "([\ue000-\ue1ff\ue300-\ue3ff])"
MAKER = "([\ue200-\ue3ff])"
ANY = "([\ue000-\ue3ff])"

# A version or size that follows a name: "Sonnet 4.6", "-4o-mini", "3.3 70B Instruct".
_VERSION_WORD = (
    r"(?:v?\d[\w.]{0,20}|sonnet|opus|haiku|instant|pro|flash|ultra|nano|mini|turbo|large|medium|"
    r"small|max|plus|lite|instruct|chat|coder|code|thinking|preview|advanced|reasoner|r1|ai|"
    r"assistant)\b"
)
# Only the first may follow without a space or hyphen: two that touch could be split in many ways.
VERSION = rf"(?:[ -]?{_VERSION_WORD}(?:[ -]{_VERSION_WORD}){{0,5}})?"

# Names that are also ordinary words: alone on a line they are a heading, not a signature.
_WORDS = (
    " llama gemini mistral phi falcon sonar solar granite aya dolly jurassic inflection pi yi "
    "zephyr bard copilot perplexity tulu reka "
)
# Ordinary words that are names only if capitalized.
_LOWER_WORDS = (
    " phi falcon sonar solar granite aya dolly jurassic inflection pi yi zephyr bard perplexity "
    "reka writer cohere "
)
_LETTER = "a-z0-9_\u00df-\u024f"
_START = rf"(?<![{_LETTER}])(?<![{_LETTER}]-)"
_END = rf"(?![{_LETTER}])"
# Case endings that Hungarian and Polish attach to a name: "Geminiként", "Copilotem".
CASE_ENDINGS = r"(?:ként|n[ae]k|[tv][ae]l|n[áé]l|b[ae]n|b[óő]l|r[óő]l|t[óő]l|h[oe]z|em)"
_ENDED = rf"(?:{_END}|(?={CASE_ENDINGS}{_END}))"
_NUMBER = r"\d[a-z0-9_]{0,20}(?:\.[a-z0-9_]{1,20}){0,4}"
_VERSIONED = (
    rf"-?[a-z]?{_NUMBER}(?:-[a-z0-9_.]{{0,19}}[a-z0-9_]|[ ][a-z]{{0,9}}\d[a-z0-9_]{{0,9}}){{0,6}}"
)
_WORDED = _VERSION_WORD.replace(r"v?\d[\w.]{0,20}", rf"v?{_NUMBER}").replace(r"\b", _END)
_EXTENDED = rf"[ -]?{_WORDED}(?:[ -]{_WORDED}){{0,5}}"
_SURNAME = re.compile(r"[ ](?!Assistant|Modell?\b|Version|Versión)[A-Z][a-zà-ÿ’']+")
_ROUTE = re.compile(r"(?<![\w/.-])(?:[\w.\ue000-\ue3ff-]{1,40}/){1,3}(?=[\ue000-\ue3ff])")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
# Word boundaries of other scripts: (first letter, what may not precede, what may follow).
_SCRIPTS = (
    ("[а-яё]", r"(?<![а-яё])", r"(?=(?:ом|ой|а|у|е|я|ю)?(?![а-яё]))"),
    ("[\u0621-\u064a]", "", "(?![\u0621-\u064a])"),
    ("[\u0900-\u097f]", "", "(?![\u0900-\u097f])"),
    ("", "(?<![・·])", "(?![・·])"),
)


def alternation(names: Iterable[str]) -> str:
    """Return a pattern that matches any of these names, the longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


def mark_names(text: str) -> str:
    """Return the text in lower case with each name as one character; "" if it names nobody."""
    # The only letter that becomes two in lower case, which would shift positions.
    lower = text.replace("İ", "i").lower()
    pieces, end = [], 0
    for match in _names().finditer(lower):
        if token := _token(match, text):
            pieces += [_PRIVATE.sub("?", lower[end : match.start()]), token]
            end = match.end()
    if not pieces:
        return ""
    found = "".join((*pieces, _PRIVATE.sub("?", lower[end:])))
    return _ROUTE.sub("", found) if "/" in found else found


def family_index(token: str) -> int:
    """Return the index in `all_families` of a marked name's family."""
    return ord(token) & 0xFF


def _token(match: re.Match[str], text: str) -> str:
    """Return the character that marks a name; "" for a person's name or an ordinary word."""
    name = match["name"] or match["native"]
    page, at = _table()[name]
    if match.end() > match.end("name") > 0:
        return chr(page + at)
    if f" {name} " in _LOWER_WORDS and text[match.start()].islower():
        return ""
    if page == _MODEL and match["name"] and _SURNAME.match(text, match.end()):
        return ""
    return chr(_WORD + at if page == _MODEL and f" {name} " in _WORDS else page + at)


@cache
def _table() -> dict[str, tuple[int, int]]:
    """Return (page, family index) of each name, in lower case."""
    table: dict[str, tuple[int, int]] = {}
    for at, family in enumerate(all_families()):
        makers = {maker.lower() for maker in family.makers}
        models = {name.lower() for name in family.names}
        table |= dict.fromkeys(makers, (_MAKER, at))
        table |= dict.fromkeys(models, (_MODEL, at))
        table |= dict.fromkeys(models & makers, (_BOTH, at))
    return table


@cache
def _names() -> re.Pattern[str]:
    table = _table()
    latin = alternation(name for name in table if name.isascii())
    native = "|".join(_native(name for name in table if not name.isascii()))
    return re.compile(
        rf"{_START}(?P<name>{latin})(?:{_VERSIONED}|{_ENDED})(?:{_EXTENDED})?"
        rf"|(?P<native>{native})(?:[ -]?v?{_NUMBER})?"
    )


def _native(names: Iterable[str]) -> Iterator[str]:
    """Yield a pattern for the names of each script."""
    remaining = [*names]
    for letter, start, end in _SCRIPTS:
        own = [name for name in remaining if re.match(letter, name)]
        remaining = [name for name in remaining if name not in own]
        yield f"{start}(?:{alternation(own)}){end}"
