"""What one process observes of a model applies in the others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from council.gateways.throttling.provider import ProviderAddress, Throttling
from council.gateways.throttling.rate_limiter import Clock, RateLimiter
from council.providers import BreakerState, HintKind, Limits, ProviderHint, ProviderLoad
from tests.council.gateways.throttling.manual_clock import ManualClock, started
from tests.council.gateways.throttling.test_provider import OPENAI, OWN, fail, succeed

MODEL = "openai/a"


class Cluster:
    """Two processes that tell each other what they learn."""

    def __init__(self, clock: ManualClock) -> None:
        self.hints: list[ProviderHint] = []
        self.here, self.there = (
            Throttling({}, clock.clock, publish=self.publish) for _ in range(2)
        )
        self.queues = [throttling.queue(OPENAI, MODEL) for throttling in (self.here, self.there)]

    def publish(self, hint: ProviderHint) -> None:
        self.hints.append(hint)

    def spread(self) -> None:
        """Deliver all hints to every process, as a bus does: to the sender too."""
        for hint in self.hints:
            self.here.apply_hint(hint)
            self.there.apply_hint(hint)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def cluster(clock: ManualClock) -> Cluster:
    return Cluster(clock)


async def test_a_pause_in_one_process_applies_in_all_and_counts_once(
    cluster: Cluster,
) -> None:
    with cluster.queues[0].call() as call:
        call.hold_off(7)
    cluster.spread()

    assert [queue.pause.is_over for queue in cluster.queues] == [False, False]
    assert [queue.pause.count for queue in cluster.queues] == [1, 0]


async def test_a_breaker_opens_in_all_processes(cluster: Cluster, clock: ManualClock) -> None:
    await fail(cluster.queues[0])
    cluster.spread()

    assert [queue.breaker.state for queue in cluster.queues] == [BreakerState.OPEN] * 2
    clock.now += 30
    assert [queue.breaker.state for queue in cluster.queues] == [BreakerState.HALF_OPEN] * 2


async def test_a_breaker_closes_in_all_processes(cluster: Cluster, clock: ManualClock) -> None:
    await fail(cluster.queues[0])
    cluster.spread()
    clock.now += 30

    await succeed(cluster.queues[1])
    cluster.spread()

    assert cluster.hints[-1].lesson is HintKind.BACK
    assert cluster.queues[0].breaker.state is BreakerState.CLOSED


async def test_a_hint_does_not_stop_a_probe(cluster: Cluster, clock: ManualClock) -> None:
    await fail(cluster.queues[0])
    clock.now += 30
    probe = object()
    cluster.queues[0].breaker.admit(probe)

    cluster.queues[0].breaker.keep_open(30)

    assert not cluster.queues[0].breaker.refuses(probe)


def test_the_name_of_an_address_has_no_path_or_secret() -> None:
    own = ProviderAddress("openai", "https://me:secret@models.example.com:8080/v1/x?key=1")

    assert (OPENAI.gate, own.gate) == ("openai", "openai at models.example.com:8080")


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:80"])
def test_a_loopback_address_is_named_per_machine(host: str) -> None:
    gate = ProviderAddress("openai", f"http://{host}/v1").gate

    assert gate.startswith(f"openai at {host} of ")


class Open:
    """Lets everybody through, as a turnstile does that nobody can count by."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @asynccontextmanager
    async def slot(self, gate: str, limits: Limits) -> AsyncIterator[None]:
        self.asked.append(gate)
        yield

    def provider_load(self, gate: str) -> ProviderLoad | None:
        return ProviderLoad(5, 1)


async def test_the_local_limits_hold_without_a_shared_limiter() -> None:
    turns, entered = RateLimiter(Limits(concurrency=1), Clock(), Open(), "openai"), []

    async def call() -> None:
        async with turns.turn("openai"):
            entered.append(turns.under_way)

    async with turns.turn("openai"), started(call(), call()):
        assert (turns.under_way, turns.waiting, entered) == (1, 2, [])


async def test_a_shared_limiter_is_used_by_address(
    clock: ManualClock,
) -> None:
    shared = Open()
    throttling = Throttling({}, clock.clock, shared)

    await succeed(throttling.queue(OPENAI, MODEL))
    await succeed(throttling.queue(OWN, MODEL))

    first, second = throttling.health().providers
    assert shared.asked == [OPENAI.gate, OWN.gate]
    assert (first.everywhere, first.turns) == (ProviderLoad(5, 1), 1)
    assert second.address == "127.0.0.1:8080"
