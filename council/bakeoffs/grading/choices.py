"""Choices: the letter, or the word among several, that an answer ends up with.

Where an answer ends up with two, it has chosen none.
"""

import re
from dataclasses import dataclass

from council.bakeoffs.grading.marked import first_and_last_line, marked_answers, plain
from council.bakeoffs.grading.wording import bare

_LETTERED = re.compile(r"\A\s*\(?([A-Za-z])(?:\)|[.:](?=\s|\Z)|\s*\Z)")
_OPPOSITES = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
# "A good answer" and "I think" choose nothing, nor does "X-rays".
_CAPITAL = (
    r"(?:[B-HJ-Z]|[AI](?=[ \t]*(?:\Z|\n|[).,:;/&\]–—-]|(?:because|since|as|and|or)\b)))"
    r"(?![\w'’]|-\w|\.\w)"
)
_SMALL = r"[a-z](?=[ \t]*(?:\Z|\n|[).:\]]))(?!\.\w)"
_LEAD = r"[\s\W_]*(?:(?:option|choice|letter|answer|it['’]s|is)\b[\s\W_]*)*"
_JOINED = r"[ \t]*(?:,[ \t]*(?:and|or)\b|,|/|&|\band\b|\bor\b)[ \t]*"


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one kind of choice is written: at the head of a line, by itself, and anywhere."""

    head: re.Pattern[str]
    single: re.Pattern[str]
    mention: re.Pattern[str]

    def at_head(self, line: str) -> set[str]:
        """Give the choices that a line begins with."""
        found = self.head.match(line)
        return {bare(one) for one in self.single.findall(found[1])} if found else set()

    def mentioned(self, text: str) -> set[str]:
        """Give the choices that a text names as such."""
        return {bare(found[found.lastindex or 0]) for found in self.mention.finditer(text)}


def chooses(value: str, text: str) -> bool:
    """Say whether a text ends up with a choice: "B", "B) Paris", or "yes | no | perhaps".

    Of several the first is right.
    """
    right, *others = [choice.strip() for choice in value.split("|")]
    seen = plain(text)
    letter = _LETTERED.match(right)
    if letter and not others:
        rest = right[letter.end() :].strip()
        chosen = _final(_LETTERS, seen)
        if chosen or not rest:
            return chosen == {letter[1].casefold()}
        right = rest
    right = bare(right)
    known = [bare(other) for other in others or filter(None, [_OPPOSITES.get(right)])]
    # Where the others are not known, a mention may be one of what is not chosen.
    return _final(_words(right, *known), seen, anywhere=bool(known)) == {right}


def _final(kind: _Kind, text: str, *, anywhere: bool = True) -> set[str]:
    """Give the choices that a text ends up with."""
    if marked := marked_answers(text):
        each = (kind.at_head(one) or (kind.mentioned(one) if anywhere else set()) for one in marked)
        return set[str]().union(*each)
    ends = set[str]().union(*map(kind.at_head, first_and_last_line(text)))
    return ends or (kind.mentioned(text) if anywhere else set())


def _words(*choices: str) -> _Kind:
    """Give choices that are words; longer ones go first, so that none hides in another."""
    ordered = sorted(map(re.escape, set(choices)), key=len, reverse=True)
    one = rf"(?<!\w)(?:{'|'.join(ordered)})(?!\w)"
    head = rf"\A{_LEAD}({one}(?:{_JOINED}{one})*)"
    single = re.compile(one, re.IGNORECASE)
    return _Kind(re.compile(head, re.IGNORECASE), single, single)


_ONE = rf"\(?(?:{_CAPITAL}|{_SMALL})\)?"
_LETTERS = _Kind(
    re.compile(rf"\A(?i:{_LEAD})({_ONE}(?:{_JOINED}{_ONE})*)"),
    re.compile(rf"(?<!\w)(?:{_CAPITAL}|{_SMALL})"),
    re.compile(r"\(([A-Z])\)|\b(?i:option|choice|answer|letter)[ \t]+\(?([A-Z])\b"),
)
