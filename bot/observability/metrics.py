"""Prometheus metrics of this process, and of the cluster where the name says so.

What another part counts already is collected from it when a server scrapes.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum

from prometheus_client import REGISTRY, Counter, Gauge, Histogram
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import QueuePool

from council.errors import StoreError
from council.providers import BreakerState, Health, ModelHealth, ProviderHealth
from council.rounds import Round

LOST, REFUSED = "lost", "refused"


class _DatabaseHealth:
    """Errors and downtime of a database since this process started."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.errors = {LOST: 0, REFUSED: 0}
        self._clock = clock
        self._away = 0.0
        self._since: float | None = None

    @property
    def is_away(self) -> bool:
        """Whether the last connection was lost and none has been made since."""
        return self._since is not None

    @property
    def away_seconds(self) -> float:
        return self._away + (0.0 if self._since is None else self._clock() - self._since)

    def on_error(self, context: ExceptionContext) -> None:
        """Count an error: the connection was lost, or the statement refused."""
        is_lost = context.is_disconnect or context.connection is None
        self.errors[LOST if is_lost else REFUSED] += 1
        if is_lost and self._since is None:
            self._since = self._clock()

    def on_connect(self, *_: object) -> None:
        self._away, self._since = self.away_seconds, None


@contextmanager
def export_database_metrics(
    engine: AsyncEngine, clock: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Export the health and the connections of a database until the block ends."""
    health, sync = _DatabaseHealth(clock), engine.sync_engine
    event.listen(sync, "handle_error", health.on_error)
    event.listen(sync, "checkout", health.on_connect)

    def collect() -> Iterator[Metric]:
        away, words = float(health.is_away), "1 while it is away"
        yield GaugeMetricFamily("council_database_away", words, away)
        words = "How long it was away in all"
        yield CounterMetricFamily("council_database_away_seconds", words, health.away_seconds)
        errors = CounterMetricFamily("council_database_errors", "Acts that failed", labels=["kind"])
        yield filled(errors, (((kind,), count) for kind, count in health.errors.items()))
        states = GaugeMetricFamily("council_database_connections", "By state", labels=["state"])
        yield filled(states, (((state,), count) for state, count in _pool(engine).items()))

    try:
        with collected(collect):
            yield
    finally:
        event.remove(sync, "handle_error", health.on_error)
        event.remove(sync, "checkout", health.on_connect)


def _pool(engine: AsyncEngine) -> Mapping[str, int]:
    pool = engine.sync_engine.pool
    if not isinstance(pool, QueuePool):
        return {}
    return {"in use": pool.checkedout(), "idle": pool.checkedin(), "kept": pool.size()}


_LAG = Histogram(
    "council_loop_lag_seconds",
    "How late the event loop runs what is due",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1),
)
_LAG_CHECK_SECONDS = 0.05


async def watch_lag() -> None:
    """Measure how late the event loop runs timers, until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + _LAG_CHECK_SECONDS
        await asyncio.sleep(_LAG_CHECK_SECONDS)
        _LAG.observe(max(0.0, loop.time() - due))


BUILD = Gauge("council_build", "1 for the version that runs", ["version", "schema"])
RECONNECTS = Counter("council_bus_reconnects", "Times the bus had to be connected anew")
LIMITED_ALONE = Gauge("council_turns_alone", "1 while this process keeps to its limits by itself")


@contextmanager
def export_clock_offset(behind_seconds: Callable[[], float]) -> Iterator[None]:
    """Export how far this machine's clock is behind the database's, until the block ends."""

    def collect() -> Iterator[GaugeMetricFamily]:
        words = "How far this machine's clock is behind the database's; negative if ahead"
        yield GaugeMetricFamily("council_clock_behind_seconds", words, value=behind_seconds())

    with collected(collect):
        yield


_AT = ("provider", "address")
_OF = ("model", "address")


@contextmanager
def export_provider_metrics(health: Callable[[], Health]) -> Iterator[None]:
    """Export the health of a gateway's providers and models until the block ends."""

    def collect() -> Iterable[Metric]:
        found = health()
        yield from _of_providers(found.providers)
        yield from _of_models(found.models)

    with collected(collect):
        yield


_PROVIDER_FAMILIES = (
    (GaugeMetricFamily, "council_calls_under_way", "Calls at a provider now", "under_way"),
    (GaugeMetricFamily, "council_calls_waiting", "Calls that wait for a turn", "waiting"),
    (CounterMetricFamily, "council_turns", "Turns that calls had", "turns"),
    (CounterMetricFamily, "council_turn_wait_seconds", "Waited for turns", "waited_seconds"),
)


def _of_providers(providers: tuple[ProviderHealth, ...]) -> Iterator[Metric]:
    for family, name, words, field in _PROVIDER_FAMILIES:
        counts = [((p.provider, p.address), getattr(p, field)) for p in providers]
        yield filled(family(name, words, labels=_AT), counts)
    yield filled(
        GaugeMetricFamily(
            "council_calls_everywhere",
            "Calls of all processes at a provider, as this one last saw",
            labels=(*_AT, "state"),
        ),
        _everywhere(providers),
    )


def _everywhere(providers: tuple[ProviderHealth, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
    # Paths of one host share a rate limiter, so each host has one figure.
    seen = {(p.provider, p.address): p.everywhere for p in providers if p.everywhere}
    for labels, crowd in seen.items():
        yield (*labels, "under way"), crowd.under_way
        yield (*labels, "waiting"), crowd.waiting


def _of_models(models: tuple[ModelHealth, ...]) -> Iterator[Metric]:
    yield filled(
        GaugeMetricFamily(
            "council_breakers", "1 for a model's breaker state", labels=(*_OF, "state")
        ),
        (((m.model, m.address, s), m.breaker is s) for m in models for s in BreakerState),
    )
    yield filled(
        CounterMetricFamily("council_retries", "Attempts after the first", labels=_OF),
        (((m.model, m.address), m.retries) for m in models),
    )
    yield filled(
        CounterMetricFamily("council_pauses", "Pauses that were asked for", labels=_OF),
        (((m.model, m.address), m.pauses) for m in models),
    )


ROUNDS_UNDER_WAY = Gauge("council_rounds_under_way", "Rounds being carried on now")
_CLOSED = Counter("council_rounds", "Rounds that were closed", ["outcome"])
_SECONDS = Histogram(
    "council_round_seconds",
    "From a round's first call to its end",
    buckets=(1, 2, 5, 10, 20, 30, 60, 120, 300),
)
_CALLS = Counter("council_replies", "Replies that were paid for", ["member"])
_ABSENCES = Counter("council_absences", "Seats with nothing usable", ["member", "role"])
_COST = Counter("council_cost_usd", "Known cost of closed rounds")


def count_round(round_: Round) -> None:
    """Count a closed round, its replies, absences, time and cost."""
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
    """Yield the seat of every reply, even of a spoiled ballot."""
    yield from (answer.member for answer in round_.answers)
    yield from (ballot.judge for ballot in round_.ballots)
    yield from (spoiled.judge for spoiled in round_.spoiled)
    if round_.synthesis and round_.synthesis.chairman:
        yield round_.synthesis.chairman


OUTBOX_CHECK_SECONDS = 15.0

_UNMARKED = Gauge(
    "council_outbox_unmarked", "Messages claimed over a minute ago of which nobody knows more"
)


async def watch_outbox(
    unmarked: Callable[[], Awaitable[int]],
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Measure how many claimed messages were never marked as sent, until cancelled."""
    while True:
        with suppress(StoreError):  # keep the last figure
            _UNMARKED.set(await unmarked())
        await sleep(OUTBOX_CHECK_SECONDS)


JOBS_HERE = Gauge("council_works_here", "Work that this process does now", ["queue"])
TAKEOVERS = Counter(
    "council_takeovers", "Work taken over from a process that was not heard of", ["queue"]
)
_ANYWHERE = Gauge("council_works", "Work of all processes, as last counted", ["queue", "state"])


class JobState(StrEnum):
    """The state of a job: queued, running, or running in a process that sends no heartbeat."""

    WAITING = "waiting"
    DOING = "doing"
    STALLED = "stalled"


def set_job_counts(counts: Mapping[tuple[str, JobState], int]) -> None:
    """Set the number of all processes' jobs by queue and state; missing ones are 0."""
    queues = {queue for queue, _ in counts} | {labels[0] for labels in _known_labels()}
    for queue in queues:
        for state in JobState:
            _ANYWHERE.labels(queue, state.value).set(counts.get((queue, state), 0))


def _known_labels() -> Iterator[tuple[str, ...]]:
    for metric in _ANYWHERE.collect():
        for sample in metric.samples:
            yield (sample.labels["queue"],)


Counts = Iterable[tuple[tuple[str, ...], float]]


@contextmanager
def collected(collect: Callable[[], Iterable[Metric]]) -> Iterator[None]:
    """Register a function that returns metrics, until the block ends."""
    collector = _Collector(collect)
    REGISTRY.register(collector)
    try:
        yield
    finally:
        REGISTRY.unregister(collector)


def filled(family: GaugeMetricFamily | CounterMetricFamily, counts: Counts) -> Metric:
    """Add samples to a family; those with the same labels, as paths of one host, are summed."""
    sums: dict[tuple[str, ...], float] = {}
    for labels, count in counts:
        sums[labels] = sums.get(labels, 0) + count
    for labels, count in sums.items():
        family.add_metric(labels, count)
    return family


@dataclass(frozen=True, slots=True, eq=False)
class _Collector(Collector):
    collect_metrics: Callable[[], Iterable[Metric]]

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that two collectors may return the same metrics."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Return the current metrics."""
        return self.collect_metrics()
