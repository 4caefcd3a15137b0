"""Bake-offs: opened once, ended and gone on with, whatever keeps them."""

from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.bakeoffs.models import Ending
from council.bakeoffs.ports import EVERY_BAKEOFF, BakeoffQuery, BakeoffStores
from council.errors import BakeoffError, StoreError
from storage.bakeoffs import SqlBakeoffs
from tests.builders import ASKED_AT, a_panel
from tests.storage.benches import T1, T2, a_bakeoff, holding

NEXT = ASKED_AT + timedelta(days=1)
SCHEDULED = "sched:weekly@2026-11-23T09:00"


async def test_a_bakeoff_comes_back_whole(bench: BakeoffStores) -> None:
    thread = a_bakeoff(SCHEDULED, schedule="weekly", cap_micro=2**40, panel=a_panel(4, outside=1))

    assert await bench.bakeoffs.open(thread)

    assert await bench.bakeoffs.load(SCHEDULED) == thread


async def test_of_two_under_one_id_the_first_is_kept(bench: BakeoffStores) -> None:
    first, second = a_bakeoff(), a_bakeoff(asked_by="U2", suite=holding("Why?"))
    await bench.bakeoffs.open(first)

    assert not await bench.bakeoffs.open(second)
    assert not await bench.bakeoffs.open(first)

    assert await bench.bakeoffs.load("bo:1") == first


async def test_an_end_is_noted_and_taken_back(bench: BakeoffStores) -> None:
    await bench.bakeoffs.open(a_bakeoff())
    ending = Ending(NEXT, "Its cap is used up.")

    await bench.bakeoffs.end("bo:1", ending)
    ended = await bench.bakeoffs.load("bo:1")
    await bench.bakeoffs.end("bo:1", None)

    assert ended == a_bakeoff(ending=ending)
    assert await bench.bakeoffs.load("bo:1") == a_bakeoff()


async def test_its_cap_can_be_another(bench: BakeoffStores) -> None:
    await bench.bakeoffs.open(a_bakeoff(cap_micro=5))

    await bench.bakeoffs.limit("bo:1", 2**40)
    raised = await bench.bakeoffs.load("bo:1")
    await bench.bakeoffs.limit("bo:1", None)

    assert raised == a_bakeoff(cap_micro=2**40)
    assert await bench.bakeoffs.load("bo:1") == a_bakeoff()


async def test_a_bakeoff_that_is_not_there_is_named(bench: BakeoffStores) -> None:
    with pytest.raises(BakeoffError, match=r"There is no bake-off 'bo:9': `/council bakeoff`"):
        await bench.bakeoffs.load("bo:9")
    with pytest.raises(BakeoffError, match="no bake-off 'bo:9'"):
        await bench.bakeoffs.end("bo:9", Ending(NEXT))
    with pytest.raises(BakeoffError, match="no bake-off 'bo:9'"):
        await bench.bakeoffs.limit("bo:9", 5)


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        pytest.param(EVERY_BAKEOFF, ["new", "a", "b", "theirs"], id="every"),
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
    bench: BakeoffStores, wanted: BakeoffQuery, ids: list[str]
) -> None:
    for bakeoff in (
        a_bakeoff("theirs", place=T2, at=ASKED_AT - timedelta(days=1)),
        a_bakeoff("b", suite=holding("Why?", name="other")),
        a_bakeoff("a", ending=Ending(NEXT)),
        a_bakeoff("new", schedule="weekly", at=NEXT),
    ):
        await bench.bakeoffs.open(bakeoff)

    found = await bench.bakeoffs.recent(wanted=wanted)

    assert [bakeoff.id for bakeoff in found] == ids
    assert await bench.bakeoffs.recent(1, wanted) == found[:1]


async def test_its_suite_is_kept_as_it_was_whatever_becomes_of_the_suite(
    bench: BakeoffStores,
) -> None:
    before = a_bakeoff()
    await bench.suites.keep(before.suite, "U1", ASKED_AT)
    await bench.bakeoffs.open(before)

    await bench.suites.keep(holding("Another?"), "U1", NEXT)
    await bench.suites.remove(T1.scope, "sql")

    assert await bench.bakeoffs.load("bo:1") == before


async def test_the_suite_of_a_bakeoff_is_in_no_list_by_that(bench: BakeoffStores) -> None:
    await bench.bakeoffs.open(a_bakeoff())

    assert await bench.suites.lines(T1.scope) == ()
    assert await bench.suites.versions(T1.scope, "sql") == ()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param("UPDATE bakeoff SET panel = '{broken'", "bakeoff.panel: ", id="panel"),
        pytest.param("UPDATE bakeoff SET panel = '{}'", r"bakeoff\.panel\.name: ", id="empty"),
        pytest.param("DELETE FROM suite_body", r"suite_body\.body\.questions: ", id="body"),
    ],
)
async def test_what_no_bakeoff_could_hold_is_named_and_stops_no_list(
    engine: AsyncEngine, change: str, named: str
) -> None:
    bakeoffs = SqlBakeoffs(engine)
    await bakeoffs.open(a_bakeoff())
    async with engine.begin() as connection:
        await connection.execute(text(change))
    await bakeoffs.open(a_bakeoff("bo:2", suite=holding("Why?")))

    with pytest.raises(StoreError, match=f"Bake-off 'bo:1' holds what no bake-off can: {named}"):
        await bakeoffs.load("bo:1")
    assert [bakeoff.id for bakeoff in await bakeoffs.recent()] == ["bo:2"]
