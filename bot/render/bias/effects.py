"""How an effect reads: its size, its interval, how sure it is, and what would settle it."""

from collections.abc import Callable

from bot.render.boards.columns import signed
from bot.render.figures import counted
from council.bias.report import Effect, Interval

Reads = Callable[[float], str]

TOO_LITTLE = "too little to say"
_LEAST_P = 0.001
_MOST = 5_000
_STEPS = ((20, 1), (200, 10), (1_000, 50), (_MOST, 500))  # up to so many, in steps of


def plain(number: float) -> str:
    """Give a number without a plus: ".31", "−.05", "1.20"."""
    return signed(number).removeprefix("+")


def size(number: float) -> str:
    """Give how large a number is, whichever its sign: ".31"."""
    return plain(abs(number))


def span(interval: Interval | None, reads: Reads = plain) -> str:
    """Give an interval: ".18 to .44"; "" where there is none."""
    return " to ".join(map(reads, interval)) if interval else ""


def chance(effect: Effect) -> str:
    """Give p after Holm: "p .003", "p < .001"; "" where nothing was tested."""
    p = effect.p_holm
    if p is None:
        return ""
    if p < _LEAST_P:
        return "p < .001"
    return f"p {p:.3f}".replace("0.", ".", 1) if p < 1 else "p 1"


def how_sure(effect: Effect, reads: Reads = plain, *, turned: bool = False) -> str:
    """Give in brackets over how many and within what: "(n 52, .18 to .44)".

    Of a `turned` effect the interval is that of its size.
    """
    interval = effect.interval
    if interval and turned:
        interval = (-interval[1], -interval[0])
    return f"({', '.join(filter(None, (f'n {effect.n:,}', span(interval, reads))))})"


def over(effect: Effect) -> str:
    """Give what it is measured over: "52 audit ballots"."""
    unit = effect.unit.removesuffix("s") if effect.n == 1 else effect.unit
    return f"{effect.n:,} {unit}"


def more(effect: Effect) -> str:
    """Give how many more would settle it: "about 40 more"; "" where it is, or nobody can say."""
    return "" if is_off(effect) or not effect.more else f"{about(effect.more)} more"


def is_off(effect: Effect) -> bool:
    """Say whether the interval leaves 0 out: by itself, whatever else is tested."""
    return effect.interval is not None and not effect.interval[0] <= 0 <= effect.interval[1]


def about(number: int) -> str:
    """Give a number no finer than anybody can tell: "about 40", "more than 5,000"."""
    if number > _MOST:
        return f"more than {_MOST:,}"
    step = next(step for most, step in _STEPS if number <= most)
    return f"about {-(-number // step) * step:,}"


def rounds_and_ballots(rounds: int, ballots: int) -> str:
    """Give what a report is over: "64 closed rounds with 256 ballots"."""
    return f"{counted(rounds, 'closed round')} with {counted(ballots, 'ballot')}"
