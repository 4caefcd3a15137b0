"""Money as whole micro-dollars, so that sums are exact. Knows nobody who spends it."""

from math import ceil, floor

MICRO = 1_000_000  # micro-dollars in a dollar
_CENT = 10_000
_TRUE_DIGITS = 3  # of a micro-dollar; what follows is a float's own noise


def cost_micro(usd: float) -> int:
    """Give what a cost takes, part of a micro-dollar counting as a whole one."""
    return ceil(round(usd * MICRO, _TRUE_DIGITS))


def cap_micro(usd: float) -> int:
    """Give what a cap allows, part of a micro-dollar counting for nothing."""
    return floor(round(usd * MICRO, _TRUE_DIGITS))


def dollars(micro: int) -> str:
    """Give an amount to the last digit, with two decimals at least: "$0.50", "$0.000125"."""
    whole, part = divmod(micro, MICRO)
    return f"${whole:,}.{f'{part:06}'.rstrip('0').ljust(2, '0')}"


def about(micro: int) -> str:
    """Give an amount rounded up to whole cents; below a cent, to two digits that count."""
    step = _CENT if micro >= _CENT else int(10 ** max(0, len(str(micro)) - 2))
    return dollars(-(-micro // step) * step)
