"""The ways in which a text says who wrote it, searched for in every language.

A language's patterns are compiled when a text first has one of its words near a name.
"""

import re
from functools import cache

from council.scrub.languages import LANGUAGES, Language
from council.scrub.mentions import family_at
from council.scrub.signatures import BOTTOM, ENDS, TOP
from council.scrub.speech import near_names, own_voice

_WORD = re.compile(r"[^\W\d_]+")


def signed(text: str) -> list[int]:
    """Give the places in FAMILIES of those that a marked text says it is by, in order."""
    said = own_voice(text)
    found = _of(_top().match(said[:ENDS])) | _of(_bottom().search(said[-ENDS:]))
    near = near_names(said)
    # Words, and characters for languages that part no words.
    words = {*_WORD.findall(near), *near}
    for language in LANGUAGES:
        if not language.cues.isdisjoint(words):
            for match in _prose(language).finditer(near):
                found |= _of(match)
    return sorted(found)


def _of(match: re.Match[str] | None) -> set[int]:
    return {family_at(token) for token in match.groups() if token} if match else set()


@cache
def _prose(language: Language) -> re.Pattern[str]:
    return _compiled("|".join(language.signs))


@cache
def _top() -> re.Pattern[str]:
    return _compiled(TOP)


@cache
def _bottom() -> re.Pattern[str]:
    return _compiled(BOTTOM)


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which every blank stands for any white space."""
    return re.compile(pattern.replace(" ", r"\s"))
