"""Records and votes of closed rounds: stored once for each, and read in bulk."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from council.bakeoffs.bias import votes
from council.bakeoffs.ports import ALL_RECORDS, BakeoffStores, RecordQuery
from council.bakeoffs.records import COMPUTED_SINCE, VERSION, PackedRecord
from council.rounds import Closing
from storage.bakeoffs.hooks import BakeoffHooks
from storage.bakeoffs.records import SqlRecords
from storage.bakeoffs.tables import SourceRow
from storage.rounds import SqlRoundStore
from storage.row_mapping import round_row
from storage.transactions import insert
from tests.builders import ASKED_AT, a_round
from tests.storage.bakeoffs.benches import Stores, a_record, sql_bakeoff_stores
from tests.storage.builders import BOTH, T1, T2, a_closed_round, in_memory_too

HOUR = timedelta(hours=1)
DATABASES = BOTH


async def store_closed(stores: Stores, *round_ids: str) -> None:
    for nth, round_id in enumerate(round_ids):
        at = ASKED_AT + nth * HOUR
        await stores.store.open(replace(a_closed_round(round_id), asked_at=at))


@in_memory_too
async def test_a_record_replaces_the_one_before(stores: Stores) -> None:
    await store_closed(stores, "r1")
    await stores.bakeoff_stores.records.save([a_record()])
    again = a_record(numbers=b"new", shape="[]", category="", number=4)

    await stores.bakeoff_stores.records.save([again])

    assert [*await stores.bakeoff_stores.records.list_recent()] == [again]


async def test_storing_no_records_does_nothing(bakeoff_stores: BakeoffStores) -> None:
    await bakeoff_stores.records.save([])

    assert [*await bakeoff_stores.records.list_recent()] == []


@in_memory_too
async def test_closed_rounds_without_a_record_are_missing_oldest_first(stores: Stores) -> None:
    await store_closed(stores, "c", "a", "b", "gone")
    await stores.store.open(replace(a_round(), id="open"))
    await stores.store.open(replace(a_round(), id="failed").with_(Closing(1.0, "Nobody answered.")))
    await stores.store.forget("gone", ASKED_AT, "salt")
    await stores.bakeoff_stores.records.save([a_record("a")])

    assert await stores.bakeoff_stores.records.list_missing(10) == (
        "c",
        "failed",
        "b",
        "gone",
    )
    assert await stores.bakeoff_stores.records.list_missing(1) == ("c",)


@in_memory_too
async def test_an_old_record_is_computed_again_only_while_its_round_has_texts(
    stores: Stores,
) -> None:
    await store_closed(stores, "r1", "r2")
    old = [a_record(id_, version=COMPUTED_SINCE - 1) for id_ in ("r1", "r2")]

    await stores.bakeoff_stores.records.save(old)
    await stores.store.forget("r2", ASKED_AT, "salt")

    assert await stores.bakeoff_stores.records.list_missing(10) == ("r1",)
    assert [*await stores.bakeoff_stores.records.list_recent()] == old


@in_memory_too
async def test_a_forgotten_round_keeps_what_was_computed_from_its_texts(stores: Stores) -> None:
    await store_closed(stores, "r1")
    await stores.bakeoff_stores.records.save([a_record()])
    await stores.store.forget("r1", ASKED_AT, "salt")

    await stores.bakeoff_stores.records.save([a_record(numbers=b"less")])

    assert [*await stores.bakeoff_stores.records.list_recent()] == [a_record()]


async def test_a_forgotten_round_keeps_its_record(stores: Stores) -> None:
    await store_closed(stores, "r1")
    await stores.bakeoff_stores.records.save([a_record()])

    await stores.store.forget("r1", ASKED_AT, "salt")

    assert [*await stores.bakeoff_stores.records.list_recent()] == [a_record()]


RECORDS = (
    a_record("a"),
    a_record("b", asked_at=ASKED_AT + HOUR, scope="", bakeoff="", number=0, category=""),
    a_record("c", asked_at=ASKED_AT + 2 * HOUR, panel="other", suite="maths", suite_version="f00"),
    a_record("d", asked_at=ASKED_AT + 2 * HOUR, scope=T2.scope, bakeoff="bo:2", shape="[]"),
)


@in_memory_too
@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        pytest.param(ALL_RECORDS, "abcd", id="every"),
        pytest.param(RecordQuery(scope=T1.scope), "ac", id="scope"),
        pytest.param(RecordQuery(scope=""), "b", id="house"),
        pytest.param(RecordQuery(suite="sql"), "abd", id="suite"),
        pytest.param(RecordQuery(suite="maths", suite_version="f00"), "c", id="version"),
        pytest.param(RecordQuery(suite="sql", suite_version="f00"), "", id="not-its-version"),
        pytest.param(RecordQuery(panel="other"), "c", id="panel"),
        pytest.param(RecordQuery(category="sums"), "acd", id="category"),
        pytest.param(RecordQuery(bakeoff="bo:2"), "d", id="bakeoff"),
        pytest.param(RecordQuery(newest=2), "cd", id="newest"),
        pytest.param(RecordQuery(scope=T1.scope, newest=5), "ac", id="fewer-than-asked"),
        pytest.param(RecordQuery(since=ASKED_AT + HOUR), "bcd", id="since"),
        pytest.param(RecordQuery(before=ASKED_AT + HOUR), "a", id="before"),
        pytest.param(
            RecordQuery(since=ASKED_AT + HOUR, before=ASKED_AT + 2 * HOUR), "b", id="window"
        ),
    ],
)
async def test_records_are_filtered_as_a_leaderboard_needs_them(
    stores: Stores, wanted: RecordQuery, ids: str
) -> None:
    await store_closed(stores, *"abcd")
    await stores.bakeoff_stores.records.save(RECORDS[::-1])

    found = await stores.bakeoff_stores.records.list_recent(wanted)

    assert [*found] == [record for record in RECORDS if record.round_id in ids]
    assert all(map(wanted.admits, found))


async def test_the_source_of_many_records_is_stored_once(engine: AsyncEngine) -> None:
    store, records = SqlRoundStore(engine, (BakeoffHooks(),)), SqlRecords(engine)
    for round_id in "abc":
        await store.open(a_closed_round(round_id))
    await records.save([a_record("a"), a_record("b")])
    await records.save([a_record("c")])

    async with engine.connect() as connection:
        count = await connection.execute(select(func.count()).select_from(SourceRow))

    assert count.scalar_one() == 1


async def test_the_record_of_a_deleted_round_is_skipped_alone(
    engine: AsyncEngine,
) -> None:
    records = SqlRecords(engine)
    await SqlRoundStore(engine, (BakeoffHooks(),)).open(a_closed_round("r1"))

    await records.save([a_record("r1"), a_record("gone")])

    assert [record.round_id for record in await records.list_recent()] == ["r1"]


async def test_very_many_records_are_stored_at_once(engine: AsyncEngine) -> None:
    records = SqlRecords(engine)
    ids = [f"r{nth:03}" for nth in range(300)]
    async with engine.begin() as connection:
        await insert(connection, [round_row(replace(a_round(), id=id_)) for id_ in ids])
    many = [*map(a_record, ids)]

    await records.save(many)

    assert [*await records.list_recent()] == many


SHAPE = '[["a","b"],["x","y"],2]'


def a_votes(round_id: str = "r1", **fields: object) -> PackedRecord:
    return a_record(round_id, **{"shape": SHAPE, "version": votes.VERSION, **fields})


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

    assert [vote.round_id for vote in await stores.bakeoff_stores.votes.list_recent()] == ["r2"]


@pytest.mark.parametrize("kept", ["records", "votes"])
async def test_a_source_remains_while_a_record_or_a_vote_uses_it(
    engine: AsyncEngine, kept: str
) -> None:
    store, bakeoff_stores = SqlRoundStore(engine, (BakeoffHooks(),)), sql_bakeoff_stores(engine)
    await store.open(a_closed_round("r1"))
    await getattr(bakeoff_stores, kept).save([a_votes("r1", version=_version(kept))])

    await store.delete_workspace("slack", "another")

    assert len(await getattr(bakeoff_stores, kept).list_recent()) == 1


def _version(kept: str) -> int:
    return votes.VERSION if kept == "votes" else VERSION
