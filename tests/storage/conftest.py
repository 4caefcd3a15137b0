"""A database of its own for each test; both stores and both ledgers for what they promise."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from council.bakeoffs.ports import Bench
from council.ports import Ledger, Store
from storage.database import open_engine
from storage.ledger import SqlLedger
from storage.memory import MemoryOutgoing, MemoryStore
from storage.memory_bench import memory_bench
from storage.memory_ledger import MemoryLedger
from storage.outgoing import SqlOutgoing
from storage.schema import upgrade
from storage.sql import SqlStore
from tests.storage import builders
from tests.storage.benches import Books, sql_bench


@pytest.fixture
def url(tmp_path: Path) -> str:
    return builders.address(tmp_path)


@pytest.fixture
async def empty(url: str) -> AsyncIterator[AsyncEngine]:
    """Give the engine of a database without tables."""
    engine = open_engine(url)
    yield engine
    await engine.dispose()


@pytest.fixture
async def engine(empty: AsyncEngine) -> AsyncEngine:
    """Give the engine of a database with today's tables."""
    await upgrade(empty)
    return empty


@pytest.fixture
async def sql_store(engine: AsyncEngine) -> SqlStore:
    return SqlStore(engine)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest) -> Store:
    if request.param == "memory":
        return MemoryStore()
    found: SqlStore = request.getfixturevalue("sql_store")
    return found


@pytest.fixture
async def sql_ledger(engine: AsyncEngine) -> SqlLedger:
    return SqlLedger(engine)


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request: pytest.FixtureRequest) -> Ledger:
    if request.param == "memory":
        return MemoryLedger()
    found: SqlLedger = request.getfixturevalue("sql_ledger")
    return found


@pytest.fixture(params=["memory", "sqlite"])
def books(request: pytest.FixtureRequest) -> Books:
    if request.param == "memory":
        outgoing = MemoryOutgoing()
        store = MemoryStore(outgoing.drop)
        return Books(store, memory_bench(store), outgoing)
    engine: AsyncEngine = request.getfixturevalue("engine")
    return Books(SqlStore(engine), sql_bench(engine), SqlOutgoing(engine))


@pytest.fixture
def bench(books: Books) -> Bench:
    return books.bench
