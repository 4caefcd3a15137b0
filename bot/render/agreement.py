"""The map of agreement with its authors revealed, and its chip."""

from collections.abc import Iterator, Sequence

from bot.chat import Line, Note, Part
from bot.render.formatting import author_names, count_noun, join_words, number_word
from bot.render.round_report.revealed import mention_names
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
    return tuple(_parts(round_, found, author_names(round_.panel, draw))) if found else ()


def _parts(round_: Round, found: Analysis, names: dict[str, str]) -> Iterator[Part]:
    def named(texts: Sequence[str]) -> str:
        return " ".join(_sentence(mention_names(round_, text, names)) for text in texts)

    for dispute in found.disputed:
        yield Line(f"**They disagree:** {mention_names(round_, dispute.point, names)}")
        for position in dispute.positions:
            who = join_words(names[label] for label in position.labels)
            yield Note(f"{who}: “{position.says}”")
    if found.agreed:
        yield Line(f"**They agree:** {named(found.agreed)}")
    for one in found.unique:
        yield Line(f"**Only {names[one.label]}:** “{one.point}”")
    if found.open:
        yield Line(f"**Still open:** {named(found.open)}")


def split_line(round_: Round, *, is_revealed: bool = True) -> str:
    """Return whether the answers split, and on what; "" if the map leaves that open."""
    found = analyse(round_)
    names = author_names(round_.panel, round_.draw) if round_.draw and is_revealed else {}
    if found and found.disputed:
        count = len(found.disputed)
        point = mention_names(round_, found.disputed[0].point, names)
        where = "one point:" if count == 1 else f"{number_word(count)} points, first:"
        return f"They split on {where} {_in_a_sentence(point)}"
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
