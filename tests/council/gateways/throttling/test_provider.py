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
def traffic(clock: ManualClock) -> Throttling:
    return Throttling({}, clock.clock)


async def one(line: ProviderQueue) -> str:
    """Ask once, and be answered at once."""
    with line.call() as asking:
        async with asking.turn():
            await asyncio.sleep(0)
        asking.settle(failed=False)
    return "answered"


async def dies(line: ProviderQueue, times: int = 3) -> None:
    for _ in range(times):
        with line.call() as asking:
            async with asking.turn():
                pass
            asking.settle(failed=True)


PAST, FUTURE = 0.0, math.inf  # deadlines


async def hangs(line: ProviderQueue, deadline: float = PAST) -> None:
    """Call a model that does not answer; whoever cancels it does so at its deadline."""
    with line.call(deadline) as asking:
        async with asking.turn():
            await asyncio.Event().wait()


async def asked_to_wait(line: ProviderQueue, seconds: float) -> None:
    """Be asked to slow down, and come back after that."""
    with line.call() as asking:
        async with asking.turn():
            asking.hold_off(seconds)
        await asking.wait(seconds, "asked us to slow down (429)")
        async with asking.turn():
            pass


def test_a_model_has_one_line_at_each_address(traffic: Throttling) -> None:
    line = traffic.queue(OPENAI, "openai/a")

    assert traffic.queue(OPENAI, "openai/a") is line
    assert traffic.queue(OWN, "openai/a") is not line
    assert traffic.queue(OPENAI, "openai/b").turns is line.turns
    assert traffic.queue(OWN, "openai/a").turns is not line.turns


def test_limits_are_named_by_provider_or_by_host_which_goes_before(clock: ManualClock) -> None:
    limits = {"openai": Limits(8), "127.0.0.1:8080": Limits(2, 60)}
    traffic = Throttling(limits, clock.clock)

    elsewhere = ProviderAddress("openai", "http://10.0.0.1/v1")
    found = [
        traffic.queue(at, "m").turns.limits
        for at in (OPENAI, OWN, elsewhere, ProviderAddress("groq"))
    ]

    assert found == [Limits(8), Limits(2, 60), Limits(8), Limits(20, None)]


async def test_a_dead_model_does_not_silence_its_neighbours(traffic: Throttling) -> None:
    await dies(traffic.queue(OPENAI, "openai/dead"))

    with pytest.raises(GatewayError, match="was not asked: it failed 3 times in a row"):
        await one(traffic.queue(OPENAI, "openai/dead"))
    assert await one(traffic.queue(OPENAI, "openai/well")) == "answered"
    assert await one(traffic.queue(OWN, "openai/dead")) == "answered"


async def test_others_wait_out_a_pause_and_come_back_a_little_later(
    traffic: Throttling, clock: ManualClock
) -> None:
    line = traffic.queue(OPENAI, "openai/slow")

    async with started(asked_to_wait(line, 7), one(line)) as (first, other):
        assert clock.sleeps == [7.0, 7.5]
        await clock.move(7)
        assert (first.done(), other.done()) == (True, False)
        await clock.move(0.5)
        assert other.done()


async def test_a_pause_is_not_for_its_neighbours_and_holds_no_turn(clock: ManualClock) -> None:
    traffic = Throttling({"openai": Limits(concurrency=1)}, clock.clock)
    slow = traffic.queue(OPENAI, "openai/slow")

    async with started(asked_to_wait(slow, 7), one(slow)):
        assert await one(traffic.queue(OPENAI, "openai/quick")) == "answered"


async def test_a_deadline_in_a_pause_says_what_was_waited_for(traffic: Throttling) -> None:
    line = traffic.queue(OPENAI, "openai/slow")
    line.pause.start(7)

    async with started(one(line)) as (waits,):
        assert await cancel_and_get_notes(waits) == [
            "asked us to slow down (429) until the time was up"
        ]
    assert line.breaker.state is BreakerState.CLOSED


async def test_a_pause_that_is_too_long_fails_at_once(
    traffic: Throttling, clock: ManualClock
) -> None:
    line = traffic.queue(OPENAI, "openai/slow")
    line.pause.start(1e9)

    with pytest.raises(RateLimitError) as refused:
        await one(line)

    assert str(refused.value) == (
        "was not asked: it asked us to slow down (429) for another 3600 s"
    )
    assert refused.value.retry_after_seconds == 3600
    await clock.move(3600)
    assert await one(line) == "answered"


async def test_a_call_checks_breaker_and_pause_again_after_waiting_for_its_turn(
    clock: ManualClock,
) -> None:
    traffic = Throttling({"openai": Limits(concurrency=1)}, clock.clock)
    dead, slow = traffic.queue(OPENAI, "openai/dead"), traffic.queue(OPENAI, "openai/slow")

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(dead.turns.turn("openai"))
        async with started(one(dead), one(slow)) as (to_dead, to_slow):
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
    traffic: Throttling, deadline: float, state: BreakerState
) -> None:
    line = traffic.queue(OPENAI, "openai/hangs")

    for _ in range(3):
        async with started(hangs(line, deadline)):
            pass

    assert line.breaker.state is state


async def test_a_cancel_after_a_long_wait_for_a_turn_is_no_failure(
    clock: ManualClock,
) -> None:
    traffic = Throttling({"openai": Limits(concurrency=1)}, clock.clock)
    full, line = traffic.queue(OPENAI, "openai/full"), traffic.queue(OPENAI, "openai/late")

    for _ in range(3):
        async with started(hangs(full)) as (first,), started(hangs(line)):
            await clock.move(50)
            await cancel_and_get_notes(first)
            await settled()
            assert full.turns.under_way == 1
            await clock.move(10)

    assert full.breaker.state is BreakerState.OPEN
    assert line.breaker.state is BreakerState.CLOSED


async def test_health_tells_limits_calls_breakers_and_no_secret(traffic: Throttling) -> None:
    line = traffic.queue(OWN, "openai/mine")
    await dies(line)
    line.pause.start(7)
    async with traffic.queue(OPENAI, "openai/a").turns.turn("openai"):
        health = traffic.health()

    assert [(p.provider, p.address, p.under_way) for p in health.providers] == [
        ("openai", "127.0.0.1:8080", 0),
        ("openai", "", 1),
    ]
    mine, other = health.models
    assert (mine.breaker, mine.pauses, mine.retries) == (BreakerState.OPEN, 1, 0)
    assert (other.model, other.breaker) == ("openai/a", BreakerState.CLOSED)
    assert "secret" not in repr(health)
