"""Fixtures: the stores of bake-offs, of each kind, next to those of rounds."""

import pytest

from council.bakeoffs.ports import BakeoffStores
from storage.bakeoffs.hooks import BakeoffHooks
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from tests.fakes.bakeoffs.memory_bakeoffs import memory_bench
from tests.fakes.memory_outbox import MemoryOutbox
from tests.fakes.memory_store import MemoryStore
from tests.storage.bakeoffs.benches import Stores, sql_bakeoff_stores
from tests.storage.conftest import engine_of


@pytest.fixture
def stores(request: pytest.FixtureRequest) -> Stores:
    if request.param == "memory":
        outgoing = MemoryOutbox()
        store = MemoryStore()
        return Stores(store, memory_bench(store, outgoing.drop), outgoing)
    engine = engine_of(request)
    return Stores(
        SqlRoundStore(engine, (BakeoffHooks(),)), sql_bakeoff_stores(engine), SqlOutbox(engine)
    )


@pytest.fixture
def bakeoff_stores(stores: Stores) -> BakeoffStores:
    return stores.bakeoff_stores
