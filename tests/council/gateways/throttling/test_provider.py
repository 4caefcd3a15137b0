"""Queues of models: which calls wait for each other, and which never do."""

import asyncio
import math
from contextlib import AsyncExitStack

import pytest

from council.errors import GatewayError, RateLimitError
from council.gateways.throttling.provider import ProviderAddress, ProviderQueue, Throttling
from council.providers import BreakerState, Limits
from tests.council.gateways.throttling.manual_clock import (
    ManualClock,
    cancel_and_get_notes,
    settled,
    started,
)

OPENAI = ProviderAddress("openai")
OWN = ProviderAddress("openai", "http://me:secret@127.0.0.1:8080/v1")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def throttling(clock: ManualClock) -> Throttling:
    return Throttling({}, clock.clock)


async def succeed(queue: ProviderQueue) -> str:
    """Ask once, and be answered at once."""
    with queue.call() as call:
        async with call.turn():
            await asyncio.sleep(0)
        call.settle(failed=False)
    return "answered"


async def fail(queue: ProviderQueue, times: int = 3) -> None:
    for _ in range(times):
        with queue.call() as call:
            async with call.turn():
                pass
            call.settle(failed=True)


PAST, FUTURE = 0.0, math.inf  # deadlines


async def hang(queue: ProviderQueue, deadline: float = PAST) -> None:
    """Call a model that does not answer; whoever cancels it does so at its deadline."""
    with queue.call(deadline) as call:
        async with call.turn():
            await asyncio.Event().wait()


async def rate_limited(queue: ProviderQueue, seconds: float) -> None:
    """Be asked to slow down, and come back after that."""
    with queue.call() as call:
        async with call.turn():
            call.hold_off(seconds)
        await call.wait(seconds, "asked us to slow down (429)")
        async with call.turn():
            pass


def test_a_model_has_one_queue_per_address(throttling: Throttling) -> None:
    queue = throttling.queue(OPENAI, "openai/a")

    assert throttling.queue(OPENAI, "openai/a") is queue
    assert throttling.queue(OWN, "openai/a") is not queue
    assert throttling.queue(OPENAI, "openai/b").turns is queue.turns
    assert throttling.queue(OWN, "openai/a").turns is not queue.turns


def test_limits_by_host_override_limits_by_provider(clock: ManualClock) -> None:
    limits = {"openai": Limits(8), "127.0.0.1:8080": Limits(2, 60)}
    throttling = Throttling(limits, clock.clock)

    elsewhere = ProviderAddress("openai", "http://10.0.0.1/v1")
    found = [
        throttling.queue(at, "m").turns.limits
        for at in (OPENAI, OWN, elsewhere, ProviderAddress("groq"))
    ]

    assert found == [Limits(8), Limits(2, 60), Limits(8), Limits(20, None)]


async def test_an_open_breaker_does_not_affect_other_models(throttling: Throttling) -> None:
    await fail(throttling.queue(OPENAI, "openai/dead"))

    with pytest.raises(GatewayError, match="was not asked: it failed 3 times in a row"):
        await succeed(throttling.queue(OPENAI, "openai/dead"))
    assert await succeed(throttling.queue(OPENAI, "openai/well")) == "answered"
    assert await succeed(throttling.queue(OWN, "openai/dead")) == "answered"


async def test_calls_wait_for_the_end_of_a_pause_with_jitter(
    throttling: Throttling, clock: ManualClock
) -> None:
    queue = throttling.queue(OPENAI, "openai/slow")

    async with started(rate_limited(queue, 7), succeed(queue)) as (first, other):
        assert clock.sleeps == [7.0, 7.5]
        await clock.move(7)
        assert (first.done(), other.done()) == (True, False)
        await clock.move(0.5)
        assert other.done()


async def test_a_pause_affects_one_model_and_holds_no_turn(clock: ManualClock) -> None:
    throttling = Throttling({"openai": Limits(concurrency=1)}, clock.clock)
    slow = throttling.queue(OPENAI, "openai/slow")

    async with started(rate_limited(slow, 7), succeed(slow)):
        assert await succeed(throttling.queue(OPENAI, "openai/quick")) == "answered"


async def test_a_pause_that_is_too_long_fails_at_once(
    throttling: Throttling, clock: ManualClock
) -> None:
    queue = throttling.queue(OPENAI, "openai/slow")
    queue.pause.start(1e9)

    with pytest.raises(RateLimitError) as refused:
        await succeed(queue)

    assert str(refused.value) == (
        "was not asked: it asked us to slow down (429) for another 3600 s"
    )
    assert refused.value.retry_after_seconds == 3600
    await clock.move(3600)
    assert await succeed(queue) == "answered"


async def test_a_call_checks_breaker_and_pause_again_after_waiting_for_its_turn(
    clock: ManualClock,
) -> None:
    throttling = Throttling({"openai": Limits(concurrency=1)}, clock.clock)
    dead, slow = throttling.queue(OPENAI, "openai/dead"), throttling.queue(OPENAI, "openai/slow")

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(dead.turns.turn("openai"))
        async with started(succeed(dead), succeed(slow)) as (to_dead, to_slow):
            for _ in range(3):
                dead.breaker.record_failure(object())
            slow.pause.start(7)
            await stack.aclose()
            await settled()

            assert isinstance(to_dead.exception(), GatewayError)
            assert clock.sleeps == [7.5]
            await clock.move(7.5)
            assert to_slow.result() == "answered"


@pytest.mark.parametrize(
    ("deadline", "state"),
    [
        pytest.param(PAST, BreakerState.OPEN, id="at-its-deadline"),
        pytest.param(FUTURE, BreakerState.CLOSED, id="by-a-person"),
    ],
)
async def test_three_calls_cancelled_at_their_deadline_open_the_breaker_but_not_by_a_person(
    throttling: Throttling, deadline: float, state: BreakerState
) -> None:
    queue = throttling.queue(OPENAI, "openai/hangs")

    for _ in range(3):
        async with started(hang(queue, deadline)):
            pass

    assert queue.breaker.state is state


async def test_a_cancel_after_a_long_wait_is_not_a_failure(
    clock: ManualClock,
) -> None:
    throttling = Throttling({"openai": Limits(concurrency=1)}, clock.clock)
    full, queue = throttling.queue(OPENAI, "openai/full"), throttling.queue(OPENAI, "openai/late")

    for _ in range(3):
        async with started(hang(full)) as (first,), started(hang(queue)):
            await clock.move(50)
            await cancel_and_get_notes(first)
            await settled()
            assert full.turns.under_way == 1
            await clock.move(10)

    assert full.breaker.state is BreakerState.OPEN
    assert queue.breaker.state is BreakerState.CLOSED


async def test_health_has_limits_calls_and_breakers_but_no_secret(throttling: Throttling) -> None:
    queue = throttling.queue(OWN, "openai/mine")
    await fail(queue)
    queue.pause.start(7)
    async with throttling.queue(OPENAI, "openai/a").turns.turn("openai"):
        health = throttling.health()

    assert [(p.provider, p.address, p.under_way) for p in health.providers] == [
        ("openai", "127.0.0.1:8080", 0),
        ("openai", "", 1),
    ]
    mine, other = health.models
    assert (mine.breaker, mine.pauses, mine.retries) == (BreakerState.OPEN, 1, 0)
    assert (other.model, other.breaker) == ("openai/a", BreakerState.CLOSED)
    assert "secret" not in repr(health)
