"""How numbers read: money, time, points, counts."""

from collections.abc import Iterable
from math import floor, log10

_CENTS = 0.01
_TEN, _MINUTE = 10, 60
_STEPS = ((_TEN, 1), (60, 5), (600, 30), (float("inf"), 60))  # up to so many seconds, in steps of
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def money(usd: float | None) -> str:
    """Give an amount: "$0.043", "$1.20", "cost unknown"; small ones keep two digits that count."""
    if usd is None:
        return "cost unknown"
    if usd == 0:
        return "$0"
    if usd >= _CENTS:
        return f"${usd:.2f}" if usd >= 1 else f"${usd:.3f}"
    digits = 1 - floor(log10(usd))
    return f"${usd:.{digits}f}"


def duration(seconds: float) -> str:
    """Give a length of time: "4.1 s", "21 s", "2 min 5 s"."""
    if round(seconds, 1) < 10:  # noqa: PLR2004
        return f"{seconds:.1f} s"
    if round(seconds) < _MINUTE:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def roughly(seconds: float) -> str:
    """Give a length of time no finer than anybody can tell beforehand."""
    step = next((step for below, step in _STEPS if seconds < below), _STEPS[-1][1])
    whole = max(1, round(seconds / step) * step)
    return duration(whole) if whole >= _TEN else f"{whole} s"


def points(value: float, most: int) -> str:
    """Give points of a maximum: "3.5 of 6"."""
    return f"{value:g} of {most}"


def counted(number: int, noun: str) -> str:
    """Give a number and its noun: "1 first vote", "2 first votes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def in_words(number: int) -> str:
    """Give a small number in words, a larger one in digits."""
    return _WORDS[number] if number < len(_WORDS) else str(number)


def listed(names: Iterable[str]) -> str:
    """Give names as a list in a sentence: "A, B and C"; nothing for no names."""
    *most, last = [*names] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def total(amounts: Iterable[float | None]) -> float | None:
    """Give the sum; one unknown makes it unknown."""
    known = 0.0
    for amount in amounts:
        if amount is None:
            return None
        known += amount
    return known
