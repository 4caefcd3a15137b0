"""Figures for a Prometheus server: rounds, how long they took, what they cost; providers."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import REGISTRY, Counter, Gauge, Histogram
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from council.providers import BreakerState, Health
from council.rounds import Round

_CLOSED = Counter("council_rounds", "Rounds that were closed", ["outcome"])
_UNDER_WAY = Gauge("council_rounds_under_way", "Rounds being carried on now")
_SECONDS = Histogram(
    "council_round_seconds",
    "From a round's first call to its end",
    buckets=(1, 2, 5, 10, 20, 30, 60, 120, 300),
)
_CALLS = Counter("council_replies", "Replies that were paid for", ["member"])
_ABSENCES = Counter("council_absences", "Seats with nothing usable", ["member", "role"])
_COST = Counter("council_cost_usd", "Known cost of closed rounds")
_LAG = Histogram(
    "council_loop_lag_seconds",
    "How late the event loop runs what is due",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1),
)
_LAG_EVERY_SECONDS = 0.05


async def watch_lag() -> None:
    """Measure how late the event loop runs what is due, until it is cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + _LAG_EVERY_SECONDS
        await asyncio.sleep(_LAG_EVERY_SECONDS)
        _LAG.observe(max(0.0, loop.time() - due))


_AT = ("provider", "address")
_OF = ("model", "address")


@contextmanager
def round_under_way() -> Iterator[None]:
    """Count a round as under way until the block ends."""
    with _UNDER_WAY.track_inprogress():
        yield


def round_closed(round_: Round) -> None:
    """Count a closed round and what came of it."""
    failed = round_.closing is not None and round_.closing.failure is not None
    _CLOSED.labels("failed" if failed else "closed").inc()
    if round_.closing:
        _SECONDS.observe(round_.closing.seconds)
    for seat in _paid_for(round_):
        _CALLS.labels(seat).inc()
    for absence in round_.absences:
        _ABSENCES.labels(absence.member, absence.role).inc()
    _COST.inc(sum(reply.cost_usd or 0 for reply in round_.replies))


def _paid_for(round_: Round) -> Iterator[str]:
    """Give the seat of every reply, counted or not."""
    yield from (answer.member for answer in round_.answers)
    yield from (ballot.judge for ballot in round_.ballots)
    yield from (spoiled.judge for spoiled in round_.spoiled)
    if round_.synthesis and round_.synthesis.chairman:
        yield round_.synthesis.chairman


@contextmanager
def providers_watched(health: Callable[[], Health]) -> Iterator[None]:
    """Give a gateway's providers and models among the figures until the block ends."""
    watch = _Watch(health)
    REGISTRY.register(watch)
    try:
        yield
    finally:
        REGISTRY.unregister(watch)


@dataclass(frozen=True, slots=True, eq=False)
class _Watch(Collector):
    """Asks for the health when the figures are read: nothing is counted twice."""

    health: Callable[[], Health]

    def describe(self) -> Iterable[Metric]:
        """Name nothing beforehand, so that two gateways may be watched."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Give calls by provider, and breakers, retries and pauses by model."""
        providers, models = self.health().providers, self.health().models
        yield _filled(
            GaugeMetricFamily("council_calls_under_way", "Calls at a provider now", labels=_AT),
            (((p.provider, p.address), p.under_way) for p in providers),
        )
        yield _filled(
            GaugeMetricFamily("council_calls_waiting", "Calls that wait for a turn", labels=_AT),
            (((p.provider, p.address), p.waiting) for p in providers),
        )
        yield _filled(
            GaugeMetricFamily(
                "council_breakers", "1 for a model's breaker state", labels=(*_OF, "state")
            ),
            (((m.model, m.address, s), m.breaker is s) for m in models for s in BreakerState),
        )
        yield _filled(
            CounterMetricFamily("council_retries", "Attempts after the first", labels=_OF),
            (((m.model, m.address), m.retries) for m in models),
        )
        yield _filled(
            CounterMetricFamily("council_pauses", "Pauses that were asked for", labels=_OF),
            (((m.model, m.address), m.pauses) for m in models),
        )


def _filled(
    family: GaugeMetricFamily | CounterMetricFamily,
    counts: Iterable[tuple[tuple[str, ...], float]],
) -> Metric:
    """Fill a family; what shares its labels, as paths of one host do, is added up."""
    sums: dict[tuple[str, ...], float] = {}
    for labels, count in counts:
        sums[labels] = sums.get(labels, 0) + count
    for labels, count in sums.items():
        family.add_metric(labels, count)
    return family
