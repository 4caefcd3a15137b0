"""Exact answers: the same words, whatever their case, spacing and the punctuation around them."""

from unicodedata import normalize

from council.bakeoffs.grading.marked import first_and_last_line, marked_answers, plain

_AROUND = " \t\n.,;:!?…\"'“”‘’«»„`*_"  # not the signs of "C#", "-5" or "f()"
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def says(value: str, text: str) -> bool:
    """Say whether a text says exactly this: what it marks as its answer, else all, or its end."""
    seen = plain(text)
    marked = marked_answers(seen)
    said = marked[-1:] or [seen, first_and_last_line(seen)[1]]
    return bare(value) in {bare(words) for words in said}


def bare(words: str) -> str:
    """Give words without case, without punctuation around them, with single spaces inside."""
    folded = " ".join(normalize("NFKC", plain(words)).casefold().split())
    peeled = folded.strip(_AROUND)
    if len(peeled) > 1 and _BRACKETS.get(peeled[0]) == peeled[-1]:
        peeled = peeled[1:-1].strip(_AROUND)
    return peeled or folded
