"""Money as whole micro-dollars, so that sums are exact. Knows nobody who spends it."""

from dataclasses import dataclass
from math import ceil, floor

# --- Money as whole micro-dollars, so that sums are exact. Knows nobody who spends it.

MICRO = 1_000_000  # micro-dollars in a dollar
_CENT = 10_000
_TRUE_DIGITS = 3  # of a micro-dollar; what follows is a float's own noise


def cost_micro_usd(usd: float) -> int:
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


# --- What a model's tokens cost. Knows no provider.


@dataclass(frozen=True, slots=True)
class Price:
    """What a seat's tokens cost in USD each, read and written.

    `most_tokens_out` is the limit sent along with each of its calls; None where none is sent.
    """

    usd_in: float
    usd_out: float
    most_tokens_out: int | None = None

    @property
    def is_free(self) -> bool:
        """Whether no call costs anything."""
        return self.usd_in == self.usd_out == 0

    def micro(self, tokens_in: int, tokens_out: int) -> int:
        """Give what a call costs in micro-dollars, rounded up."""
        return cost_micro_usd(self.usd_in * tokens_in + self.usd_out * tokens_out)


FREE = Price(0, 0)
