"""Translate a judge's reason from the slot letters it saw to the round's public labels."""

import re
from collections.abc import Mapping

from council.labels import Label

# "Response B", "Responses A, B and C": the letters after the word are labels whatever follows.
_NAMED = re.compile(
    r"\b(?:responses?|answers?|candidates?|options?)\s+"
    r"[A-J]\b(?:[\s,]{0,4}(?:(?:and|or|&|vs\.?|over|>|=|than)\s{1,3})?(?:response\s{1,3})?\b[A-J]\b)"
    r"{0,10}",
    re.IGNORECASE,
)
# A lone letter is a label, but "A" and "I" are words of English: only signs of a ranking tell.
_LONE = re.compile(r"\b[B-HJ]\b|\b[AI]\b(?=\s*[>=<])|(?<=[>=<])\s*[AI]\b|\bA\b(?=\s+(?:is|has)\b)")
_LETTER = re.compile(r"\b[A-J]\b")


def in_public_labels(reason: str, slots: Mapping[str, Label]) -> str:
    """Give the reason with each slot letter on the slate replaced by its public label."""

    def public(match: re.Match[str]) -> str:
        return _LETTER.sub(lambda letter: slots.get(letter[0], letter[0]), match[0])

    return _LONE.sub(public, _NAMED.sub(public, reason))
