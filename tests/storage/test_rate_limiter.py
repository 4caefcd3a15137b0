"""The contract of every shared rate limiter, in memory or in the database."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from council.ports import SharedRateLimiter
from council.providers import Limits
from storage.rate_limiter import SqlRateLimiter
from tests.storage.builders import wait_until
from tests.storage.rate_limiter_crowd import (
    MINUTE_SECONDS,
    Callers,
    in_memory_limiters,
    postgres_limiters,
)

TWO = Limits(concurrency=2)


@pytest.fixture(params=["memory", "postgres"])
async def crowd(request: pytest.FixtureRequest) -> AsyncIterator[Callers]:
    if request.param == "memory":
        yield Callers(in_memory_limiters())
        return
    async with postgres_limiters(request.getfixturevalue("migrated_url")) as limiters:
        yield Callers(limiters)


async def test_no_more_of_200_callers_at_three_processes_hold_a_turn_than_may(
    crowd: Callers,
) -> None:
    limits = Limits(concurrency=7)

    async with asyncio.timeout(30):
        await asyncio.gather(
            *(crowd.ask(str(number), number % 3, limits, 0.002) for number in range(200))
        )

    assert len(crowd.order) == 200
    assert crowd.most == 7


async def test_no_more_begin_in_any_minute_than_may(crowd: Callers) -> None:
    limits = Limits(concurrency=50, requests_per_minute=10)

    async with asyncio.timeout(30):
        await asyncio.gather(*(crowd.ask(str(n), n % 3, limits) for n in range(25)))

    began = sorted(crowd.moments)
    # The callers record the times themselves, some milliseconds after they are admitted.
    gaps = [later - first for first, later in zip(began, began[10:], strict=False)]
    assert min(gaps) > 0.8 * MINUTE_SECONDS


async def test_the_first_caller_is_admitted_first_in_any_process(crowd: Callers) -> None:
    one = Limits(concurrency=1)
    early = [asyncio.create_task(crowd.ask("early", 0, one, 0.01)) for _ in range(10)]
    await crowd.entered(1)
    single = asyncio.create_task(crowd.ask("single", 1, one, 0.01))
    await wait_for_sync(crowd.processes[1])
    late = [asyncio.create_task(crowd.ask("late", 0, one, 0.01)) for _ in range(10)]

    async with asyncio.timeout(30):
        await asyncio.gather(*early, single, *late)

    assert crowd.order.index("single") <= 11


async def wait_for_sync(limiter: SharedRateLimiter) -> None:
    """Wait until the other processes, if there are any, know the waiting callers of a limiter."""
    await asyncio.sleep(0)
    await wait_until(
        lambda: not isinstance(limiter, SqlRateLimiter) or limiter.provider_load("openai")
    )


async def test_a_cancelled_caller_takes_no_turn(crowd: Callers) -> None:
    holding = [asyncio.create_task(crowd.ask("holds", number, TWO, 99)) for number in (0, 1)]
    await crowd.entered(2)
    leaving = [asyncio.create_task(crowd.ask("leaves", number % 3, TWO)) for number in range(6)]
    await asyncio.sleep(0.1)
    for task in leaving:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    for task in holding:
        task.cancel()

    async with asyncio.timeout(10):
        await crowd.ask("stays", 2, TWO)

    assert crowd.order == ["holds", "holds", "stays"]


async def test_a_failed_call_releases_its_turn(crowd: Callers) -> None:
    one = Limits(concurrency=1)
    with pytest.raises(OSError, match="gone"):
        async with crowd.processes[0].slot("openai", one):
            raise OSError("gone")

    async with asyncio.timeout(20):
        await crowd.ask("next", 1, one)

    assert crowd.order == ["next"]


async def test_addresses_do_not_wait_for_each_other(crowd: Callers) -> None:
    one = Limits(concurrency=1)

    async with asyncio.timeout(20), crowd.processes[0].slot("groq", one):
        await crowd.ask("openai", 1, one)

    assert crowd.order == ["openai"]
