"""The numbers of a report on grades to the precision the thesis prints; a dash where none is."""

from collections.abc import Sequence

from council.bias.report import Effect
from council.research.grades import Mean, Paired

NONE = "–"
_LEAST = 0.001


def short_names(judges: Sequence[str]) -> dict[str, str]:
    """Give each judge's name without its route, where that leaves no two alike."""
    last = {judge: judge.rpartition("/")[2] or judge for judge in judges}
    return last if len({*last.values()}) == len(last) else {judge: judge for judge in judges}


def mean(value: Mean) -> str:
    """Give a mean with its sample standard deviation: "4.07 ± 0.29"."""
    if value.value is None:
        return NONE
    return f"{value.value:.2f}" if value.sd is None else f"{value.value:.2f} ± {value.sd:.2f}"


def statistic(test: Paired) -> str:
    """Give a t: "-6.74"."""
    return NONE if test.t is None else f"{test.t:.2f}"


def chance(effect: Effect) -> str:
    """Give a p: "< 0.1%", "23.5%"; a star follows where it holds among all tests."""
    if effect.p is None:
        return NONE
    return f"{percent(effect.p)}{' *' if effect.is_found else ''}"


def percent(p: float) -> str:
    """Give a p as the thesis does: "< 0.1%", "23.5%"."""
    return "< 0.1%" if p < _LEAST else f"{p:.1%}"


def ends(effect: Effect) -> str:
    """Give an interval: "(-0.36, -0.20)"."""
    if effect.interval is None:
        return NONE
    return f"({_end(effect.interval[0])}, {_end(effect.interval[1])})"


def _end(number: float) -> str:
    return f"{round(number, 2) + 0.0:.2f}"  # nothing has no sign


def size(effect: Effect) -> str:
    """Give an effect with its sign: "+0.42"."""
    return NONE if effect.value is None else f"{round(effect.value, 2) + 0.0:+.2f}"


def amount(effect: Effect) -> str:
    """Give how large an effect is that was found, whichever way it goes: "0.42"."""
    return f"{abs(effect.value or 0):.2f}"


def within(effect: Effect) -> str:
    """Give what an amount rests on: "(0.27 to 0.57, 100 items)"."""
    over = f"{effect.n} {effect.unit}"
    if effect.interval is None:
        return f"({over}, each alike)"
    low, high = sorted(end if (effect.value or 0) > 0 else -end for end in effect.interval)
    return f"({_end(low)} to {_end(high)}, {over})"
