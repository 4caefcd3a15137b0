"""The process itself: which version it is, and what it has with the others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge
from prometheus_client.metrics_core import GaugeMetricFamily

from bot.metrics.collected import collected

_BUILD = Gauge("council_build", "1 for the version that runs", ["version", "schema"])
_RECONNECTS = Counter("council_bus_reconnects", "Times the bus had to be connected anew")
_ALONE = Gauge("council_turns_alone", "1 while this process keeps to its limits by itself")


def built(version: str, schema: str) -> None:
    """Tell which version runs, and which schema it knows."""
    _BUILD.labels(version, schema).set(1)


def bus_reconnected() -> None:
    """Count that the bus was lost and is back."""
    _RECONNECTS.inc()


def turns_counted(*, together: bool) -> None:
    """Tell whether turns at providers are counted over all processes."""
    _ALONE.set(0 if together else 1)


@contextmanager
def clock_watched(behind_seconds: Callable[[], float]) -> Iterator[None]:
    """Tell how far this machine's clock is behind the database's, until the block ends."""

    def figures() -> Iterator[GaugeMetricFamily]:
        words = "How far this machine's clock is behind the database's; negative if ahead"
        yield GaugeMetricFamily("council_clock_behind_seconds", words, value=behind_seconds())

    with collected(figures):
        yield
