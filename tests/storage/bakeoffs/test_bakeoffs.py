"""Suites, bake-offs and schedules, in every store; a deleted workspace loses its own."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import SQLModel

from council.bakeoffs.models import Ending
from council.bakeoffs.ports import (
    ALL_BAKEOFFS,
    BakeoffQuery,
    BakeoffStore,
    BakeoffStores,
    ScheduleStore,
    StoredSuite,
    SuiteStore,
    SuiteSummary,
)
from council.errors import BakeoffError, ScheduleError, StoreError, SuiteError
from council.places import NOWHERE, Place
from council.rounds import Question, Round
from storage.bakeoffs.bakeoffs import SqlBakeoffs, SqlSchedules, SqlSuites
from storage.bakeoffs.hooks import BakeoffHooks
from storage.engine import open_engine
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT, a_panel
from tests.council.bakeoffs.builders import a_schedule
from tests.storage.bakeoffs.benches import (
    SUITE,
    Stores,
    a_bakeoff,
    a_record,
    sql_bakeoff_stores,
    suite_of,
)
from tests.storage.builders import BOTH, T1, T2, a_closed_round, in_memory_too

HERE = T1.scope
LATER = ASKED_AT + timedelta(days=1)
FIRST, SECOND = suite_of("Why?"), suite_of("Why?", "How?")
OF_HOUSE = suite_of("What for?", scope="")


@pytest.fixture
def suites(bakeoff_stores: BakeoffStores) -> SuiteStore:
    return bakeoff_stores.suites


@pytest.fixture
def bakeoffs(bakeoff_stores: BakeoffStores) -> BakeoffStore:
    return bakeoff_stores.bakeoffs


@pytest.fixture
def schedules(bakeoff_stores: BakeoffStores) -> ScheduleStore:
    return bakeoff_stores.schedules


@in_memory_too
async def test_a_suite_comes_back_whole(suites: SuiteStore) -> None:
    assert await suites.save(SUITE, "U1", ASKED_AT)

    assert await suites.load(HERE, "sql") == SUITE
    assert await suites.list_summaries(HERE) == (
        SuiteSummary("sql", HERE, SUITE.version, 2, 1, ASKED_AT, "U1"),
    )


@in_memory_too
async def test_storing_the_newest_version_again_changes_nothing(suites: SuiteStore) -> None:
    await suites.save(FIRST, "U1", ASKED_AT)

    assert not await suites.save(FIRST, "U2", LATER)

    assert [line.by for line in await suites.list_summaries(HERE)] == ["U1"]


@in_memory_too
async def test_a_suite_is_its_newest_version_and_has_its_older_ones(suites: SuiteStore) -> None:
    for suite in (FIRST, SECOND):
        await suites.save(suite, "U1", ASKED_AT)

    assert await suites.load(HERE, "sql") == SECOND
    assert await suites.load(HERE, "sql", FIRST.version[:4]) == FIRST
    assert await suites.versions(HERE, "sql") == (SECOND.version, FIRST.version)
    assert [line.version for line in await suites.list_summaries(HERE)] == [SECOND.version]


@in_memory_too
async def test_a_version_that_comes_back_is_the_newest_again(suites: SuiteStore) -> None:
    for suite in (FIRST, SECOND):
        await suites.save(suite, "U1", ASKED_AT)

    assert await suites.save(FIRST, "U2", LATER)

    assert await suites.load(HERE, "sql") == FIRST
    assert await suites.versions(HERE, "sql") == (FIRST.version, SECOND.version)
    assert [(x.by, x.kept_at) for x in await suites.list_summaries(HERE)] == [("U2", LATER)]


@in_memory_too
async def test_a_workspace_sees_its_own_suites_before_the_shared_ones_and_no_others(
    suites: SuiteStore,
) -> None:
    theirs = replace(SUITE, scope=T2.scope, name="theirs")
    general = replace(OF_HOUSE, name="general")
    for suite in (FIRST, OF_HOUSE, theirs, general):
        await suites.save(suite, "U1", ASKED_AT)

    lines = await suites.list_summaries(HERE)

    assert [(line.name, line.scope) for line in lines] == [("general", ""), ("sql", HERE)]
    assert await suites.load(HERE, "sql") == FIRST
    assert await suites.load(HERE, "general") == general
    assert await suites.load("", "sql") == OF_HOUSE
    assert await suites.versions(T2.scope, "sql") == (OF_HOUSE.version,)
    with pytest.raises(SuiteError, match="There is no suite 'theirs'"):
        await suites.load(HERE, "theirs")


@in_memory_too
async def test_a_removed_suite_is_not_listed_and_its_versions_stay(suites: SuiteStore) -> None:
    for suite in (OF_HOUSE, FIRST, SECOND):
        await suites.save(suite, "U1", ASKED_AT)

    assert await suites.remove(HERE, "sql")

    assert not await suites.remove(HERE, "sql")
    assert not await suites.remove(HERE, "nothing")
    assert [line.scope for line in await suites.list_summaries(HERE)] == [""]
    assert await suites.load(HERE, "sql") == OF_HOUSE
    assert await suites.load(HERE, "sql", FIRST.version) == FIRST


@in_memory_too
async def test_a_removed_suite_can_be_stored_again(suites: SuiteStore) -> None:
    await suites.save(FIRST, "U1", ASKED_AT)
    await suites.remove(HERE, "sql")

    assert await suites.save(FIRST, "U2", LATER)

    assert await suites.load(HERE, "sql") == FIRST
    assert [line.by for line in await suites.list_summaries(HERE)] == ["U2"]


@pytest.mark.parametrize("version", ["ffff", FIRST.version[:4].upper()], ids=["none", "capitals"])
async def test_an_unknown_version_is_named(suites: SuiteStore, version: str) -> None:
    await suites.save(FIRST, "U1", ASKED_AT)
    assert not FIRST.version.startswith(version)

    with pytest.raises(SuiteError, match=f"no version '{version}' of suite 'sql'"):
        await suites.load(HERE, "sql", version)


async def test_everything_listed_is_exported(suites: SuiteStore) -> None:
    gone = replace(SUITE, name="gone")
    for suite in (FIRST, SECOND, OF_HOUSE, gone):
        await suites.save(suite, "U1", ASKED_AT)
    await suites.remove(HERE, "gone")

    assert await suites.list_all() == tuple(
        StoredSuite(suite, "U1", ASKED_AT) for suite in (OF_HOUSE, FIRST, SECOND)
    )


@pytest.mark.parametrize(
    ("body", "named"),
    [
        pytest.param("'{}'", "suite_body.body.questions: ", id="empty"),
        pytest.param("'[1]'", "suite_body.body.questions: ", id="list"),
        pytest.param("'{broken'", "suite_body.body.questions: ", id="broken"),
    ],
)
async def test_an_invalid_suite_is_named(engine: AsyncEngine, body: str, named: str) -> None:
    suites = SqlSuites(engine)
    await suites.save(FIRST, "U1", ASKED_AT)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE suite_body SET body = :body"), {"body": body[1:-1]})

    with pytest.raises(StoreError, match=f"Suite 'sql' has invalid values: {named}"):
        await suites.load(HERE, "sql")


NEXT = ASKED_AT + timedelta(days=1)
SCHEDULED = "sched:weekly@2026-11-23T09:00"


@in_memory_too
async def test_a_bakeoff_comes_back_whole(bakeoffs: BakeoffStore) -> None:
    thread = a_bakeoff(SCHEDULED, schedule="weekly", cap_micro=2**40, panel=a_panel(4, outside=1))

    assert await bakeoffs.open(thread)

    assert await bakeoffs.load(SCHEDULED) == thread


@in_memory_too
async def test_the_first_of_two_with_one_id_is_stored(bakeoffs: BakeoffStore) -> None:
    first, second = a_bakeoff(), a_bakeoff(asked_by="U2", suite=suite_of("Why?"))
    await bakeoffs.open(first)

    assert not await bakeoffs.open(second)
    assert not await bakeoffs.open(first)

    assert await bakeoffs.load("bo:1") == first


@in_memory_too
async def test_a_bakeoff_ends_and_is_resumed(bakeoffs: BakeoffStore) -> None:
    await bakeoffs.open(a_bakeoff())
    ending = Ending(NEXT, "Its cap is used up.")

    await bakeoffs.end("bo:1", ending)
    ended = await bakeoffs.load("bo:1")
    await bakeoffs.end("bo:1", None)

    assert ended == a_bakeoff(ending=ending)
    assert await bakeoffs.load("bo:1") == a_bakeoff()


@in_memory_too
async def test_its_cap_can_be_changed(bakeoffs: BakeoffStore) -> None:
    await bakeoffs.open(a_bakeoff(cap_micro=5))

    await bakeoffs.limit("bo:1", 2**40)
    raised = await bakeoffs.load("bo:1")
    await bakeoffs.limit("bo:1", None)

    assert raised == a_bakeoff(cap_micro=2**40)
    assert await bakeoffs.load("bo:1") == a_bakeoff()


@in_memory_too
async def test_an_unknown_bakeoff_is_an_error_that_names_it(bakeoffs: BakeoffStore) -> None:
    with pytest.raises(BakeoffError, match=r"There is no bake-off 'bo:9'"):
        await bakeoffs.load("bo:9")
    with pytest.raises(BakeoffError, match="no bake-off 'bo:9'"):
        await bakeoffs.end("bo:9", Ending(NEXT))
    with pytest.raises(BakeoffError, match="no bake-off 'bo:9'"):
        await bakeoffs.limit("bo:9", 5)


@in_memory_too
@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        pytest.param(ALL_BAKEOFFS, ["new", "a", "b", "theirs"], id="every"),
        pytest.param(BakeoffQuery(scope=T2.scope), ["theirs"], id="scope"),
        pytest.param(BakeoffQuery(scope=""), [], id="house"),
        pytest.param(BakeoffQuery(suite="other"), ["b"], id="suite"),
        pytest.param(BakeoffQuery(panel="none"), [], id="panel"),
        pytest.param(BakeoffQuery(panel="house", suite="other"), ["b"], id="both"),
        pytest.param(BakeoffQuery(schedule="weekly"), ["new"], id="schedule"),
        pytest.param(BakeoffQuery(unfinished=True), ["new", "b", "theirs"], id="unfinished"),
    ],
)
async def test_bakeoffs_are_listed_newest_first(
    bakeoffs: BakeoffStore, wanted: BakeoffQuery, ids: list[str]
) -> None:
    for bakeoff in (
        a_bakeoff("theirs", place=T2, at=ASKED_AT - timedelta(days=1)),
        a_bakeoff("b", suite=suite_of("Why?", name="other")),
        a_bakeoff("a", ending=Ending(NEXT)),
        a_bakeoff("new", schedule="weekly", at=NEXT),
    ):
        await bakeoffs.open(bakeoff)

    found = await bakeoffs.list_recent(wanted=wanted)

    assert [bakeoff.id for bakeoff in found] == ids
    assert await bakeoffs.list_recent(1, wanted) == found[:1]


async def test_a_bakeoffs_suite_is_unchanged_when_the_suite_changes(
    bakeoffs: BakeoffStore, suites: SuiteStore
) -> None:
    before = a_bakeoff()
    await suites.save(before.suite, "U1", ASKED_AT)
    await bakeoffs.open(before)

    await suites.save(suite_of("Another?"), "U1", NEXT)
    await suites.remove(T1.scope, "sql")

    assert await bakeoffs.load("bo:1") == before


async def test_the_suite_of_a_bakeoff_is_not_listed_for_that_reason(
    bakeoffs: BakeoffStore, suites: SuiteStore
) -> None:
    await bakeoffs.open(a_bakeoff())

    assert await suites.list_summaries(T1.scope) == ()
    assert await suites.versions(T1.scope, "sql") == ()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param("UPDATE bakeoff SET panel = '{broken'", "bakeoff.panel: ", id="panel"),
        pytest.param("UPDATE bakeoff SET panel = '{}'", r"bakeoff\.panel\.name: ", id="empty"),
        pytest.param("DELETE FROM suite_body", r"suite_body\.body\.questions: ", id="body"),
    ],
)
async def test_an_invalid_bakeoff_is_named_and_left_out_of_lists(
    engine: AsyncEngine, change: str, named: str
) -> None:
    bakeoffs = SqlBakeoffs(engine)
    await bakeoffs.open(a_bakeoff())
    async with engine.begin() as connection:
        await connection.execute(text(change))
    await bakeoffs.open(a_bakeoff("bo:2", suite=suite_of("Why?")))

    with pytest.raises(StoreError, match=f"Bake-off 'bo:1' has invalid values: {named}"):
        await bakeoffs.load("bo:1")
    assert [bakeoff.id for bakeoff in await bakeoffs.list_recent()] == ["bo:2"]


MONDAY, NEXT_SLOT = "2026-11-23T09:00", "2026-11-30T09:00"


@in_memory_too
async def test_a_schedule_comes_back_whole(schedules: ScheduleStore) -> None:
    schedule = a_schedule(place=replace(T1, thread="1.2", private=True), paused=True)

    await schedules.save(schedule)

    assert await schedules.list_all() == (schedule,)


async def test_a_changed_schedule_keeps_its_id(schedules: ScheduleStore) -> None:
    await schedules.save(a_schedule())
    changed = a_schedule(name="daily", cron="0 9 * * *", cap_micro=None, subscribers=(), place=T2)

    await schedules.save(changed)

    assert await schedules.list_all() == (changed,)


@in_memory_too
async def test_a_name_is_unique_in_its_scope(schedules: ScheduleStore) -> None:
    await schedules.save(a_schedule())

    with pytest.raises(ScheduleError, match="There is already a schedule 'weekly'."):
        await schedules.save(a_schedule("s2"))

    await schedules.save(a_schedule("s2", scope=T2.scope))
    assert [schedule.id for schedule in await schedules.list_all()] == ["s1", "s2"]


async def test_schedules_are_listed_by_name_and_scope(schedules: ScheduleStore) -> None:
    for schedule_id, name, scope in (("1", "b", ""), ("2", "a", T1.scope), ("3", "a", "")):
        await schedules.save(a_schedule(schedule_id, name=name, scope=scope))

    assert [schedule.id for schedule in await schedules.list_all()] == [
        "3",
        "2",
        "1",
    ]
    assert [schedule.id for schedule in await schedules.list_all("")] == ["3", "1"]


@in_memory_too
async def test_a_slot_is_taken_once_and_none_before_it(schedules: ScheduleStore) -> None:
    await schedules.save(a_schedule())

    taken = [await schedules.claim_slot("s1", slot) for slot in (NEXT_SLOT, NEXT_SLOT, MONDAY)]

    assert taken == [True, False, False]
    assert [schedule.last_slot for schedule in await schedules.list_all()] == [NEXT_SLOT]


async def test_an_unknown_schedule_has_no_slot(schedules: ScheduleStore) -> None:
    assert not await schedules.claim_slot("s1", MONDAY)


@in_memory_too
async def test_a_slot_taken_while_somebody_edits_stays_taken(schedules: ScheduleStore) -> None:
    await schedules.save(a_schedule())
    [seen] = await schedules.list_all()
    await schedules.claim_slot("s1", MONDAY)

    await schedules.save(replace(seen, paused=True))

    assert not await schedules.claim_slot("s1", MONDAY)
    assert await schedules.claim_slot("s1", NEXT_SLOT)


@in_memory_too
async def test_in_another_zone_the_last_slot_starts_again(schedules: ScheduleStore) -> None:
    await schedules.save(a_schedule())
    await schedules.claim_slot("s1", "2026-11-23T22:00")

    await schedules.save(a_schedule(zone="America/New_York", last_slot=""))

    assert await schedules.claim_slot("s1", "2026-11-23T18:00")


@in_memory_too
async def test_a_removed_schedule_is_gone(schedules: ScheduleStore) -> None:
    await schedules.save(a_schedule())

    assert await schedules.remove("s1")

    assert not await schedules.remove("s1")
    assert await schedules.list_all() == ()


@pytest.mark.parametrize("database", BOTH)
async def test_of_many_processes_one_takes_a_slot(engine: AsyncEngine, url: str) -> None:
    await SqlSchedules(engine).save(a_schedule())
    others = [open_engine(url) for _ in range(3)]
    slots = [f"2026-11-23T09:{minute:02}" for minute in range(20)]

    async def took(kept: SqlSchedules) -> list[str]:
        return [slot for slot in slots if await kept.claim_slot("s1", slot)]

    taken = await asyncio.gather(*(took(SqlSchedules(one)) for one in (engine, *others)))
    for other in others:
        await other.dispose()

    once = [slot for found in taken for slot in found]
    assert len(once) == len({*once})
    assert slots[-1] in once


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
    store = SqlRoundStore(engine, (BakeoffHooks(),))
    stores = Stores(store, sql_bakeoff_stores(engine), SqlOutbox(engine))
    await store_all(stores, T1, "one")
    await stores.bakeoff_stores.suites.save(suite_of("Marked-again?"), "U1", ASKED_AT)

    await store.delete_workspace("slack", "T1")
    await store.wipe()

    async with engine.connect() as connection:
        for table in SQLModel.metadata.sorted_tables:
            if table.name != "compatible":
                assert (await connection.execute(select(table))).first() is None
    bytes_ = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Marked-" not in bytes_


async def test_what_another_workspace_uses_too_stays(stores: Stores) -> None:
    here, there = (suite_of("Why?", scope=place.scope) for place in (T1, T2))
    await stores.bakeoff_stores.suites.save(here, "U1", ASKED_AT)
    await stores.bakeoff_stores.bakeoffs.open(a_bakeoff(suite=there, place=T2))

    await stores.store.delete_workspace("slack", "T1")

    assert (await stores.bakeoff_stores.bakeoffs.load("bo:1")).suite == there
