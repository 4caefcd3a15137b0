"""Mask what reveals an answer's author: self-identification, signatures, ids and names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from council.anonymize.languages import Language, languages
from council.anonymize.names import (
    ANY,
    CASE_ENDINGS,
    CERTAIN_MODEL,
    MAKER,
    MODEL,
    VERSION,
    alternation,
    family_index,
    mark_names,
)
from council.model_families import Family, all_families

MASK = "[model name removed]"

# ASCII word boundaries, because Chinese has no space before a name.
_START, _WORD_END = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
_ROUTE = r"(?:[a-z0-9_.-]{1,40}/){0,3}"


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text with names masked, and the names found."""

    text: str
    found: tuple[str, ...]


def scrub(text: str, names: Iterable[str] = ()) -> MaskedText:
    """Mask self-identification, and the author's `names` and ids anywhere in the text."""
    marked_text = mark_names(text)
    families = find_signatures(marked_text) if marked_text else []
    patterns = [_family_names(all_families()[index]) for index in families]
    return _mask(text, patterns + [_exact(name) for name in names if name])


def mask_names(text: str, families: Iterable[str]) -> MaskedText:
    """Mask every name and maker of these families, even of another author; for judges' reasons."""
    chosen = set(families)
    return _mask(
        text, [_family_names(family) for family in all_families() if family.name in chosen]
    )


def warm_up() -> None:
    """Compile the patterns every text needs, so that the first answer need not wait for them."""
    mark_names("")


def _mask(text: str, patterns: Iterable[re.Pattern[str]]) -> MaskedText:
    traces: dict[str, None] = {}
    for pattern in patterns:
        traces |= dict.fromkeys(match[0].strip() for match in pattern.finditer(text))
        text = pattern.sub(MASK, text)
    return MaskedText(text, tuple(traces))


@cache
def _exact(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/]){re.escape(name)}(?![\w/])", re.IGNORECASE)


@cache
def _family_names(family: Family) -> re.Pattern[str]:
    names = alternation((*family.names, *family.makers))
    tail = r"(?:[-:][\w.:-]{0,40}\w|\d[\w.]{0,20}\w|\d)?"
    return re.compile(
        rf"{_START}{_ROUTE}(?:{names}){VERSION}{tail}(?:{_WORD_END}|(?={CASE_ENDINGS}{_WORD_END}))",
        re.IGNORECASE,
    )


# --- Signatures: how a marked text says who wrote it, in any language

SIGNATURE_CHARACTERS = 300  # searched at either end of a text

_MARKS = r"[^\w\n\ue000-\ue3ff~]{0,8}"
_ARTICLE = r"(?:(?:the|der|die|das|le|la|el|il|os?|as?|az|al) |l')?"
_NEAR = r"[\"'“”()\[\]_# ]{0,4}"
# A model may be followed by its maker: "GPT-5.1 by OpenAI".
_OF = (
    rf"(?:[ ,(（]{{1,3}}(?:(?:by|from|of|at|von|de|da|di|od|от|من) )?{MAKER}[^\w\n]?"
    r"(?: \w{1,20})?)?"
)
_END = r"[\s\"'“”)）\].!。_#]*\Z"
_BY = r"(?:(?:by|from|your|yours),? )?"
_TITLE = r"(?:\w{1,12}[ ,]{1,2}){0,3}"  # "your assistant, "

# Two models followed by a colon each are a comparison.
_COMPARED = rf"(?!(?:.|\n){{1,280}}?{MODEL} ?[:：])"

_WORD = re.compile(r"[^\W\d_]+")


def find_signatures(text: str) -> list[int]:
    """Return the indexes in `all_families` of the families a marked text says it is by."""
    spoken = remove_quotations(text)
    names = _of(_top().match(spoken[:SIGNATURE_CHARACTERS])) | _of(
        _bottom().search(spoken[-SIGNATURE_CHARACTERS:])
    )
    near = text_near_names(spoken)
    # Single characters serve languages without spaces between words.
    words = {*_WORD.findall(near), *near}
    for language in languages():
        if not language.cues.isdisjoint(words):
            for match in _prose(language).finditer(near):
                names |= _of(match)
    return sorted(names)


def _of(match: re.Match[str] | None) -> set[int]:
    return {family_index(token) for token in match.groups() if token} if match else set()


@cache
def _prose(language: Language) -> re.Pattern[str]:
    return _compiled("|".join(language.signs))


@cache
def _top() -> re.Pattern[str]:
    field = "|".join(one.fields for one in languages() if one.fields)
    owned = "|".join(one.owned for one in languages() if one.owned)
    patterns = (
        rf"{_MARKS}{_credit(field)}",
        rf"{_MARKS}(?:{field}) ?[:：,(][ (\"]{{0,3}}{_ARTICLE}{ANY}(?!'s )",
        rf"{_MARKS}(?:{field}) {_ARTICLE}{ANY}{_NEAR}(?:[:：\n]|\Z)",
        rf"{_MARKS}{MODEL}{_NEAR}(?:[:：|—–]|-(?= )){_COMPARED}",
        rf"{_MARKS}{_ARTICLE}{MODEL} ?(?:{owned})",
        rf"{_MARKS}\[{MODEL}\]",
        rf"{_MARKS}{CERTAIN_MODEL}{_NEAR}\n",
    )
    return _compiled("|".join(patterns))


@cache
def _bottom() -> re.Pattern[str]:
    field = "|".join(one.fields for one in languages() if one.fields)
    closing = "|".join(one.closings for one in languages() if one.closings)
    patterns = (
        rf"(?:^|\n|[.!?:)…。！？।]) ?{_MARKS}{_credit(field)}{_END}",
        rf"(?:^|\n|[.!?:)…。！？]) ?{_NEAR}(?:[—–~]+|--+) ?(?:\w{{2,9}} )?{_BY}{_NEAR}{ANY}{_OF}"
        rf"{_END}",
        rf"\n ?\n{_NEAR}(?:- )?{_NEAR}{MODEL}{_OF}{_END}",
        rf"(?:^|\n|[.!?] ){_NEAR}(?:- )?(?:{closing})[^\w\n]{{0,4}}\s{{0,3}}{_TITLE}{ANY}"
        rf"(?: 드림| 敬上| 上)?{_OF}{_END}",
        rf"(?:^|\n){_NEAR}(?:{field})[ :：,\"]{{1,4}}{_ARTICLE}{ANY}{_OF}{_END}",
        rf"(?:\n|[.!?]) ?[(\[] ?{MODEL}{_OF} ?[)\]]\s*\Z",
    )
    return _compiled("|".join(patterns))


def _credit(field: str) -> str:
    """Return the pattern of "(generated by gpt-4o)", in brackets."""
    credits_ = "|".join(one.credits for one in languages() if one.credits)
    return rf"[(（\[] ?(?:(?:{field})[ :：]{{1,2}}{_ARTICLE}{ANY}{_OF}|{credits_}) ?[)）\]]"


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which every blank stands for any white space."""
    return re.compile(pattern.replace(" ", r"\s"))


# --- The parts of a marked text in which it speaks for itself

CONTEXT_CHARACTERS = 200  # searched before and after a name

_NAMES = re.compile("([\ue000-\ue3ff])")
_TIDY = str.maketrans({"’": "'", "‘": "'", "*": None, "\u00a0": " ", "\u3000": " ", "\t": " "})
_UNDERLINING = re.compile(r"(?<!\w)_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?!\w)")
_SPACE = re.compile(r"[ \r\f\v]{2,}|[\r\f\v]")
_BREAKS = re.compile(r" ?\n[ \n]*")
# Each quotation ends at the next mark of its kind, which bounds the search.
_QUOTED = re.compile(
    r'"[^"\n]{1,400}"|“[^“”\n]{1,400}”|„[^„“”"\n]{1,400}[“”"]|«[^«»\n]{1,400}»'
    r"|「[^「」\n]{1,400}」|『[^『』\n]{1,400}』|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{2,400}'(?!\w)"
)
_CODE = re.compile(r"```[^`]*```")
_SPOKEN = re.compile(r"[^\W\d_]{2}")


def remove_quotations(text: str) -> str:
    """Return a marked text without emphasis, code and quotations of others.

    A quoted name alone loses only its marks, as does a text that is one whole quotation; a text of
    nothing but code stays.
    """
    text = _CODE.sub("\n", text) if _CODE.sub("", text).strip() else text
    text = _SPACE.sub(" ", _UNDERLINING.sub("", text.translate(_TIDY))).strip()
    return _QUOTED.sub(_unquoted, text).replace("`", "")


def text_near_names(text: str) -> str:
    """Return the parts of the text near a name, as lines; omissions become "~"."""
    pieces = _NAMES.split(text)
    pieces[0] = (
        pieces[0] if len(pieces[0]) <= CONTEXT_CHARACTERS else "~" + pieces[0][-CONTEXT_CHARACTERS:]
    )
    pieces[-1] = pieces[-1][:CONTEXT_CHARACTERS]
    for i in range(2, len(pieces) - 1, 2):
        if len(pieces[i]) > 2 * CONTEXT_CHARACTERS:
            pieces[i] = f"{pieces[i][:CONTEXT_CHARACTERS]}~{pieces[i][-CONTEXT_CHARACTERS:]}"
    return _BREAKS.sub("\n", "".join(pieces))


def _unquoted(match: re.Match[str]) -> str:
    quoted = match[0][1:-1]
    if not _NAMES.search(quoted):
        return match[0]
    if match[0] == match.string.strip() or not _SPOKEN.search(quoted):
        return quoted
    return '""'
