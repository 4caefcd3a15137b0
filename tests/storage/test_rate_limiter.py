"""The contract of every shared rate limiter, and tickets of processes that die."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from council.gateways.throttling.rate_limiter import Clock, RateLimiter
from council.ports import SharedRateLimiter
from council.providers import Limits, ProviderLoad
from storage.rate_limiter import SqlRateLimiter
from tests.postgres import Server
from tests.storage.builders import wait_until
from tests.storage.rate_limiter_crowd import (
    GATE,
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

    async with asyncio.timeout(20):
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
