"""Tickets of processes that die, of callers that leave, and a database that is away."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from council.gateways.throttling.rate_limiter import Clock, RateLimiter
from council.providers import Limits, ProviderLoad
from storage.rate_limiter import SqlRateLimiter
from tests.postgres import Server
from tests.storage.builders import wait_until
from tests.storage.rate_limiter_crowd import GATE, Callers, postgres_limiters

ONE = Limits(concurrency=1)


@pytest.fixture
async def limiters(migrated_url: str) -> AsyncIterator[list[SqlRateLimiter]]:
    async with postgres_limiters(migrated_url) as found:
        yield found


def rows(postgres: Server, url: str, what: str) -> list[tuple[object, ...]]:
    return postgres.execute(what, name=url.rpartition("/")[2])


async def until_tickets(postgres: Server, url: str, count: int, where: str) -> None:
    """Wait until so many tickets are like that."""
    query = f"SELECT 1 FROM turn WHERE {where}"  # noqa: S608
    await wait_until(lambda: len(rows(postgres, url, query)) == count)


async def test_the_turn_of_a_dead_process_is_free_after_half_a_minute(
    limiters: list[SqlRateLimiter], postgres: Server, migrated_url: str
) -> None:
    crowd = Callers(limiters)
    died = asyncio.create_task(crowd.ask("died", 0, ONE, 99))
    await crowd.entered(1)
    await limiters[0]._gates[GATE].close()  # nobody renews it any more
    waits = asyncio.create_task(crowd.ask("waits", 1, ONE))
    await until_tickets(postgres, migrated_url, 1, "begun_at IS NULL")
    before = [*crowd.order]

    rows(postgres, migrated_url, "UPDATE turn SET until = until - interval '30 s' RETURNING 1")

    async with asyncio.timeout(20):
        await waits
    assert (before, crowd.order) == (["died"], ["died", "waits"])
    died.cancel()


async def test_a_silent_waiter_does_not_block_others(
    limiters: list[SqlRateLimiter], postgres: Server, migrated_url: str
) -> None:
    rows(
        postgres,
        migrated_url,
        "INSERT INTO turn (id, gate, holder, asked_at, until) VALUES ('t', 'openai', 'frozen', "
        "now() - interval '9 s', now() - interval '3 s') RETURNING 1",
    )

    async with asyncio.timeout(5):
        await Callers(limiters).ask("lives", 0, ONE)


async def test_a_caller_that_leaves_or_finishes_leaves_no_ticket(
    limiters: list[SqlRateLimiter], postgres: Server, migrated_url: str
) -> None:
    crowd = Callers(limiters)
    holds = asyncio.create_task(crowd.ask("holds", 0, ONE, 0.5))
    await crowd.entered(1)
    leaves = asyncio.create_task(crowd.ask("leaves", 1, ONE))
    await until_tickets(postgres, migrated_url, 1, "begun_at IS NULL")
    leaves.cancel()

    await until_tickets(postgres, migrated_url, 0, "begun_at IS NULL")
    await holds
    await until_tickets(postgres, migrated_url, 0, "true")


async def test_a_waiting_process_sees_the_load_of_all_processes(
    limiters: list[SqlRateLimiter],
) -> None:
    crowd, two = Callers(limiters), Limits(concurrency=2)
    asking = [asyncio.create_task(crowd.ask("", number, two, 99)) for number in (0, 1, 2, 2)]
    all_of_it = ProviderLoad(under_way=2, waiting=2)

    await wait_until(lambda: all_of_it in [limiter.provider_load(GATE) for limiter in limiters])
    for task in asking:
        task.cancel()


async def test_while_the_database_is_away_calls_continue_under_local_limits(
    migrated_url: str, postgres: Server
) -> None:
    changes: list[bool] = []
    async with postgres_limiters(migrated_url, changes.append) as (shared, *_):
        limiter = RateLimiter(Limits(concurrency=2), Clock(), shared, GATE)
        async with limiter.turn("openai"):
            pass
        postgres.stop()
        most = 0

        async def call() -> None:
            nonlocal most
            async with limiter.turn("openai"):
                most = max(most, limiter.under_way)
                await asyncio.sleep(0.01)

        async with asyncio.timeout(60):
            await asyncio.gather(*(call() for _ in range(20)))
        postgres.start()
        await wait_until(lambda: changes == [False, True])

        assert most == 2
