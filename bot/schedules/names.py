"""The names of days and months, and turns, as people write and read them."""

from collections.abc import Mapping

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
TURNS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
WEEKDAYS, WEEKEND = (1, 2, 3, 4, 5), (0, 6)
_SHORT = 3


def day_named(word: str) -> int | None:
    """Give the day of the week, Sunday as 0, of "mon", "Mondays"; None of any other word."""
    return _DAYS.get(word, _DAYS.get(word.removesuffix("s")))


def month_named(word: str) -> int | None:
    """Give the month, January as 1; None of any other word."""
    return _MONTHS.get(word)


def ordinal(number: int) -> str:
    """Give "1st", "22nd", "13th"."""
    teens = number // 10 % 10 == 1
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _by_name(names: tuple[str, ...], first: int, *others: tuple[str, int]) -> Mapping[str, int]:
    whole = {name.lower(): number for number, name in enumerate(names, first)}
    return {name[:_SHORT]: number for name, number in whole.items()} | whole | dict(others)


_DAYS = _by_name(DAYS, 0, ("tues", 2), ("thur", 4), ("thurs", 4))
_MONTHS = _by_name(MONTHS, 1, ("sept", 9))
