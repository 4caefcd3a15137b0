"""Fixtures: a new database for each test, and each kind of store for contract tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from council.ports import Ledger, Store
from storage.engine import open_engine
from storage.ledger import SqlLedger
from storage.rounds import SqlRoundStore
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_store import MemoryStore
from tests.sqlite import new_file

DATABASE_KINDS = ["sqlite", "postgres"]
# The fixtures that exist for each kind of store.
CONTRACTS = {"store", "stores", "ledger", "key_values", "experiments", "site", "installations"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run contract tests on every kind of store, and others on all DATABASES of their module."""
    in_memory = metafunc.definition.get_closest_marker("in_memory_too") is not None
    for fixture in CONTRACTS.intersection(metafunc.fixturenames):
        kinds = [*(["memory"] if in_memory else []), *DATABASE_KINDS]
        metafunc.parametrize(fixture, kinds, indirect=True)
    databases = getattr(metafunc.module, "DATABASES", ())
    own = (mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if databases and "database" in metafunc.fixturenames and "database" not in own:
        metafunc.parametrize("database", databases)


@pytest.fixture
def database() -> str:
    return "sqlite"


@pytest.fixture
def url(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Return the URL of a new, migrated database."""
    if database == "sqlite":
        return new_file(tmp_path)
    migrated_url: str = request.getfixturevalue("migrated_url")
    return migrated_url


@pytest.fixture
async def engine(url: str) -> AsyncIterator[AsyncEngine]:
    """Yield the engine of a new, migrated database."""
    engine = open_engine(url)
    yield engine
    await engine.dispose()


@pytest.fixture
async def server_engine(migrated_url: str) -> AsyncIterator[AsyncEngine]:
    """Yield the engine of a new, migrated database on Postgres."""
    engine = open_engine(migrated_url)
    yield engine
    await engine.dispose()


def engine_of(request: pytest.FixtureRequest) -> AsyncEngine:
    """Return the engine for the kind of store in the parameter of a fixture."""
    name = "server_engine" if request.param == "postgres" else "engine"
    engine: AsyncEngine = request.getfixturevalue(name)
    return engine


@pytest.fixture
async def sql_store(engine: AsyncEngine) -> SqlRoundStore:
    return SqlRoundStore(engine)


@pytest.fixture
def store(request: pytest.FixtureRequest) -> Store:
    return MemoryStore() if request.param == "memory" else SqlRoundStore(engine_of(request))


@pytest.fixture
async def sql_ledger(engine: AsyncEngine) -> SqlLedger:
    return SqlLedger(engine)


@pytest.fixture
def ledger(request: pytest.FixtureRequest) -> Ledger:
    return MemoryLedger() if request.param == "memory" else SqlLedger(engine_of(request))
