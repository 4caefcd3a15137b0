"""The map of agreement with its authors revealed, and its chip."""

from collections.abc import Iterator

from bot.chat import Line, Note, Part
from bot.render.formatting import author_names, count_noun, join_words, number_word
from council.analysis import Analysis, all_agree, analyse
from council.labels import MIN_TO_RANK
from council.rounds import Draw, Round

# What may begin a disputed point; such a word is no name, so it is not capitalised after a colon.
_QUESTION_WORDS = (
    *("are", "can", "could", "did", "do", "does", "has", "have", "how", "is", "may", "must"),
    *("should", "was", "were", "what", "when", "where", "whether", "which", "who", "why"),
    *("will", "would"),
)


def agreement_parts(round_: Round, draw: Draw) -> tuple[Part, ...]:
    """Return where a round's answers agree and disagree; () if its chairman did not say."""
    found = analyse(round_)
    return tuple(_parts(found, author_names(round_.panel, draw))) if found else ()


def _parts(found: Analysis, names: dict[str, str]) -> Iterator[Part]:
    for dispute in found.disputed:
        yield Line(f"**They disagree:** {dispute.point}")
        for position in dispute.positions:
            who = join_words(names[label] for label in position.labels)
            yield Note(f"{who}: “{position.says}”")
    if found.agreed:
        yield Line(f"**They agree:** {' '.join(map(_sentence, found.agreed))}")
    for one in found.unique:
        yield Line(f"**Only {names[one.label]}:** “{one.point}”")
    if found.open:
        yield Line(f"**Still open:** {' '.join(map(_sentence, found.open))}")


def split_line(round_: Round) -> str:
    """Return whether the answers split, and on what; "" if the map leaves that open."""
    found = analyse(round_)
    if found and found.disputed:
        count = len(found.disputed)
        where = "one point:" if count == 1 else f"{number_word(count)} points, first:"
        return f"They split on {where} {_in_a_sentence(found.disputed[0].point)}"
    answers = len(round_.revised)
    if answers < MIN_TO_RANK or not all_agree(round_):
        return ""
    return "Both agree." if answers == MIN_TO_RANK else f"All {number_word(answers)} agree."


def _in_a_sentence(point: str) -> str:
    """Return a point as it reads after a colon: a question word is not capitalised there."""
    word = point.partition(" ")[0]
    text = point[:1].lower() + point[1:] if word.lower() in _QUESTION_WORDS else point
    return _sentence(text)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!", "…")) else f"{text}."


def agreement_chip(round_: Round) -> str:
    """Return the map in a word or two: "2 points disputed"; "" without one."""
    found = analyse(round_)
    if not found:
        return ""
    if found.disputed:
        return f"{count_noun(len(found.disputed), 'point')} disputed"
    return "The answers agree" if found.agreed else ""
