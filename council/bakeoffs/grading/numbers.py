"""Numbers as people and models write them, compared exactly or within a tolerance."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from council.bakeoffs.grading.marked import marked_answers, plain

MOST_DIGITS = 400
_BIGGEST_BASE = 1_000
_GROUP = ",'’_ \u00a0\u202f\u2009"


def _power(name: str) -> str:
    return rf"\{{?(?P<{name}>[-+−]?[0-9]{{1,3}})\}}?"


_NUMBER = re.compile(
    rf"""
    (?<![\w.])
    (?P<sign>(?<![\w)\]])[-+−–])?
    [€£¥]?
    (?: (?P<whole> [0-9]{{1,3}}(?P<by>[{_GROUP}])[0-9]{{3}}(?:(?P=by)[0-9]{{3}})*(?![0-9])
                 | [0-9]{{1,3}}(?:\.[0-9]{{3}}){{2,}}(?![0-9])
                 | [0-9]{{1,3}}(?:\.[0-9]{{3}})+(?=,[0-9])
                 | [0-9]+ )
        (?P<part>[.,][0-9]+(?![.,]?[0-9]))?
      | (?P<bare>\.[0-9]+) )
    (?: [eE](?P<e>[-+−]?[0-9]{{1,3}})(?![0-9])
      | \s?[×x*·]\s?10\s?(?:\^|\*\*)\s?{_power("ten")}
      | \s?(?:\^|\*\*)\s?{_power("power")} )?
    (?: \s?/\s?(?P<below>[0-9]+)(?![0-9]|\s?/|[.,][0-9]) )?
    (?: \s?(?P<scale>thousand|million|billion|trillion)\b )?
    (?P<percent> \s?(?:%|percent\b|per\ cent\b) )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_LIST = re.compile(r"(?<![0-9.,])[0-9]+(?:,[0-9]+){2,}")  # 1,2,3
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+")
_EQUALS = re.compile(r"[=≈]")
_RAISED = re.compile(r"(?<=[0-9])[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_CURRENCY = re.compile(r"(?<=[A-Za-z])\$")  # of US$100
_LATEX = ((r"{,}", ","), (r"\,", ""), (r"\times", "×"), (r"\cdot", "×"), ("⁄", "/"))


@dataclass(frozen=True, slots=True)
class _Number:
    """A number, and whether it was written with a percent sign."""

    value: Fraction
    is_percent: bool


def is_number(text: str) -> bool:
    """Say whether a text is one number and nothing else."""
    seen = _seen(text).strip()
    found = _NUMBER.fullmatch(seen)
    return found is not None and _read(found) is not None


def numbers_agree(value: str, tolerance: float, text: str) -> bool:
    """Say whether a text ends in this number, give or take; one it marks as its answer goes first.

    Where only one of both has a percent sign, 25 % is 25 as well as 0.25.
    """
    right = _last(_seen(value))
    said = _answered(_seen(text)) if right else None
    if right is None or said is None:
        return False
    most = Fraction(str(tolerance))
    return any(abs(one - right.value) <= most for one in _readings(said, right))


def _readings(said: _Number, right: _Number) -> tuple[Fraction, ...]:
    if said.is_percent == right.is_percent:
        return (said.value,)
    return (said.value, said.value / 100 if said.is_percent else said.value * 100)


def _answered(text: str) -> _Number | None:
    """Give the number marked as the answer, behind the last = of its line; else the last one."""
    for marked in reversed(marked_answers(text)):
        behind = _EQUALS.split(marked)[-1]
        if found := next(_numbers(behind), None) or next(_numbers(marked), None):
            return found
    return _last(text)


def _last(text: str) -> _Number | None:
    found = reversed(list(_NUMBER.finditer(text)))
    return next(filter(None, map(_read, found)), None)


def _numbers(text: str) -> Iterator[_Number]:
    return filter(None, map(_read, _NUMBER.finditer(text)))


def _seen(text: str) -> str:
    """Give a text with one way of writing powers, fractions and signs."""
    seen = plain(_CURRENCY.sub(" ", text))
    for written, read in _LATEX:
        seen = seen.replace(written, read)
    seen = _LIST.sub(_parted, seen)
    return _RAISED.sub(lambda power: f"^{power[0].translate(_LOWERED)}", seen)


def _parted(found: re.Match[str]) -> str:
    numbers = found[0]
    return numbers if _THOUSANDS.fullmatch(numbers) else numbers.replace(",", ", ")


def _read(found: re.Match[str]) -> _Number | None:
    """Give what is written; None for what is too long, or divides by nothing."""
    if len(found[0]) > MOST_DIGITS or int(found["below"] or 1) == 0:
        return None
    whole, part = found["whole"] or "0", found["part"] or found["bare"] or ".0"
    digits = "".join(sign for sign in whole if sign.isdigit())
    value = Fraction(f"{digits}.{part[1:]}")
    if found["power"]:
        exponent = _exponent(found["power"])
        if value > _BIGGEST_BASE or (value == 0 and exponent < 0):
            return None
        value **= exponent
    value *= Fraction(10) ** _exponent(found["e"] or found["ten"] or "0")
    value *= 10 ** _SCALES.get((found["scale"] or "").lower(), 0)
    value /= int(found["below"] or 1)
    minus = (found["sign"] or "+") in "-−–"
    return _Number(-value if minus else value, bool(found["percent"]))


def _exponent(text: str) -> int:
    return int(text.replace("−", "-"))
