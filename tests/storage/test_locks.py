"""Leader lock on Postgres: one process at a time holds a name."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from storage.engine import open_engine
from storage.locks import SqlLeaderLock


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
