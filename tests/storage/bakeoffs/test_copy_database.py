"""Rows of bake-offs are copied to another database as well."""

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from storage.copy_database import copy_database
from tests.storage.bakeoffs.benches import a_record, sql_bakeoff_stores
from tests.storage.test_copy_database import ignore_progress, store_everything


@pytest.fixture
async def filled(engine: AsyncEngine) -> AsyncEngine:
    await store_everything(engine)
    return engine


async def test_numbering_continues_after_the_last_copied_row(
    filled: AsyncEngine, server_engine: AsyncEngine
) -> None:
    await copy_database(filled, server_engine, ignore_progress)
    bakeoff_stores = sql_bakeoff_stores(server_engine)

    await bakeoff_stores.records.save([a_record("odd", panel="another")])

    assert len([*await bakeoff_stores.records.list_recent()]) == 2
