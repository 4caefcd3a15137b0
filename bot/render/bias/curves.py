"""The slot curves: what each judge gave what it saw at each place, with intervals."""

from collections.abc import Iterator, Sequence
from math import ceil

from bot.render.bias.effects import TOO_LITTLE, chance, span
from bot.render.bias.sheet import (
    MARGIN,
    SMALL,
    TOP,
    WIDTH,
    drawn,
    foot,
    foot_height,
    head,
    words,
)
from bot.render.bias.shown import ShownBias
from bot.render.boards.columns import signed
from bot.render.drawing.marks import Dot, Figure, Ink, Mark, Path, Stroke, Words
from bot.render.drawing.scale import Scale
from council.bias.report import JudgeBias, Slot

TITLE = "Fondness for a slot"
CAPTION = (
    "Every answer stands in every slot equally often, so a judge without a fondness gives each "
    "slot one half: the line at 0. The bars are 95 % intervals."
)
_GAP = 14.0  # between the two columns
_GUTTER = 30.0  # left of a curve, for the ends of its scale
_CELL, _BARE, _PLOT = 132.0, 42.0, 56.0  # heights: of a judge, of one unknown, of a curve
_LEAST = 0.2  # the scale's end, at least


def slot_curves(shown: ShownBias) -> Figure:
    """Give a curve a judge, all on one scale; a judge of whom too little is known says so."""
    judges, more = drawn(shown.report.judges)
    reach = _reach(judges)
    marks: list[Mark] = [head("Share given at each slot, beyond one half")]
    top = TOP
    for first in range(0, len(judges), 2):
        row = judges[first : first + 2]
        for at, judge in enumerate(row):
            marks += _curve(shown, judge, (MARGIN + at * (_wide() + _GAP), top), reach)
        top += _CELL if any(map(_known, row)) else _BARE
    marks += foot((more,), top + 8)
    return Figure(WIDTH, top + foot_height((more,)), tuple(marks), _told(shown))


def slot_lines(shown: ShownBias) -> Iterator[str]:
    """Say for each judge what it gave at which slot."""
    for judge in shown.report.judges:
        told = [
            f"slot {slot.number} {signed(slot.effect.value)}{_within(slot)}"
            for slot in judge.slots
            if slot.effect.value is not None
        ]
        if told:
            sure = chance(judge.position)
            yield f"{shown.name(judge.judge)}: {', '.join(told)}{f'; {sure}' if sure else ''}."


def _within(slot: Slot) -> str:
    return f" ({span(slot.effect.interval)})" if slot.effect.interval else ""


def _told(shown: ShownBias) -> str:
    lines = [*slot_lines(shown)]
    if not lines:
        return "Too little is known of any judge’s slots yet."
    return " ".join(("Share given at each slot beyond one half.", *lines))


def _wide() -> float:
    return (WIDTH - 2 * MARGIN - _GAP) / 2


def _ends(slot: Slot) -> tuple[float, float]:
    value = slot.effect.value or 0.0
    low, high = slot.effect.interval or (value, value)
    return min(low, value), max(high, value)


def _reach(judges: Sequence[JudgeBias]) -> float:
    """Give the end of the common scale, in tenths: from .2 to the .5 that a share can be off."""
    ends = [abs(end) for judge in judges for slot in judge.slots for end in _ends(slot)]
    return min(0.5, ceil(max([_LEAST, *ends]) * 10 - 1e-9) / 10)


def _curve(
    shown: ShownBias, judge: JudgeBias, at: tuple[float, float], reach: float
) -> Iterator[Mark]:
    left, top = at
    yield words(left, top + 14, shown.name(judge.judge), _wide())
    known = _known(judge)
    if not known:
        yield Words(left, top + 29, TOO_LITTLE, Ink.QUIET, SMALL)
        return
    yield Words(left, top + 29, _verdict(judge), Ink.QUIET, SMALL)
    heights = Scale(-reach, reach, top + 46 + _PLOT, top + 46)
    yield from _scale(left, heights, reach)
    most = max(slot.number for slot in judge.slots)
    across = Scale(1, max(2, most), left + _GUTTER + 8, left + _wide() - 8)
    for number in range(1, most + 1):
        yield Words(across.at(number), top + 62 + _PLOT, str(number), Ink.QUIET, SMALL, "middle")
    yield from _points(judge, known, across, heights)


def _known(judge: JudgeBias) -> Sequence[Slot]:
    return [slot for slot in judge.slots if slot.effect.value is not None]


def _verdict(judge: JudgeBias) -> str:
    sure = chance(judge.position)
    if not sure:
        return TOO_LITTLE
    return f"beyond chance, {sure}" if judge.position.is_found else f"may be chance, {sure}"


def _scale(left: float, heights: Scale, reach: float) -> Iterator[Mark]:
    for number in (reach, 0.0, -reach):
        y = heights.at(number)
        text = signed(number) if number else "0"
        yield Words(left + _GUTTER - 5, y + 4, text, Ink.QUIET, SMALL, "end")
        if not number:
            yield Stroke(left + _GUTTER, y, left + _wide(), y, Ink.RULE)


def _points(
    judge: JudgeBias, known: Sequence[Slot], across: Scale, heights: Scale
) -> Iterator[Mark]:
    """Give the curve; who is beyond chance has the stronger ink, whichever way it leans."""
    ink = Ink.FIRST if judge.position.is_found else Ink.OTHER
    spots = [(across.at(x.number), heights.at(_held(x.effect.value or 0, heights))) for x in known]
    for (x, _), slot in zip(spots, known, strict=True):
        if slot.effect.interval:
            low, high = (heights.at(_held(end, heights)) for end in slot.effect.interval)
            yield Stroke(x, low, x, high, ink, 2)
    if len(spots) > 1:
        yield Path(tuple(spots), ink)
    for x, y in spots:
        yield Dot(x, y, 3.5, ink)


def _held(number: float, heights: Scale) -> float:
    """Give a number no farther out than the scale goes."""
    return max(heights.low, min(heights.high, number))
