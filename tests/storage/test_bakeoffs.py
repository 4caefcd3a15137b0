"""Bake-offs: opened once, ended and resumed, in every store."""

from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.bakeoffs.models import Ending
from council.bakeoffs.ports import ALL_BAKEOFFS, BakeoffQuery, BakeoffStores
from council.errors import BakeoffError, StoreError
from storage.bakeoffs import SqlBakeoffs
from tests.builders import ASKED_AT, a_panel
from tests.storage.benches import T1, T2, a_bakeoff, suite_of
from tests.storage.builders import in_memory_too

NEXT = ASKED_AT + timedelta(days=1)
SCHEDULED = "sched:weekly@2026-11-23T09:00"


@in_memory_too
async def test_a_bakeoff_comes_back_whole(bakeoff_stores: BakeoffStores) -> None:
    thread = a_bakeoff(SCHEDULED, schedule="weekly", cap_micro=2**40, panel=a_panel(4, outside=1))

    assert await bakeoff_stores.bakeoffs.open(thread)

    assert await bakeoff_stores.bakeoffs.load(SCHEDULED) == thread


@in_memory_too
async def test_the_first_of_two_with_one_id_is_stored(bakeoff_stores: BakeoffStores) -> None:
    first, second = a_bakeoff(), a_bakeoff(asked_by="U2", suite=suite_of("Why?"))
    await bakeoff_stores.bakeoffs.open(first)

    assert not await bakeoff_stores.bakeoffs.open(second)
    assert not await bakeoff_stores.bakeoffs.open(first)

    assert await bakeoff_stores.bakeoffs.load("bo:1") == first


@in_memory_too
async def test_a_bakeoff_ends_and_is_resumed(bakeoff_stores: BakeoffStores) -> None:
    await bakeoff_stores.bakeoffs.open(a_bakeoff())
    ending = Ending(NEXT, "Its cap is used up.")

    await bakeoff_stores.bakeoffs.end("bo:1", ending)
    ended = await bakeoff_stores.bakeoffs.load("bo:1")
    await bakeoff_stores.bakeoffs.end("bo:1", None)

    assert ended == a_bakeoff(ending=ending)
    assert await bakeoff_stores.bakeoffs.load("bo:1") == a_bakeoff()


@in_memory_too
async def test_its_cap_can_be_changed(bakeoff_stores: BakeoffStores) -> None:
    await bakeoff_stores.bakeoffs.open(a_bakeoff(cap_micro=5))

    await bakeoff_stores.bakeoffs.limit("bo:1", 2**40)
    raised = await bakeoff_stores.bakeoffs.load("bo:1")
    await bakeoff_stores.bakeoffs.limit("bo:1", None)

    assert raised == a_bakeoff(cap_micro=2**40)
    assert await bakeoff_stores.bakeoffs.load("bo:1") == a_bakeoff()


@in_memory_too
async def test_an_unknown_bakeoff_is_an_error_that_names_it(bakeoff_stores: BakeoffStores) -> None:
    with pytest.raises(BakeoffError, match=r"There is no bake-off 'bo:9': `/council bakeoff`"):
        await bakeoff_stores.bakeoffs.load("bo:9")
    with pytest.raises(BakeoffError, match="no bake-off 'bo:9'"):
        await bakeoff_stores.bakeoffs.end("bo:9", Ending(NEXT))
    with pytest.raises(BakeoffError, match="no bake-off 'bo:9'"):
        await bakeoff_stores.bakeoffs.limit("bo:9", 5)


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
    bakeoff_stores: BakeoffStores, wanted: BakeoffQuery, ids: list[str]
) -> None:
    for bakeoff in (
        a_bakeoff("theirs", place=T2, at=ASKED_AT - timedelta(days=1)),
        a_bakeoff("b", suite=suite_of("Why?", name="other")),
        a_bakeoff("a", ending=Ending(NEXT)),
        a_bakeoff("new", schedule="weekly", at=NEXT),
    ):
        await bakeoff_stores.bakeoffs.open(bakeoff)

    found = await bakeoff_stores.bakeoffs.list_recent(wanted=wanted)

    assert [bakeoff.id for bakeoff in found] == ids
    assert await bakeoff_stores.bakeoffs.list_recent(1, wanted) == found[:1]


async def test_a_bakeoffs_suite_is_unchanged_when_the_suite_changes(
    bakeoff_stores: BakeoffStores,
) -> None:
    before = a_bakeoff()
    await bakeoff_stores.suites.save(before.suite, "U1", ASKED_AT)
    await bakeoff_stores.bakeoffs.open(before)

    await bakeoff_stores.suites.save(suite_of("Another?"), "U1", NEXT)
    await bakeoff_stores.suites.remove(T1.scope, "sql")

    assert await bakeoff_stores.bakeoffs.load("bo:1") == before


async def test_the_suite_of_a_bakeoff_is_not_listed_for_that_reason(
    bakeoff_stores: BakeoffStores,
) -> None:
    await bakeoff_stores.bakeoffs.open(a_bakeoff())

    assert await bakeoff_stores.suites.list_summaries(T1.scope) == ()
    assert await bakeoff_stores.suites.versions(T1.scope, "sql") == ()


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

    with pytest.raises(StoreError, match=f"Bake-off 'bo:1' holds what no bake-off can: {named}"):
        await bakeoffs.load("bo:1")
    assert [bakeoff.id for bakeoff in await bakeoffs.list_recent()] == ["bo:2"]
