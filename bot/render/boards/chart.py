"""What a leaderboard's figure shows: members best first with intervals, and each run by run."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil, floor

MOST_RUNS = 24  # the newest; more would stand too close to be told apart


@dataclass(frozen=True, slots=True)
class Spread:
    """A share with its interval, from 0 to 1; ends are None where there is no interval."""

    share: float
    low: float | None = None
    high: float | None = None

    @property
    def reach(self) -> tuple[float, float]:
        """Give the lowest and the highest value of it."""
        low = self.share if self.low is None else self.low
        high = self.share if self.high is None else self.high
        return low, high


@dataclass(frozen=True, slots=True)
class Bar:
    """One member: its place, its share, and its share in each run; None where it has none."""

    name: str
    place: int | None
    spread: Spread | None
    runs: tuple[Spread | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Members best first; `days` are those of the runs, oldest first.

    Where panels were mixed, spreads are shares that members should have, not those they had.
    """

    bars: tuple[Bar, ...]
    days: tuple[date, ...] = ()
    is_mixed: bool = False

    @property
    def has_trend(self) -> bool:
        """Whether there is more than one run to see."""
        return len(self.days) > 1

    def newest(self) -> "Chart":
        """Give the chart with no more runs than can be told apart."""
        bars = (Bar(x.name, x.place, x.spread, x.runs[-MOST_RUNS:]) for x in self.bars)
        return Chart(tuple(bars), self.days[-MOST_RUNS:], self.is_mixed)


def range_of(spreads: Iterable[Spread | None]) -> tuple[float, float]:
    """Give tenths around all spreads and one half, .2 apart at least."""
    reaches = [spread.reach for spread in spreads if spread]
    low = min([0.5, *(low for low, _ in reaches)])
    high = max([0.5, *(high for _, high in reaches)])
    tenths = max(0, floor(low * 10 + 1e-9)), min(10, ceil(high * 10 - 1e-9))
    bottom, top = min(tenths[0], 4), max(tenths[1], 6)
    return bottom / 10, top / 10


def mean_of(runs: Sequence[Spread | None]) -> float | None:
    """Give the mean share over runs; None where there is none."""
    shares = [run.share for run in runs if run]
    return sum(shares) / len(shares) if shares else None


def swing_of(bars: Iterable[Bar]) -> float:
    """Give how far any run, with its interval, is from its member's mean: 5, 10, 15 … points."""
    swings = [0.05]
    for bar in bars:
        mean = mean_of(bar.runs)
        swings += [abs(end - (mean or 0)) for run in bar.runs if run for end in run.reach]
    return ceil(max(swings) * 20 - 1e-9) / 20


def ticks_of(low: float, high: float) -> Iterator[float]:
    """Give the round shares from low to high, six at most, one half among them."""
    step = 0.1 if high - low <= 0.5 + 1e-9 else 0.25
    first = ceil((low - 0.5) / step - 1e-9)
    last = floor((high - 0.5) / step + 1e-9)
    yield from (round(0.5 + number * step, 4) for number in range(first, last + 1))


def told(chart: Chart) -> str:
    """Say in words what the figure shows, for whoever cannot see it."""
    known = [bar for bar in chart.bars if bar.spread]
    shares = "; ".join(_told(bar) for bar in known)
    runs = f", over all and in each of {len(chart.days)} runs" if chart.has_trend else ""
    if not known:
        return "No member has a share yet."
    return f"{heading(chart)}{runs}. {shares}."


def heading(chart: Chart) -> str:
    """Say what the bars are."""
    beaten = "Rivals beaten, if all met" if chart.is_mixed else "Share of rivals beaten"
    return f"{beaten}, 95 % interval"


def _told(bar: Bar) -> str:
    spread = bar.spread or Spread(0.5)
    low, high = spread.reach
    within = f", {percent(low)} to {percent(high)}" if high > low else ""
    place = f"place {bar.place}, " if bar.place else ""
    return f"{bar.name}: {place}{percent(spread.share)}{within}"


def percent(share: float) -> str:
    """Give a share as a whole percentage: "62 %"."""
    return f"{share * 100:.0f} %"
