"""Several programs on one server lose no suites and no records, and do not deadlock."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from storage.bakeoffs.hooks import BakeoffHooks
from storage.engine import open_engine
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT
from tests.storage.bakeoffs.benches import SUITE, a_record, sql_bakeoff_stores, suite_of
from tests.storage.builders import T1, T2
from tests.storage.test_transactions_concurrency import Engines, a_round_at


@pytest.fixture
async def engines(migrated_url: str) -> AsyncIterator[Engines]:
    """Return the engines of three programs."""
    async with AsyncExitStack() as stack:
        opened = [open_engine(migrated_url) for _ in range(3)]
        for engine in opened:
            stack.push_async_callback(engine.dispose)
        yield opened


async def test_simultaneous_versions_of_a_suite_have_different_numbers(
    engines: Engines,
) -> None:
    suites = [sql_bakeoff_stores(engine).suites for engine in engines]
    kept = [suite_of(f"Question {number}?") for number in range(9)]

    await asyncio.gather(
        *(suites[number % 3].save(suite, "U1", ASKED_AT) for number, suite in enumerate(kept))
    )

    versions = await suites[0].versions(T1.scope, "sql")
    assert sorted(versions) == sorted(suite.version for suite in kept)
    assert (await suites[1].load(T1.scope, "sql")).version == versions[0]


async def test_a_suite_stored_while_a_workspace_is_deleted_keeps_its_questions(
    engines: Engines,
) -> None:
    shared = replace(SUITE, scope="")
    for _ in range(5):
        await sql_bakeoff_stores(engines[0]).suites.save(SUITE, "U1", ASKED_AT)

        await asyncio.gather(
            SqlRoundStore(engines[1], (BakeoffHooks(),)).delete_workspace("slack", "T1"),
            sql_bakeoff_stores(engines[2]).suites.save(shared, "U1", ASKED_AT),
        )

        assert (
            await sql_bakeoff_stores(engines[0]).suites.load("", "sql")
        ).questions == shared.questions


async def test_records_stored_while_their_workspace_is_deleted_cause_no_error(
    engines: Engines,
) -> None:
    store, records = SqlRoundStore(engines[0]), sql_bakeoff_stores(engines[2]).records
    for number in range(5):
        await store.open(a_round_at(f"t1-{number}"))
        await store.open(a_round_at(f"t2-{number}", T2))
        both = [a_record(f"t1-{number}"), a_record(f"t2-{number}")]

        await asyncio.gather(
            SqlRoundStore(engines[1], (BakeoffHooks(),)).delete_workspace("slack", "T1"),
            records.save(both),
        )

    kept = [record.round_id for record in await records.list_recent()]
    assert sorted(kept) == [f"t2-{number}" for number in range(5)]
