"""Fixtures: a Postgres server for each test worker, and an empty database for each test."""

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.postgres.server import ReusedDatabase, Server, a_database, why_not

MIGRATED = "migrated"


@pytest.fixture(scope="session")
def _server() -> Iterator[Server]:
    why = why_not()
    if why and os.environ.get("COUNCIL_REQUIRE_LOCAL") == "1":
        pytest.fail(f"COUNCIL_REQUIRE_LOCAL=1, but: {why}")
    if why:
        pytest.skip(why)
    server = Server()
    server.start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def _migrated(_server: Server) -> str:
    """Return the name of a migrated database to use as a template."""
    from storage.engine import open_engine
    from storage.migrate import upgrade

    async def migrate() -> None:
        engine = open_engine(_server.url(MIGRATED))
        await upgrade(engine)
        await engine.dispose()

    _server.execute(f"CREATE DATABASE {MIGRATED} TEMPLATE template0")
    # In a thread, because a test may be running an event loop.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, migrate()).result()
    return MIGRATED


@pytest.fixture
def postgres(_server: Server) -> Iterator[Server]:
    """Yield the server, for tests that stop and start it; it is started again afterwards."""
    yield _server
    _server.start()


@pytest.fixture
def postgres_url(_server: Server) -> Iterator[str]:
    """Yield the URL of a new, empty database."""
    with a_database(_server) as url:
        yield url


@pytest.fixture(scope="session")
def _reused(_server: Server, _migrated: str) -> ReusedDatabase:
    return ReusedDatabase(_server, _migrated)


@pytest.fixture
def migrated_url(_reused: ReusedDatabase) -> Iterator[str]:
    """Yield the URL of an empty, migrated database."""
    yield _reused.url
    _reused.restore()
