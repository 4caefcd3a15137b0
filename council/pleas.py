"""Find pleas, by the words in pleas.toml: a text asks for a place, or to ignore the task."""

import re
import tomllib
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from council.confusables import LATIN_TO_CYRILLIC, fold

REACH = 100  # characters before and after a verb in which the rest of the plea must be
Span = tuple[int, int]


_SENTENCE_END = re.compile(
    r"[!?。！？।؟]|\.(?=\s|\Z)|\n[ \t]{0,20}\n|\n(?=[ \t]{0,20}(?:[-*•>#]|\d+[.)])\s)"
)
_CYRILLIC = re.compile("[а-я]")
_EMPHASIS = "*_~`\"'“”„«»"


def find_pleas(text: str, *, by_author: bool = True) -> list[Span]:
    """Return where the text asks for a place or gives orders, in ascending order, apart.

    A judge's reason, which is not `by_author`, may well say which answer is best.
    """
    plain, at = fold(text, _EMPHASIS)
    latin, latin_at = fold(text, _EMPHASIS, latin=True)
    found = {(at[a], at[b]) for a, b in _find(plain, by_author=by_author)}
    if latin != plain:
        found |= {(latin_at[a], latin_at[b]) for a, b in _find(latin, by_author=by_author)}
    if _CYRILLIC.search(plain):
        cyrillic = plain.translate(LATIN_TO_CYRILLIC)
        found |= {(at[a], at[b]) for a, b in _find(cyrillic, by_author=by_author)}
    spans: list[Span] = []
    for start, end in sorted(found):
        if spans and start <= spans[-1][1]:
            start, end = spans[-1][0], max(end, spans.pop()[1])
        spans.append((start, end))
    return spans


def sentence_ends(text: str) -> list[int]:
    """Return where the sentences of a text begin and end, with 0 and the length."""
    return [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]


def _find(folded: str, *, by_author: bool) -> Iterator[Span]:
    ends = sentence_ends(folded)
    for first, *others in _patterns(by_author=by_author):
        for match in first.finditer(folded):
            sentence = bisect(ends, match.start(), hi=len(ends) - 1)
            start = max(ends[sentence - 1], match.start() - REACH)
            end = min(max(ends[sentence], match.end()), match.end() + REACH)
            part = folded[start:end]
            if all(other.search(part) for other in others):
                yield start, end


@cache
def _patterns(*, by_author: bool) -> Sequence[Sequence[re.Pattern[str]]]:
    """Return the groups of patterns of all languages that must meet in one sentence."""
    kinds = ("order", "address", "ask", "claim") if by_author else ("order", "address")
    languages = tomllib.loads(files("council").joinpath("pleas.toml").read_text(encoding="utf-8"))
    groups = [words[kind] for words in languages.values() for kind in kinds]
    return [
        [
            re.compile(fold(pattern)[0].replace(" ", r"\s"))
            for pattern in ([group] if isinstance(group, str) else group)
        ]
        for group in groups
    ]
