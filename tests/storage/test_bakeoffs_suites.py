"""Suites: every version is stored; a workspace sees its own and the shared ones."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.bakeoffs.ports import BakeoffStores, StoredSuite, SuiteSummary
from council.errors import StoreError, SuiteError
from storage.bakeoffs import SqlSuites
from tests.builders import ASKED_AT
from tests.storage.benches import SUITE, T1, T2, suite_of
from tests.storage.builders import in_memory_too

HERE = T1.scope
LATER = ASKED_AT + timedelta(days=1)
FIRST, SECOND = suite_of("Why?"), suite_of("Why?", "How?")
OF_HOUSE = suite_of("What for?", scope="")


@in_memory_too
async def test_a_suite_comes_back_whole(bakeoff_stores: BakeoffStores) -> None:
    assert await bakeoff_stores.suites.save(SUITE, "U1", ASKED_AT)

    assert await bakeoff_stores.suites.load(HERE, "sql") == SUITE
    assert await bakeoff_stores.suites.list_summaries(HERE) == (
        SuiteSummary("sql", HERE, SUITE.version, 2, 1, ASKED_AT, "U1"),
    )


@in_memory_too
async def test_storing_the_newest_version_again_changes_nothing(
    bakeoff_stores: BakeoffStores,
) -> None:
    await bakeoff_stores.suites.save(FIRST, "U1", ASKED_AT)

    assert not await bakeoff_stores.suites.save(FIRST, "U2", LATER)

    assert [line.by for line in await bakeoff_stores.suites.list_summaries(HERE)] == ["U1"]


@in_memory_too
async def test_a_suite_is_its_newest_version_and_has_its_older_ones(
    bakeoff_stores: BakeoffStores,
) -> None:
    for suite in (FIRST, SECOND):
        await bakeoff_stores.suites.save(suite, "U1", ASKED_AT)

    assert await bakeoff_stores.suites.load(HERE, "sql") == SECOND
    assert await bakeoff_stores.suites.load(HERE, "sql", FIRST.version[:4]) == FIRST
    assert await bakeoff_stores.suites.versions(HERE, "sql") == (SECOND.version, FIRST.version)
    assert [line.version for line in await bakeoff_stores.suites.list_summaries(HERE)] == [
        SECOND.version
    ]


@in_memory_too
async def test_a_version_that_comes_back_is_the_newest_again(bakeoff_stores: BakeoffStores) -> None:
    for suite in (FIRST, SECOND):
        await bakeoff_stores.suites.save(suite, "U1", ASKED_AT)

    assert await bakeoff_stores.suites.save(FIRST, "U2", LATER)

    assert await bakeoff_stores.suites.load(HERE, "sql") == FIRST
    assert await bakeoff_stores.suites.versions(HERE, "sql") == (FIRST.version, SECOND.version)
    assert [(x.by, x.kept_at) for x in await bakeoff_stores.suites.list_summaries(HERE)] == [
        ("U2", LATER)
    ]


@in_memory_too
async def test_a_workspace_sees_its_own_suites_before_the_shared_ones_and_no_others(
    bakeoff_stores: BakeoffStores,
) -> None:
    theirs = replace(SUITE, scope=T2.scope, name="theirs")
    general = replace(OF_HOUSE, name="general")
    for suite in (FIRST, OF_HOUSE, theirs, general):
        await bakeoff_stores.suites.save(suite, "U1", ASKED_AT)

    lines = await bakeoff_stores.suites.list_summaries(HERE)

    assert [(line.name, line.scope) for line in lines] == [("general", ""), ("sql", HERE)]
    assert await bakeoff_stores.suites.load(HERE, "sql") == FIRST
    assert await bakeoff_stores.suites.load(HERE, "general") == general
    assert await bakeoff_stores.suites.load("", "sql") == OF_HOUSE
    assert await bakeoff_stores.suites.versions(T2.scope, "sql") == (OF_HOUSE.version,)
    with pytest.raises(SuiteError, match="There is no suite 'theirs'"):
        await bakeoff_stores.suites.load(HERE, "theirs")


@in_memory_too
async def test_a_removed_suite_is_not_listed_and_its_versions_stay(
    bakeoff_stores: BakeoffStores,
) -> None:
    for suite in (OF_HOUSE, FIRST, SECOND):
        await bakeoff_stores.suites.save(suite, "U1", ASKED_AT)

    assert await bakeoff_stores.suites.remove(HERE, "sql")

    assert not await bakeoff_stores.suites.remove(HERE, "sql")
    assert not await bakeoff_stores.suites.remove(HERE, "nothing")
    assert [line.scope for line in await bakeoff_stores.suites.list_summaries(HERE)] == [""]
    assert await bakeoff_stores.suites.load(HERE, "sql") == OF_HOUSE
    assert await bakeoff_stores.suites.load(HERE, "sql", FIRST.version) == FIRST


@in_memory_too
async def test_a_removed_suite_can_be_stored_again(bakeoff_stores: BakeoffStores) -> None:
    await bakeoff_stores.suites.save(FIRST, "U1", ASKED_AT)
    await bakeoff_stores.suites.remove(HERE, "sql")

    assert await bakeoff_stores.suites.save(FIRST, "U2", LATER)

    assert await bakeoff_stores.suites.load(HERE, "sql") == FIRST
    assert [line.by for line in await bakeoff_stores.suites.list_summaries(HERE)] == ["U2"]


@pytest.mark.parametrize("version", ["ffff", FIRST.version[:4].upper()], ids=["none", "capitals"])
async def test_an_unknown_version_is_named(bakeoff_stores: BakeoffStores, version: str) -> None:
    await bakeoff_stores.suites.save(FIRST, "U1", ASKED_AT)
    assert not FIRST.version.startswith(version)

    with pytest.raises(SuiteError, match=f"no version '{version}' of suite 'sql'"):
        await bakeoff_stores.suites.load(HERE, "sql", version)


async def test_everything_listed_is_exported(bakeoff_stores: BakeoffStores) -> None:
    gone = replace(SUITE, name="gone")
    for suite in (FIRST, SECOND, OF_HOUSE, gone):
        await bakeoff_stores.suites.save(suite, "U1", ASKED_AT)
    await bakeoff_stores.suites.remove(HERE, "gone")

    assert await bakeoff_stores.suites.list_all() == tuple(
        StoredSuite(suite, "U1", ASKED_AT) for suite in (OF_HOUSE, FIRST, SECOND)
    )


@pytest.mark.parametrize(
    ("body", "named"),
    [
        pytest.param("'{}'", "suite_body.body.questions: ", id="empty"),
        pytest.param("'[1]'", "suite_body.body.questions: ", id="list"),
        pytest.param("'{broken'", "suite_body.body.questions: ", id="broken"),
        pytest.param(
            '\'{"questions": [{"text": "Why?", "reference": {"grading": "luck", "value": ""}}]}\'',
            "suite_body.body.questions.0.reference.grading: ",
            id="grading",
        ),
    ],
)
async def test_an_invalid_suite_is_named(engine: AsyncEngine, body: str, named: str) -> None:
    suites = SqlSuites(engine)
    await suites.save(FIRST, "U1", ASKED_AT)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE suite_body SET body = :body"), {"body": body[1:-1]})

    with pytest.raises(StoreError, match=f"Suite 'sql' holds what no suite can: {named}"):
        await suites.load(HERE, "sql")
