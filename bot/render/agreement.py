"""The map of agreement with its authors revealed, and its chip."""

from collections.abc import Iterator

from bot.chat import Line, Note, Part
from bot.render.formatting import author_names, count_noun, join_words
from council.analysis import Analysis, analyse
from council.rounds import Draw, Round


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
