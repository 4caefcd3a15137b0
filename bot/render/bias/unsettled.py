"""What was looked for: what may be there, what is not, and what nobody can say yet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.render.bias.effects import about, is_off, size
from bot.render.bias.found import ENOUGH
from bot.render.bias.measures import (
    AGREEMENT,
    ALL,
    FAMILY,
    FIRST_SLOT,
    KEPT,
    LENGTH,
    NAMED,
    OWN,
    POSITION,
    Measure,
)
from bot.render.bias.shown import ShownBias
from bot.render.boards.columns import signed
from bot.render.figures import listed
from council.bias.report import Effect, JudgeBias

SMALL = 0.10  # whole intervals within this share of 0 leave out any bias that matters


@dataclass(frozen=True, slots=True)
class _Question:
    """What was looked for by a measure; `settled_by` settles it too where it is found.

    Where `can_be_none`, an interval close to 0 says that it is not there. Where nothing could be
    measured, `unmeasured` says why, if it is not for lack of what is counted.
    """

    noun: str
    measure: Measure
    settled_by: Measure
    can_be_none: bool = True
    unmeasured: str = ""


_QUESTIONS = (
    _Question("self-preference", OWN, OWN),
    _Question("family preference", FAMILY, FAMILY),
    _Question("a fondness for the first slot", FIRST_SLOT, POSITION),
    _Question("order consistency", KEPT, KEPT, can_be_none=False),
    _Question("length bias", LENGTH, LENGTH, can_be_none=False),
    _Question("an effect of names", NAMED, NAMED),
    _Question(
        "agreement with the others",
        AGREEMENT,
        AGREEMENT,
        unmeasured="no two judges of a round have ranked two of the same answers",
    ),
)


def sign_lines(shown: ShownBias) -> Iterator[str]:
    """Say what would be beyond chance by itself, and is not among all that is tested."""
    for question in _QUESTIONS:
        judges = [judge for judge in shown.report.judges if _is_sign(question, judge)]
        if judges:
            said = (_signed(shown, question, judge) for judge in judges)
            each = "each" if len(judges) > 1 else "it"
            yield (
                f"Perhaps {question.noun} in {listed(said)}: by itself {each} would be beyond "
                "chance, among all that is tested it may be chance."
            )


def none_lines(shown: ShownBias) -> Iterator[str]:
    """Say which bias is none that matters, in whom; nothing where that cannot be said."""
    for question in _QUESTIONS:
        judges = [judge for judge in shown.report.judges if _none(question, judge)]
        if judges:
            noun = question.noun[0].upper() + question.noun[1:]
            yield f"{noun}: none beyond ±{size(SMALL)} in {_names(shown, judges)}."


def open_lines(shown: ShownBias) -> Iterator[str]:
    """Say what is too little known yet, of whom, and how much more would settle it."""
    silent = [judge for judge in shown.report.judges if _is_silent(judge)]
    heard = [judge for judge in shown.report.judges if judge not in silent]
    for question in _QUESTIONS:
        judges = [judge for judge in heard if _open(shown, question, judge)]
        if judges:
            names = _names(shown, judges)
            effects = [question.measure.of(judge) for judge in judges]
            settled = _settling(effects, question.unmeasured)
            yield f"Too little to say yet about {question.noun} in {names}{settled}."
    if silent:
        yield f"Nothing is known yet of {_names(shown, silent)}."


def _names(shown: ShownBias, judges: Sequence[JudgeBias]) -> str:
    """Give judges by their names; where it is every one of several, that."""
    if len(judges) == len(shown.report.judges) > 1:
        return "any judge"
    return listed(shown.name(judge.judge) for judge in judges)


def _signed(shown: ShownBias, question: _Question, judge: JudgeBias) -> str:
    return f"{shown.name(judge.judge)} ({signed(question.measure.of(judge).value or 0)})"


def _is_silent(judge: JudgeBias) -> bool:
    return not any(measure.of(judge).n for measure in ALL)


def _settled(question: _Question, judge: JudgeBias) -> bool:
    """Say whether it is found; what is not tested at all is, by its interval."""
    effects = question.measure.of(judge), question.settled_by.of(judge)
    return any(effect.is_found or (effect.p is None and is_off(effect)) for effect in effects)


def _is_sign(question: _Question, judge: JudgeBias) -> bool:
    return is_off(question.measure.of(judge)) and not _settled(question, judge)


def _none(question: _Question, judge: JudgeBias) -> bool:
    interval = question.measure.of(judge).interval
    if _settled(question, judge) or not interval or not question.can_be_none:
        return False
    return -SMALL <= interval[0] <= 0 <= interval[1] <= SMALL


def _open(shown: ShownBias, question: _Question, judge: JudgeBias) -> bool:
    if question.measure.is_of_family and not shown.has_family(judge):
        return False
    if question.measure is KEPT:
        return KEPT.of(judge).value is None or KEPT.of(judge).n < ENOUGH
    told = (_settled(question, judge), _is_sign(question, judge), _none(question, judge))
    return not any(told)


def _settling(effects: Sequence[Effect], unmeasured: str) -> str:
    """Give what would settle it, for one or for several."""
    more = [effect.more for effect in effects if effect.more]
    units = {effect.unit for effect in effects if effect.more or not more}
    unit = f" {units.pop()}" if len(units) == 1 else ""
    if more:
        few, many = about(min(more)), about(max(more))
        range_ = few if few == many else f"{few} to {many.removeprefix('about ')}"
        if many.startswith("more") and few != many:
            range_ = f"from {range_}"
        each = " each" if len(effects) > 1 else ""
        return f": {range_} more{unit}{each} would settle it"
    if any(effect.n for effect in effects):
        return ""
    none = f"there are no{unit or ' ballots'} yet"
    return f": {unmeasured or none}"
