"""Votes of closed rounds: stored as records are, and deleted with their rounds."""

from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from council.bakeoffs.records import VERSION as RECORDS
from council.bakeoffs.records import PackedRecord
from council.bias.votes import VERSION
from storage.rounds import SqlRoundStore
from tests.storage.benches import T1, Stores, a_record, sql_bakeoff_stores
from tests.storage.builders import BOTH, a_closed_round, in_memory_too

SHAPE = '[["a","b"],["x","y"],2]'
DATABASES = BOTH


def a_votes(round_id: str = "r1", **fields: object) -> PackedRecord:
    return a_record(round_id, **{"shape": SHAPE, "version": VERSION, **fields})


async def store_closed(stores: Stores, *round_ids: str) -> None:
    for round_id in round_ids:
        await stores.store.open(a_closed_round(round_id))


@in_memory_too
async def test_votes_and_records_are_stored_and_missing_independently(stores: Stores) -> None:
    await store_closed(stores, "a", "b")

    await stores.bakeoff_stores.records.save([a_record("a"), a_record("b")])
    await stores.bakeoff_stores.votes.save([a_votes("a")])

    assert await stores.bakeoff_stores.records.list_missing(9) == ()
    assert await stores.bakeoff_stores.votes.list_missing(9) == ("b",)
    assert [*await stores.bakeoff_stores.votes.list_recent()] == [a_votes("a")]
    assert len(await stores.bakeoff_stores.records.list_recent()) == 2


@in_memory_too
async def test_a_deleted_round_loses_its_votes(stores: Stores) -> None:
    place = replace(a_closed_round("r1").question, place=T1)
    await stores.store.open(replace(a_closed_round("r1"), question=place))
    await store_closed(stores, "r2")
    await stores.bakeoff_stores.votes.save([a_votes("r1"), a_votes("r2", scope="")])

    await stores.store.delete_workspace("slack", "T1")

    assert [votes.round_id for votes in await stores.bakeoff_stores.votes.list_recent()] == ["r2"]


@pytest.mark.parametrize("kept", ["records", "votes"])
async def test_a_source_remains_while_a_record_or_a_vote_uses_it(
    engine: AsyncEngine, kept: str
) -> None:
    store, bakeoff_stores = SqlRoundStore(engine), sql_bakeoff_stores(engine)
    await store.open(a_closed_round("r1"))
    await getattr(bakeoff_stores, kept).save([a_votes("r1", version=_version(kept))])

    await store.delete_workspace("slack", "another")

    assert len(await getattr(bakeoff_stores, kept).list_recent()) == 1


def _version(kept: str) -> int:
    return VERSION if kept == "votes" else RECORDS
