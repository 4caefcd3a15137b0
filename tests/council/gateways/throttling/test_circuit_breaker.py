"""The breaker stops calls to a dead model, and probes it with one call."""

import pytest

from council.errors import GatewayError
from council.gateways.throttling.circuit_breaker import MAX_OPEN_SECONDS, CircuitBreaker
from council.providers import BreakerState
from tests.council.gateways.throttling.manual_clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def breaker(clock: ManualClock) -> CircuitBreaker:
    return CircuitBreaker(clock.clock)


def fail(breaker: CircuitBreaker, times: int = 1) -> None:
    for _ in range(times):
        call = object()
        breaker.admit(call)
        breaker.record_failure(call)


def refusal(breaker: CircuitBreaker) -> str:
    with pytest.raises(GatewayError) as refused:
        breaker.admit(object())
    return str(refused.value)


def test_three_failures_in_a_row_open_it_and_say_for_how_long(
    breaker: CircuitBreaker, clock: ManualClock
) -> None:
    fail(breaker, 3)
    clock.now = 6.0

    assert breaker.state is BreakerState.OPEN
    assert refusal(breaker) == ("was not asked: it failed 3 times in a row; it is retried in 24 s")


def test_a_success_resets_the_count(breaker: CircuitBreaker) -> None:
    fail(breaker, 2)
    breaker.record_success()
    fail(breaker, 2)

    assert breaker.state is BreakerState.CLOSED


def test_after_the_wait_one_call_probes_and_others_are_refused(
    breaker: CircuitBreaker, clock: ManualClock
) -> None:
    fail(breaker, 3)
    clock.now = 30.0
    probe = object()

    breaker.admit(probe)
    breaker.admit(probe)  # its own second attempt

    assert breaker.state is BreakerState.HALF_OPEN
    assert refusal(breaker).endswith("in a row; it is being retried now")


def test_a_successful_probe_closes_it(breaker: CircuitBreaker, clock: ManualClock) -> None:
    fail(breaker, 3)
    clock.now = 30.0
    breaker.admit(object())

    breaker.record_success()

    assert breaker.state is BreakerState.CLOSED
    breaker.admit(object())


def test_each_failed_probe_opens_it_for_longer_up_to_a_cap(
    breaker: CircuitBreaker, clock: ManualClock
) -> None:
    fail(breaker, 3)
    waits = []

    for _ in range(6):
        before, seconds = clock.now, 0
        while breaker.state is BreakerState.OPEN:
            seconds += 1
            clock.now = before + seconds
        waits.append(seconds)
        fail(breaker)

    assert waits == [30, 60, 120, 240, MAX_OPEN_SECONDS, MAX_OPEN_SECONDS]


def test_a_probe_without_an_outcome_lets_another_probe(
    breaker: CircuitBreaker, clock: ManualClock
) -> None:
    fail(breaker, 3)
    clock.now = 30.0
    probe, following = object(), object()
    breaker.admit(probe)

    breaker.release_probe(probe)

    breaker.admit(following)
    assert breaker.refuses(probe)


def test_an_earlier_call_that_fails_does_not_extend_the_wait(
    breaker: CircuitBreaker, clock: ManualClock
) -> None:
    late = object()
    breaker.admit(late)
    fail(breaker, 3)
    clock.now = 20.0

    breaker.record_failure(late)

    clock.now = 30.0
    assert breaker.state is BreakerState.HALF_OPEN
