"""Prometheus metrics of this process, and of the cluster where the name says so.

What another part counts already is collected from it when a server scrapes.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from prometheus_client import REGISTRY, Counter, Gauge, Histogram
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import QueuePool

from council.errors import StoreError
from council.providers import BreakerState, Health
from council.rounds import Round

LOST, REFUSED = "lost", "refused"


class _DatabaseHealth:
    """Errors and downtime of a database since this process started."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.errors = {LOST: 0, REFUSED: 0}
        self._clock = clock
        self._away = 0.0
        self.since: float | None = None

    @property
    def away_seconds(self) -> float:
        return self._away + (0.0 if self.since is None else self._clock() - self.since)

    def on_error(self, context: ExceptionContext) -> None:
        """Count an error: the connection was lost, or the statement refused."""
        is_lost = context.is_disconnect or context.connection is None
        self.errors[LOST if is_lost else REFUSED] += 1
        if is_lost and self.since is None:
            self.since = self._clock()

    def on_connect(self, *_: object) -> None:
        self._away, self.since = self.away_seconds, None


@contextmanager
def export_database_metrics(
    engine: AsyncEngine, clock: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Export the health and the connections of a database until the block ends."""
    health, sync = _DatabaseHealth(clock), engine.sync_engine
    event.listen(sync, "handle_error", health.on_error)
    event.listen(sync, "checkout", health.on_connect)

    def collect() -> Iterator[Metric]:
        away, words = float(health.since is not None), "1 while it is away"
        yield GaugeMetricFamily("council_database_away", words, away)
        words = "How long it was away in all"
        yield CounterMetricFamily("council_database_away_seconds", words, health.away_seconds)
        errors = CounterMetricFamily("council_database_errors", "Acts that failed", labels=["kind"])
        yield filled(errors, (((kind,), count) for kind, count in health.errors.items()))
        states = GaugeMetricFamily("council_database_connections", "By state", labels=["state"])
        if isinstance(pool := sync.pool, QueuePool):
            used = {"in use": pool.checkedout(), "idle": pool.checkedin(), "kept": pool.size()}
            filled(states, (((state,), count) for state, count in used.items()))
        yield states

    try:
        with collected(collect):
            yield
    finally:
        event.remove(sync, "handle_error", health.on_error)
        event.remove(sync, "checkout", health.on_connect)


_LAG = Histogram(
    "council_loop_lag_seconds",
    "How late the event loop runs what is due",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1),
)


async def watch_lag() -> None:
    """Measure how late the event loop runs timers, until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + 0.05
        await asyncio.sleep(0.05)
        _LAG.observe(max(0.0, loop.time() - due))


BUILD = Gauge("council_build", "1 for the version that runs", ["version", "schema"])
RECONNECTS = Counter("council_bus_reconnects", "Times the bus had to be connected anew")
LIMITED_ALONE = Gauge("council_turns_alone", "1 while this process keeps to its limits by itself")


def export_clock_offset(behind_seconds: Callable[[], float]) -> AbstractContextManager[None]:
    """Export how far this machine's clock is behind the database's, until the block ends."""
    words = "How far this machine's clock is behind the database's; negative if ahead"
    family = partial(GaugeMetricFamily, "council_clock_behind_seconds", words)
    return collected(lambda: [family(value=behind_seconds())])


def export_provider_metrics(health: Callable[[], Health]) -> AbstractContextManager[None]:
    """Export the health of a gateway's providers and models until the block ends."""
    return collected(lambda: _provider_metrics(health()))


_AT = ("provider", "address")
_OF = ("model", "address")
_PROVIDER_FAMILIES = (
    (GaugeMetricFamily, "council_calls_under_way", "Calls at a provider now", "under_way"),
    (GaugeMetricFamily, "council_calls_waiting", "Calls that wait for a turn", "waiting"),
    (CounterMetricFamily, "council_turns", "Turns that calls had", "turns"),
    (CounterMetricFamily, "council_turn_wait_seconds", "Waited for turns", "waited_seconds"),
)


def _provider_metrics(health: Health) -> Iterator[Metric]:
    for family, name, words, field in _PROVIDER_FAMILIES:
        counts = [((p.provider, p.address), getattr(p, field)) for p in health.providers]
        yield filled(family(name, words, labels=_AT), counts)
    words = "Calls of all processes at a provider, as this one last saw"
    # Paths of one host share a rate limiter, so each host has one figure.
    seen = {(p.provider, p.address): p.everywhere for p in health.providers if p.everywhere}
    running = [((*at, "under way"), crowd.under_way) for at, crowd in seen.items()]
    waiting = [((*at, "waiting"), crowd.waiting) for at, crowd in seen.items()]
    everywhere = GaugeMetricFamily("council_calls_everywhere", words, labels=(*_AT, "state"))
    yield filled(everywhere, running + waiting)
    words = "1 for a model's breaker state"
    yield filled(
        GaugeMetricFamily("council_breakers", words, labels=(*_OF, "state")),
        (((m.model, m.address, s), m.breaker is s) for m in health.models for s in BreakerState),
    )
    for name, words, field in (
        ("council_retries", "Attempts after the first", "retries"),
        ("council_pauses", "Pauses that were asked for", "pauses"),
    ):
        counts = [((m.model, m.address), getattr(m, field)) for m in health.models]
        yield filled(CounterMetricFamily(name, words, labels=_OF), counts)


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
_UNPRICED = Counter("council_replies_of_unknown_cost", "Replies that council_cost_usd leaves out")


def count_round(round_: Round) -> None:
    """Count a closed round, its replies, absences, time and cost."""
    failed = round_.closing is not None and round_.closing.failure is not None
    _CLOSED.labels("failed" if failed else "closed").inc()
    if round_.closing:
        _SECONDS.observe(round_.closing.seconds)
    judges = [*(x.judge for x in round_.ballots), *(x.judge for x in round_.spoiled)]
    chairman = round_.synthesis.chairman if round_.synthesis else None
    for seat in (*(answer.member for answer in round_.answers), *judges, chairman):
        if seat:
            _CALLS.labels(seat).inc()
    for absence in round_.absences:
        _ABSENCES.labels(absence.member, absence.role).inc()
    known = [reply.cost_usd for reply in round_.replies if reply.cost_usd is not None]
    _COST.inc(sum(known))
    _UNPRICED.inc(len(round_.replies) - len(known))


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
        await sleep(15)


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
    known = (sample.labels["queue"] for metric in _ANYWHERE.collect() for sample in metric.samples)
    for queue in {*known, *(queue for queue, _ in counts)}:
        for state in JobState:
            _ANYWHERE.labels(queue, state.value).set(counts.get((queue, state), 0))


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
