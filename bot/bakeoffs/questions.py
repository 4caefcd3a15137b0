"""A suite's questions as rounds."""

from dataclasses import replace

from bot.bakeoffs.house import House
from council.bakeoffs.models import Bakeoff, Reference
from council.money import MICRO, cap_micro
from council.rounds import Question, Round


def round_of(house: House, bakeoff: Bakeoff, number: int) -> Round:
    """Give the round of a question, not stored yet; QuestionError for one that cannot be asked."""
    asked = bakeoff.suite.questions[number - 1]
    shown = asked.reference if bakeoff.suite.judges_see_references else None
    question = Question(
        asked.text,
        bakeoff.asked_by,
        asked.context,
        bakeoff.place,
        reference_text(shown) if shown else "",
    )
    seed, id_ = bakeoff.seed(number), bakeoff.round_id(number)
    return replace(house.new_round(question, bakeoff.panel, seed, id_), bakeoff=bakeoff.id)


def reference_text(reference: Reference) -> str:
    """Give a reference as a judge reads it."""
    within = f" (give or take {reference.tolerance:g})" if reference.tolerance else ""
    return f"{reference.value}{within}"


def own_cap(round_: Round) -> int | None:
    """Give the most a round may spend by its panel's terms, in micro-dollars."""
    usd = round_.panel.terms.max_round_usd
    return None if usd is None else cap_micro(usd)


def capped(round_: Round, micro: int | None) -> Round:
    """Give the round with so much as its own cap; as it is where there is none."""
    if micro is None:
        return round_
    terms = replace(round_.panel.terms, max_round_usd=micro / MICRO)
    return replace(round_, panel=replace(round_.panel, terms=terms))
