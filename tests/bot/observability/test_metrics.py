"""The figures a Prometheus server reads of providers."""

from prometheus_client import REGISTRY, generate_latest

from bot.observability.metrics import export_provider_metrics
from council.providers import BreakerState, Health, Limits, ModelHealth, ProviderHealth

HEALTH = Health(
    providers=(
        ProviderHealth("openai", "", Limits(), under_way=3, waiting=2),
        ProviderHealth("openai", "127.0.0.1:8080", Limits(), under_way=1),
        ProviderHealth("openai", "127.0.0.1:8080", Limits(), under_way=1),  # another path
    ),
    models=(ModelHealth("openai/a", "", BreakerState.OPEN, retries=6, pauses=1),),
)


def figure(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


def test_calls_are_counted_by_provider_and_host() -> None:
    with export_provider_metrics(lambda: HEALTH):
        assert figure("council_calls_under_way", provider="openai", address="") == 3
        assert figure("council_calls_waiting", provider="openai", address="") == 2
        at_own = {"provider": "openai", "address": "127.0.0.1:8080"}
        assert figure("council_calls_under_way", **at_own) == 2


def test_breakers_retries_and_pauses_are_counted_by_model_and_host() -> None:
    model = {"model": "openai/a", "address": ""}

    with export_provider_metrics(lambda: HEALTH):
        states = [figure("council_breakers", state=state, **model) for state in BreakerState]
        assert states == [0, 1, 0]
        assert figure("council_retries_total", **model) == 6
        assert figure("council_pauses_total", **model) == 1


def test_metrics_end_with_their_gateway_and_two_gateways_are_summed() -> None:
    address = b'address="127.0.0.1:8080"'  # other gateways of this process have other addresses

    with export_provider_metrics(lambda: HEALTH), export_provider_metrics(Health):
        assert address in generate_latest()

    assert address not in generate_latest()
