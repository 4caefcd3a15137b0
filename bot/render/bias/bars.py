"""The consistency bars: how many orders of pairs a judge keeps, beside those a coin keeps."""

from collections.abc import Iterator

from bot.render.bias.effects import TOO_LITTLE, over, span
from bot.render.bias.sheet import (
    MARGIN,
    NAME,
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
from bot.render.boards.chart import percent
from bot.render.drawing.marks import Dot, Figure, Ink, Mark, Stroke, Words
from bot.render.drawing.scale import Scale
from council.bias.report import Effect, JudgeBias

TITLE = "Orders kept"
CAPTION = (
    "On some audit ballots a judge sees the same answers again in another order. Bars are 95 % "
    "intervals of the share of pairs it then puts in the same order; a coin keeps half."
)
_ROW = 44.0
_VALUE = 190.0  # the room for what is said at the end of a name's line
_CHANCE = 0.5
_SCALE = Scale(0, 1, MARGIN + 10, WIDTH - MARGIN - 10, (0, 0.25, 0.5, 0.75, 1))


def consistency_bars(shown: ShownBias) -> Figure:
    """Give a bar a judge on one line from 0 to all."""
    judges, more = drawn(shown.report.judges)
    bottom = TOP + _ROW * len(judges)
    marks: list[Mark] = [head("Pairs kept in order when shown in another, 95 % interval")]
    for row, judge in enumerate(judges):
        marks += _bar(shown, judge, TOP + _ROW * row)
    marks += _axis(bottom)
    marks += foot((more,), bottom + 36)
    return Figure(WIDTH, bottom + 24 + foot_height((more,)), tuple(marks), _told(shown))


def kept_lines(shown: ShownBias) -> Iterator[str]:
    """Say for each judge how many orders it kept."""
    for judge in shown.report.judges:
        kept = judge.kept
        if kept.value is not None:
            within = span(kept.interval, percent)
            sure = ", ".join(filter(None, (within, over(kept))))
            yield f"{shown.name(judge.judge)} kept {percent(kept.value)} ({sure})."


def _told(shown: ShownBias) -> str:
    lines = [*kept_lines(shown)]
    if not lines:
        return "No judge has seen the same answers in another order yet."
    return " ".join(("Share of pairs kept in order; a coin keeps 50 %.", *lines))


def _bar(shown: ShownBias, judge: JudgeBias, top: float) -> Iterator[Mark]:
    end, kept = WIDTH - MARGIN, judge.kept
    yield words(MARGIN, top + 16, shown.name(judge.judge), end - MARGIN - _VALUE)
    y = top + 31
    middle = _SCALE.at(_CHANCE)
    yield Stroke(middle, y - 8, middle, y + 8, Ink.QUIET)
    if kept.value is None:
        yield Words(end, top + 16, TOO_LITTLE, Ink.QUIET, SMALL, "end")
        return
    yield Words(end, top + 16, f"{percent(kept.value)}{_verdict(kept)}", Ink.TEXT, NAME, "end")
    if kept.interval:
        low, high = (_SCALE.at(max(0.0, min(1.0, x))) for x in kept.interval)
        yield Stroke(low, y, high, y, Ink.OTHER, 3)
    yield Dot(_SCALE.at(max(0.0, min(1.0, kept.value))), y, 4.5, Ink.OTHER)


def _verdict(kept: Effect) -> str:
    """Say where a judge is not told from a coin."""
    if kept.interval and kept.interval[0] <= _CHANCE:
        return ", may be chance" if kept.interval[1] >= _CHANCE else ", worse than a coin"
    return ""


def _axis(bottom: float) -> Iterator[Mark]:
    yield Stroke(_SCALE.start, bottom + 4, _SCALE.end, bottom + 4, Ink.RULE)
    for tick in _SCALE.ticks:
        x = _SCALE.at(tick)
        text = "chance, 50 %" if tick == _CHANCE else percent(tick)
        yield Stroke(x, bottom + 4, x, bottom + 8, Ink.RULE)
        yield Words(x, bottom + 21, text, Ink.QUIET, SMALL, "middle")
