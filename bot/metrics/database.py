"""The database as a process meets it: connections in use, errors, and how long it was away."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from sqlalchemy import event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import QueuePool

from bot.metrics.collected import collected, filled

LOST, REFUSED = "lost", "refused"


class _Contact:
    """What a process has met with at a database since it began."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.errors = {LOST: 0, REFUSED: 0}
        self._clock = clock
        self._away = 0.0
        self._since: float | None = None

    @property
    def is_away(self) -> bool:
        """Whether it was lost and has not answered since."""
        return self._since is not None

    @property
    def away_seconds(self) -> float:
        """How long it was away in all, until now."""
        return self._away + (0.0 if self._since is None else self._clock() - self._since)

    def failed(self, context: ExceptionContext) -> None:
        """Take note of an error: the server was not there, or did not do what was asked."""
        is_lost = context.is_disconnect or context.connection is None
        self.errors[LOST if is_lost else REFUSED] += 1
        if is_lost and self._since is None:
            self._since = self._clock()

    def answered(self, *_: object) -> None:
        """Take note that a connection was had."""
        self._away, self._since = self.away_seconds, None


@contextmanager
def database_watched(
    engine: AsyncEngine, clock: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Tell how it goes with a database until the block ends."""
    contact, sync = _Contact(clock), engine.sync_engine
    event.listen(sync, "handle_error", contact.failed)
    event.listen(sync, "checkout", contact.answered)

    def figures() -> Iterator[Metric]:
        yield _gauge("council_database_away", "1 while it is away", float(contact.is_away))
        words = "How long it was away in all"
        yield CounterMetricFamily("council_database_away_seconds", words, contact.away_seconds)
        errors = CounterMetricFamily("council_database_errors", "Acts that failed", labels=["kind"])
        yield filled(errors, (((kind,), count) for kind, count in contact.errors.items()))
        states = GaugeMetricFamily("council_database_connections", "By state", labels=["state"])
        yield filled(states, (((state,), count) for state, count in _pool(engine).items()))

    try:
        with collected(figures):
            yield
    finally:
        event.remove(sync, "handle_error", contact.failed)
        event.remove(sync, "checkout", contact.answered)


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(name, words, value)


def _pool(engine: AsyncEngine) -> Mapping[str, int]:
    pool = engine.sync_engine.pool
    if not isinstance(pool, QueuePool):
        return {}
    return {"in use": pool.checkedout(), "idle": pool.checkedin(), "kept": pool.size()}
