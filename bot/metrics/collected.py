"""Figures that are asked for when somebody reads them: nothing is counted twice."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import REGISTRY
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

Counts = Iterable[tuple[tuple[str, ...], float]]


@contextmanager
def collected(collect: Callable[[], Iterable[Metric]]) -> Iterator[None]:
    """Have figures among the others until the block ends."""
    collector = _Collector(collect)
    REGISTRY.register(collector)
    try:
        yield
    finally:
        REGISTRY.unregister(collector)


def filled(family: GaugeMetricFamily | CounterMetricFamily, counts: Counts) -> Metric:
    """Fill a family; what shares its labels, as paths of one host do, is added up."""
    sums: dict[tuple[str, ...], float] = {}
    for labels, count in counts:
        sums[labels] = sums.get(labels, 0) + count
    for labels, count in sums.items():
        family.add_metric(labels, count)
    return family


@dataclass(frozen=True, slots=True, eq=False)
class _Collector(Collector):
    asked: Callable[[], Iterable[Metric]]

    def describe(self) -> Iterable[Metric]:
        """Name nothing beforehand, so that two of a kind may be watched."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Give the figures as they are now."""
        return self.asked()
