"""A deleted workspace loses its suites, bake-offs, schedules and records."""

from dataclasses import replace
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncEngine

from council.places import NOWHERE, Place
from council.rounds import Question, Round
from storage.copy_database import count_contents
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT, a_schedule
from tests.storage.benches import (
    SUITE,
    T1,
    T2,
    Stores,
    a_bakeoff,
    a_record,
    sql_bakeoff_stores,
    suite_of,
)
from tests.storage.builders import a_closed_round, in_memory_too


def a_round_at(round_id: str, place: Place) -> Round:
    round_ = replace(a_closed_round(round_id), bakeoff=round_id.partition(".")[0])
    return replace(round_, question=Question(f"Marked-{round_id}?", "U1", place=place))


async def store_all(stores: Stores, place: Place, name: str) -> None:
    """Store one of everything in a place."""
    suite = suite_of(f"Marked-{name}?", scope=place.scope)
    await stores.bakeoff_stores.suites.save(suite, "U1", ASKED_AT)
    await stores.bakeoff_stores.bakeoffs.open(a_bakeoff(name, suite=suite, place=place))
    await stores.bakeoff_stores.schedules.save(a_schedule(name, place=place, scope=place.scope))
    await stores.store.open(a_round_at(f"{name}.1", place))
    await stores.bakeoff_stores.records.save([a_record(f"{name}.1", scope=place.scope)])
    for key in (name, f"{name}.1"):
        await stores.outgoing.claim(f"key-{key}", key, ASKED_AT)


async def stored_names(stores: Stores) -> list[str]:
    """Return the scopes, names and ids of everything stored."""
    bakeoff_stores = stores.bakeoff_stores
    kept_suites = [one.suite.scope for one in await bakeoff_stores.suites.list_all()]
    bakeoffs = [bakeoff.id for bakeoff in await bakeoff_stores.bakeoffs.list_recent()]
    schedules = [schedule.id for schedule in await bakeoff_stores.schedules.list_all()]
    records = [record.round_id for record in await bakeoff_stores.records.list_recent()]
    return sorted([*kept_suites, *bakeoffs, *schedules, *records])


@in_memory_too
async def test_everything_of_a_workspace_is_deleted_and_nothing_else(stores: Stores) -> None:
    for place, name in ((T1, "one"), (T2, "two"), (NOWHERE, "house")):
        await store_all(stores, place, name)

    assert await stores.store.delete_workspace("slack", "T1") == 1

    assert await stored_names(stores) == sorted(
        [T2.scope, "two", "two", "two.1", "", "house", "house", "house.1"]
    )


@in_memory_too
async def test_a_deleted_bakeoff_takes_its_messages_along(stores: Stores) -> None:
    await store_all(stores, T1, "one")
    await store_all(stores, T2, "two")

    await stores.store.delete_workspace("slack", "T1")

    keys = ("one", "one.1", "two", "two.1")
    again = [await stores.outgoing.claim(f"key-{key}", key, ASKED_AT) for key in keys]
    assert [claim.is_new for claim in again] == [True, True, False, False]


async def test_a_workspace_without_rounds_is_deleted_too(stores: Stores) -> None:
    await stores.bakeoff_stores.suites.save(SUITE, "U1", ASKED_AT)

    assert await stores.store.delete_workspace("slack", "T1") == 0

    assert await stored_names(stores) == []


async def test_what_all_workspaces_share_is_never_deleted(stores: Stores) -> None:
    await store_all(stores, NOWHERE, "house")

    await stores.store.delete_workspace("", "")

    assert await stores.bakeoff_stores.suites.list_summaries("")
    assert await stores.bakeoff_stores.schedules.list_all()


async def test_no_row_and_no_byte_of_a_deleted_workspace_is_left(
    engine: AsyncEngine, tmp_path: Path
) -> None:
    store = SqlRoundStore(engine)
    stores = Stores(store, sql_bakeoff_stores(engine), SqlOutbox(engine))
    await store_all(stores, T1, "one")
    await stores.bakeoff_stores.suites.save(suite_of("Marked-again?"), "U1", ASKED_AT)

    await store.delete_workspace("slack", "T1")
    await store.wipe()

    assert (await count_contents(engine)).total == 0
    bytes_ = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Marked-" not in bytes_


async def test_what_another_workspace_uses_too_stays(stores: Stores) -> None:
    here, there = (suite_of("Why?", scope=place.scope) for place in (T1, T2))
    await stores.bakeoff_stores.suites.save(here, "U1", ASKED_AT)
    await stores.bakeoff_stores.bakeoffs.open(a_bakeoff(suite=there, place=T2))

    await stores.store.delete_workspace("slack", "T1")

    assert (await stores.bakeoff_stores.bakeoffs.load("bo:1")).suite == there
