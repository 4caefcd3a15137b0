"""What was found of each judge beyond chance, a plain sentence each."""

from collections.abc import Callable, Iterator
from math import exp, tanh

from bot.render.bias.effects import chance, how_sure, is_off, plain, size
from bot.render.bias.shown import ShownBias
from bot.render.boards.chart import percent
from council.bakeoffs.leaderboard import MOST_POSITION
from council.bias.report import Effect, JudgeBias

NOTHING = "No bias of a judge was found beyond chance yet."
ENOUGH = 10  # ballots, below which orders kept are no finding
STEADY = 0.9  # who surely keeps fewer orders of pairs than this is told of
_COIN = 0.5
_MANY_SPOILED = 0.1
_PLACES = {1: "first", 2: "second", 3: "third"}

Says = Callable[[ShownBias, JudgeBias], Iterator[str]]


def found_lines(shown: ShownBias) -> Iterator[str]:
    """Say what was found, measure by measure; nothing where nothing was."""
    for says in (_own, _family, _position, _kept, _length, _style, _named, _agreement, _spoiled):
        for judge in shown.report.judges:
            yield from says(shown, judge)


def _higher(effect: Effect) -> str:
    """Give "HOW MUCH higher", and how sure that is comes last."""
    return f"{size(effect.value or 0)} {'lower' if (effect.value or 0) < 0 else 'higher'}"


def _sure(effect: Effect) -> str:
    return how_sure(effect, turned=(effect.value or 0) < 0)


def _own(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    if judge.own.is_found:
        yield (
            f"{shown.name(judge.judge)} ranks its own answer {_higher(judge.own)} than the others "
            f"do {_sure(judge.own)}."
        )


def _family(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    if judge.family.is_found:
        yield (
            f"{shown.name(judge.judge)} ranks the rest of its family ({shown.maker(judge)}) "
            f"{_higher(judge.family)} than the others do {_sure(judge.family)}."
        )


def _named(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    if judge.named.is_found:
        yield (
            f"{shown.name(judge.judge)} ranks its family ({shown.maker(judge)}) "
            f"{_higher(judge.named)} when it sees the names {_sure(judge.named)}: blinding takes "
            "that away."
        )


def _position(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    """Say which slot a judge is fondest of, or likes least; once, however it was tested."""
    if judge.position.is_found:
        effect, place = judge.position, _slot_of(judge)
        sure = ", ".join(filter(None, (f"n {effect.n:,}", chance(effect))))
        yield (
            f"{shown.name(judge.judge)} follows the order it is shown: what it sees {place} it "
            f"ranks {_higher(effect)} than chance would ({sure}){_hardly(effect)}."
        )
    elif judge.first_slot.is_found:
        yield (
            f"{shown.name(judge.judge)} ranks what it sees first {_higher(judge.first_slot)} than "
            f"chance would {_sure(judge.first_slot)}."
        )


def _hardly(effect: Effect) -> str:
    """Say where a fondness is sure, and yet too small to matter."""
    return ", which hardly matters" if abs(effect.value or 0) <= MOST_POSITION else ""


def _slot_of(judge: JudgeBias) -> str:
    known = [slot for slot in judge.slots if slot.effect.value is not None]
    if not known:
        return "at one place"
    number = max(known, key=lambda slot: abs(slot.effect.value or 0)).number
    return _PLACES.get(number, f"{number}th")


def _kept(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    kept = judge.kept
    if kept.value is None or kept.interval is None or kept.n < ENOUGH:
        return
    if kept.interval[1] >= STEADY:
        return
    no_better = ", not told from a coin" if kept.interval[0] <= _COIN else ""
    yield (
        f"{shown.name(judge.judge)} keeps {percent(kept.value)} of its orders of pairs when it "
        f"sees the same answers in another order{no_better} {how_sure(kept, percent)}."
    )


def _length(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    effect = judge.length
    if effect.is_found and effect.value is not None:
        longer = "longer" if effect.value > 0 else "shorter"
        yield (
            f"{shown.name(judge.judge)} favours {longer} answers: one {longer} by a standard "
            f"deviation beats its equal {percent(_odds(abs(effect.value)))} of the time "
            f"{_phi(effect)}."
        )


def _phi(effect: Effect) -> str:
    return how_sure(effect).replace("(", f"(φ {size(effect.value or 0)}, ", 1)


def _odds(phi: float) -> float:
    """Give how often an answer wins that is longer by one standard deviation, by its length."""
    return 1 / (1 + exp(-phi * tanh(1)))


def _style(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    for trait, effect in judge.style.items():
        if effect.is_found and effect.value is not None:
            does = "favours" if effect.value > 0 else "marks down"
            yield (
                f"{shown.name(judge.judge)} {does} answers with {trait}, by {size(effect.value)} "
                f"in log-odds beside length {_sure(effect)}."
            )


def _agreement(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    effect = judge.agreement
    if effect.value is not None and effect.value < 0 and is_off(effect):
        yield (
            f"{shown.name(judge.judge)} ranks against the other judges: mean τ "
            f"{plain(effect.value)} {how_sure(effect)}."
        )


def _spoiled(shown: ShownBias, judge: JudgeBias) -> Iterator[str]:
    effect = judge.spoiled
    if effect.value is not None and effect.interval and effect.interval[0] > _MANY_SPOILED:
        yield (
            f"{shown.name(judge.judge)} spoils {percent(effect.value)} of its ballots "
            f"{how_sure(effect, percent)}: the fewer are left to judge it by."
        )
