"""Tickets of processes that die, of callers that leave, and a database that is away."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from council.gateways.throttling.rate_limiter import Clock, RateLimiter
from council.providers import Limits
from council.providers import ProviderLoad as Figures
from storage.rate_limiter import SqlRateLimiter
from tests.postgres import Server
from tests.storage.rate_limiter_crowd import GATE, Callers, postgres_limiters

ONE = Limits(concurrency=1)


@pytest.fixture
async def turnstiles(migrated_url: str) -> AsyncIterator[list[SqlRateLimiter]]:
    async with postgres_limiters(migrated_url) as found:
        yield found


def rows(postgres: Server, url: str, what: str) -> list[tuple[object, ...]]:
    return postgres.execute(what, name=url.rpartition("/")[2])


async def until_none(postgres: Server, url: str, where: str) -> None:
    """Wait until no ticket is so."""
    async with asyncio.timeout(20):
        while rows(postgres, url, f"SELECT 1 FROM turn WHERE {where}"):  # noqa: ASYNC110, S608
            await asyncio.sleep(0.02)


async def test_the_turn_of_a_dead_process_is_free_after_half_a_minute(
    turnstiles: list[SqlRateLimiter], postgres: Server, migrated_url: str
) -> None:
    crowd = Callers(turnstiles)
    died = asyncio.create_task(crowd.ask("died", 0, ONE, 99))
    await crowd.entered(1)
    await turnstiles[0]._gates[GATE].close()  # nobody renews it any more
    waits = asyncio.create_task(crowd.ask("waits", 1, ONE))
    await asyncio.sleep(0.3)
    before = [*crowd.order]

    rows(postgres, migrated_url, "UPDATE turn SET until = until - interval '30 s' RETURNING 1")

    async with asyncio.timeout(20):
        await waits
    assert (before, crowd.order) == (["died"], ["died", "waits"])
    died.cancel()


async def test_a_silent_waiter_does_not_block_others(
    turnstiles: list[SqlRateLimiter], postgres: Server, migrated_url: str
) -> None:
    rows(
        postgres,
        migrated_url,
        "INSERT INTO turn (id, gate, holder, asked_at, until) VALUES ('t', 'openai', 'frozen', "
        "now() - interval '9 s', now() - interval '3 s') RETURNING 1",
    )

    async with asyncio.timeout(5):
        await Callers(turnstiles).ask("lives", 0, ONE)


async def test_a_caller_that_leaves_or_finishes_leaves_no_ticket(
    turnstiles: list[SqlRateLimiter], postgres: Server, migrated_url: str
) -> None:
    crowd = Callers(turnstiles)
    holds = asyncio.create_task(crowd.ask("holds", 0, ONE, 0.5))
    await crowd.entered(1)
    leaves = asyncio.create_task(crowd.ask("leaves", 1, ONE))
    await asyncio.sleep(0.1)
    leaves.cancel()

    await until_none(postgres, migrated_url, "begun_at IS NULL")
    await holds
    await until_none(postgres, migrated_url, "true")


async def test_a_waiting_process_sees_the_load_of_all_processes(
    turnstiles: list[SqlRateLimiter],
) -> None:
    crowd, two = Callers(turnstiles), Limits(concurrency=2)
    asking = [asyncio.create_task(crowd.ask("", number, two, 99)) for number in (0, 1, 2, 2)]
    all_of_it = Figures(under_way=2, waiting=2)

    async with asyncio.timeout(20):
        while all_of_it not in [turnstile.provider_load(GATE) for turnstile in turnstiles]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    for task in asking:
        task.cancel()


async def test_while_the_database_is_away_calls_go_on_under_the_process_own_limits(
    migrated_url: str, postgres: Server
) -> None:
    heard: list[bool] = []
    async with postgres_limiters(migrated_url, heard.append) as (turnstile, *_):
        turns = RateLimiter(Limits(concurrency=2), Clock(), turnstile, GATE)
        async with turns.turn("openai"):
            pass
        postgres.stop()
        most, came = 0, time.monotonic()

        async def call() -> None:
            nonlocal most
            async with turns.turn("openai"):
                most = max(most, turns.under_way)
                await asyncio.sleep(0.01)

        await asyncio.gather(*(call() for _ in range(20)))
        took = time.monotonic() - came
        postgres.start()
        async with asyncio.timeout(10):
            while heard != [False, True]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

        assert (most, heard) == (2, [False, True])
        assert took < 4
