"""Leader lock on Postgres: one process at a time, and start-up work done once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.commands.buttons import ActionDeduplicator
from bot.web.auth import load_shared_signing_key
from council.bakeoffs.models import Suite, SuiteQuestion
from storage.bakeoffs import SqlSuites
from storage.engine import open_engine
from storage.key_value import SqlKeyValueStore
from storage.locks import SqlLeaderLock
from tests.bot.cluster_fakes import processes
from tests.builders import ASKED_AT


@pytest.fixture
async def engines(migrated_url: str) -> AsyncIterator[list[AsyncEngine]]:
    """Yield three engines on one database, as three processes have them."""
    async with AsyncExitStack() as stack:
        engines = [open_engine(migrated_url) for _ in range(3)]
        for engine in engines:
            stack.push_async_callback(engine.dispose)
        yield engines


async def test_one_process_at_a_time_is_alone_with_a_name(engines: list[AsyncEngine]) -> None:
    first, second, _ = map(SqlLeaderLock, engines)

    held = first("experiment bx:1")
    async with held as is_first, second("experiment bx:1") as again, second("bx:2") as other:
        assert (is_first, again, other) == (True, False, True)
    async with second("experiment bx:1") as is_free:
        assert is_free


async def test_what_a_process_was_alone_with_is_free_when_its_connection_ends(
    engines: list[AsyncEngine],
) -> None:
    first, second, third = map(SqlLeaderLock, engines)
    async with first("forgetting"):
        async with engines[2].connect() as admin:
            await admin.exec_driver_sql(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory'"
            )
        async with second("forgetting") as is_free:
            assert is_free
    async with third("forgetting") as is_free:
        assert is_free


async def test_of_many_processes_that_start_at_once_one_makes_the_key(
    engines: list[AsyncEngine],
) -> None:
    keys = await asyncio.gather(
        *(load_shared_signing_key(SqlKeyValueStore(engine)) for engine in engines)
    )

    assert len({*keys}) == 1
    assert len(keys[0]) == 32


async def test_house_suites_are_stored_once(engines: list[AsyncEngine]) -> None:
    house = [Suite(name, (SuiteQuestion(f"Why {name}?"),)) for name in ("sql", "maths")]

    await asyncio.gather(
        *(SqlSuites(engine).save(x, "council.toml", ASKED_AT) for engine in engines for x in house)
    )

    for name in ("sql", "maths"):
        assert len(await SqlSuites(engines[0]).versions("", name)) == 1


async def test_a_press_counts_once_among_three_processes(engines: list[AsyncEngine]) -> None:
    _, apps = processes(3)
    done: list[str] = []

    async def act() -> None:
        done.append("done")

    for app, engine in zip(apps, engines, strict=True):
        app.key_values = SqlKeyValueStore(engine)
    does = ("U1", "C1", "again", "r1")
    presses = (ActionDeduplicator(app).do(does, act, everywhere=True) for app in apps)
    assert sorted(await asyncio.gather(*presses)) == [False, False, True]
    assert done == ["done"]
