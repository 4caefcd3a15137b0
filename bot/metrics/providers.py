"""Providers and their models: calls, turns, breakers, retries and pauses."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from bot.metrics.collected import collected, filled
from council.providers import BreakerState, Health, ModelHealth, ProviderHealth

_AT = ("provider", "address")
_OF = ("model", "address")


@contextmanager
def providers_watched(health: Callable[[], Health]) -> Iterator[None]:
    """Give a gateway's providers and models among the figures until the block ends."""

    def figures() -> Iterable[Metric]:
        found = health()
        yield from _of_providers(found.providers)
        yield from _of_models(found.models)

    with collected(figures):
        yield


def _of_providers(providers: tuple[ProviderHealth, ...]) -> Iterator[Metric]:
    yield filled(
        GaugeMetricFamily("council_calls_under_way", "Calls at a provider now", labels=_AT),
        (((p.provider, p.address), p.under_way) for p in providers),
    )
    yield filled(
        GaugeMetricFamily("council_calls_waiting", "Calls that wait for a turn", labels=_AT),
        (((p.provider, p.address), p.waiting) for p in providers),
    )
    yield filled(
        CounterMetricFamily("council_turns", "Turns that calls had", labels=_AT),
        (((p.provider, p.address), p.turns) for p in providers),
    )
    yield filled(
        CounterMetricFamily("council_turn_wait_seconds", "Waited for turns", labels=_AT),
        (((p.provider, p.address), p.waited_seconds) for p in providers),
    )
    yield filled(
        GaugeMetricFamily(
            "council_calls_everywhere",
            "Calls of all processes at a provider, as this one last saw",
            labels=(*_AT, "state"),
        ),
        _everywhere(providers),
    )


def _everywhere(providers: tuple[ProviderHealth, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
    # Paths of one host share their turns, so their figure is one and not added up.
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
