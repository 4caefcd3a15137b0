"""Turns at a provider: so many at once, so many a minute, first come first served."""

import asyncio
from collections.abc import Awaitable

import pytest

from council.gateways.throttling.limits import RateLimiter
from council.providers import Limits
from tests.council.gateways.throttling.manual_clock import Hands, begun, notes_of, settled


class Calls:
    """Calls that take a turn each and keep it until they are told to end."""

    def __init__(self, limits: Limits, hands: Hands) -> None:
        self.turns = RateLimiter(limits, hands.clock)
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
def hands() -> Hands:
    return Hands()


def many(calls: Calls, count: int) -> list[Awaitable[object]]:
    return [calls.take(number) for number in range(count)]


async def test_no_more_are_under_way_than_the_limit(hands: Hands) -> None:
    calls = Calls(Limits(concurrency=2), hands)

    async with begun(*many(calls, 5)):
        assert calls.begun == [0, 1]
        assert (calls.turns.under_way, calls.turns.waiting) == (2, 3)
        await calls.end(1)
        assert calls.begun == [0, 1, 2]
    assert (calls.turns.under_way, calls.turns.waiting) == (0, 0)


async def test_no_more_begin_in_any_minute_than_the_limit(hands: Hands) -> None:
    calls = Calls(Limits(requests_per_minute=2), hands)

    async with begun(*many(calls, 2)):
        await hands.move(59)
        async with begun(calls.take(2), calls.take(3), calls.take(4)):
            assert calls.begun == [0, 1]
            await hands.move(1)
            assert calls.begun == [0, 1, 2, 3]
            await hands.move(59)
            assert calls.begun == [0, 1, 2, 3]
            await hands.move(1)
            assert calls.begun == [0, 1, 2, 3, 4]


async def test_whoever_stops_waiting_says_why_and_leaves_the_turn_to_the_next(
    hands: Hands,
) -> None:
    calls = Calls(Limits(concurrency=1), hands)

    async with begun(*many(calls, 3)) as (_, impatient, _):
        assert await notes_of(impatient) == ["waited for its turn at openai until the time was up"]
        await calls.end(0)
        assert calls.begun == [0, 2]


async def test_whoever_stops_waiting_for_the_minute_is_not_counted_in_it(hands: Hands) -> None:
    calls = Calls(Limits(concurrency=5, requests_per_minute=1), hands)

    async with begun(*many(calls, 3)) as (_, impatient, _):
        assert await notes_of(impatient) == ["waited for its turn at openai until the time was up"]
        await hands.move(60)
        assert calls.begun == [0, 2]
        assert calls.turns.under_way == 2


async def test_a_call_that_fails_gives_its_turn_back(hands: Hands) -> None:
    calls = Calls(Limits(concurrency=1), hands)

    with pytest.raises(OSError, match="gone"):
        async with calls.turns.turn("openai"):
            raise OSError("gone")

    async with asyncio.timeout(1), calls.turns.turn("openai"):
        assert calls.turns.under_way == 1
