"""Rate limits: concurrency and requests per minute, first come, first served."""

import asyncio
from collections.abc import Awaitable

import pytest

from council.gateways.throttling.rate_limiter import RateLimiter
from council.providers import Limits
from tests.council.gateways.throttling.manual_clock import (
    ManualClock,
    cancel_and_get_notes,
    settled,
    started,
)


class Calls:
    """Calls that take a turn each and keep it until they are told to end."""

    def __init__(self, limits: Limits, clock: ManualClock) -> None:
        self.turns = RateLimiter(limits, clock.clock)
        self.begun: list[int] = []
        self.ends: dict[int, asyncio.Event] = {}

    async def take(self, number: int) -> None:
        self.ends[number] = asyncio.Event()
        async with self.turns.turn("openai"):
            self.begun.append(number)
            await self.ends[number].wait()

    async def end(self, number: int) -> None:
        self.ends[number].set()
        await settled()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def many(calls: Calls, count: int) -> list[Awaitable[object]]:
    return [calls.take(number) for number in range(count)]


async def test_concurrency_stays_within_the_limit(clock: ManualClock) -> None:
    calls = Calls(Limits(concurrency=2), clock)

    async with started(*many(calls, 5)):
        assert calls.begun == [0, 1]
        assert (calls.turns.under_way, calls.turns.waiting) == (2, 3)
        await calls.end(1)
        assert calls.begun == [0, 1, 2]
    assert (calls.turns.under_way, calls.turns.waiting) == (0, 0)


async def test_requests_per_minute_stay_within_the_limit(clock: ManualClock) -> None:
    calls = Calls(Limits(requests_per_minute=2), clock)

    async with started(*many(calls, 2)):
        await clock.move(59)
        async with started(calls.take(2), calls.take(3), calls.take(4)):
            assert calls.begun == [0, 1]
            await clock.move(1)
            assert calls.begun == [0, 1, 2, 3]
            await clock.move(59)
            assert calls.begun == [0, 1, 2, 3]
            await clock.move(1)
            assert calls.begun == [0, 1, 2, 3, 4]


async def test_a_cancelled_wait_has_a_note_and_frees_the_turn(
    clock: ManualClock,
) -> None:
    calls = Calls(Limits(concurrency=1), clock)

    async with started(*many(calls, 3)) as (_, impatient, _):
        assert await cancel_and_get_notes(impatient) == [
            "waited for its turn at openai until the time was up"
        ]
        await calls.end(0)
        assert calls.begun == [0, 2]


async def test_a_cancelled_wait_for_the_minute_is_not_counted(
    clock: ManualClock,
) -> None:
    calls = Calls(Limits(concurrency=5, requests_per_minute=1), clock)

    async with started(*many(calls, 3)) as (_, impatient, _):
        assert await cancel_and_get_notes(impatient) == [
            "waited for its turn at openai until the time was up"
        ]
        await clock.move(60)
        assert calls.begun == [0, 2]
        assert calls.turns.under_way == 2


async def test_a_failed_call_releases_its_turn(clock: ManualClock) -> None:
    calls = Calls(Limits(concurrency=1), clock)

    with pytest.raises(OSError, match="gone"):
        async with calls.turns.turn("openai"):
            raise OSError("gone")

    async with asyncio.timeout(1), calls.turns.turn("openai"):
        assert calls.turns.under_way == 1
