"""Money as whole micro-dollars, so that sums are exact, and prices of tokens."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor

MICRO_USD = 1_000_000  # micro-dollars in a dollar
_CENT = 10_000
_SIGNIFICANT_DIGITS = 3  # of a micro-dollar; the rest is floating-point noise


def cost_micro_usd(usd: float) -> int:
    """Return a cost in micro-dollars, rounded up."""
    return ceil(round(usd * MICRO_USD, _SIGNIFICANT_DIGITS))


def cap_micro_usd(usd: float) -> int:
    """Return a cap in micro-dollars, rounded down."""
    return floor(round(usd * MICRO_USD, _SIGNIFICANT_DIGITS))


def format_usd(micro: int) -> str:
    """Return an exact amount with at least two decimals: "$0.50", "$0.000125"."""
    whole, part = divmod(micro, MICRO_USD)
    return f"${whole:,}.{f'{part:06}'.rstrip('0').ljust(2, '0')}"


def format_rounded_usd(micro: int) -> str:
    """Return an amount rounded up to whole cents; below a cent, to two significant digits."""
    step = _CENT if micro >= _CENT else int(10 ** max(0, len(str(micro)) - 2))
    return format_usd(-(-micro // step) * step)


def sum_or_none(amounts: Iterable[float | None]) -> float | None:
    """Return the sum; None if there is no amount, or an unknown one."""
    known = [*amounts]
    return None if None in known or not known else sum(filter(None, known), 0.0)


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls cost: known costs in micro-dollars, and how many calls have an unknown cost."""

    micro: int = 0
    unknown_calls: int = 0

    def __add__(self, other: "Spending") -> "Spending":
        """Return both together."""
        return Spending(self.micro + other.micro, self.unknown_calls + other.unknown_calls)

    @property
    def usd(self) -> float | None:
        """The cost in USD; None if that of any call is unknown."""
        return None if self.unknown_calls else self.micro / MICRO_USD


@dataclass(frozen=True, slots=True)
class Price:
    """USD per input and output token, and for the web search before an answer."""

    usd_in: float
    usd_out: float
    max_tokens_out: int | None = None  # the limit sent with each call, if any
    usd_search: float = 0.0

    @property
    def is_free(self) -> bool:
        """Whether every call is free."""
        return self.usd_in == self.usd_out == self.usd_search == 0

    def cost_micro_usd(self, tokens_in: int, tokens_out: int, *, searches: bool = False) -> int:
        """Return the cost of a call in micro-dollars, rounded up."""
        usd = self.usd_in * tokens_in + self.usd_out * tokens_out
        return cost_micro_usd(usd + self.usd_search * searches)


FREE = Price(0, 0)
