"""The hash chain in the database: one for all processes, complete, and read in pages."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from council.integrity.seal import find_changes
from council.integrity.verification import ChainWalk
from council.rounds import Closing
from storage.engine import open_engine
from storage.hash_chain import SqlHashChain
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT
from tests.storage.builders import BOTH, on_sqlite, store_round, without_artefacts
from tests.storage.test_hash_chain_append import SALT, a_round_of

DATABASES = BOTH
LATER = ASKED_AT + timedelta(days=90)


async def walk_chain(engine: AsyncEngine, scope: str = "slack/T1", limit: int = 3) -> ChainWalk:
    chain, walk = SqlHashChain(engine), ChainWalk(scope)
    while links := await chain.links(scope, walk.length, limit):
        for link in links:
            walk.past(link)
    return walk


async def execute(engine: AsyncEngine, statement: str) -> None:
    async with engine.begin() as connection:
        await connection.execute(text(statement))


async def test_a_chain_is_read_in_pages(engine: AsyncEngine) -> None:
    for number in range(7):
        await store_round(SqlRoundStore(engine), a_round_of(f"r{number}"))

    walk = await walk_chain(engine)

    (head,) = await SqlHashChain(engine).heads()
    assert (walk.length, walk.head, walk.findings) == (7, head.hash, [])


async def test_programs_that_close_the_same_rounds_link_each_once(
    engine: AsyncEngine, url: str
) -> None:
    ids = [f"r{number}" for number in range(6)]
    for round_id in ids:
        await SqlRoundStore(engine).open(without_artefacts(a_round_of(round_id)))

    async with AsyncExitStack() as stack:
        engines = [open_engine(url) for _ in range(3)]
        for other in engines:
            stack.push_async_callback(other.dispose)
        stores = [SqlRoundStore(one) for one in engines]
        await asyncio.gather(
            *(store.save(round_id, Closing(1.0)) for store in stores for round_id in ids)
        )

    walk = await walk_chain(engine)
    assert (walk.length, walk.findings) == (6, [])


@on_sqlite
async def test_a_closing_that_fails_leaves_no_link(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await store.open(without_artefacts(a_round_of("r1")))
    await execute(
        engine,
        "CREATE TRIGGER full BEFORE INSERT ON link BEGIN SELECT RAISE(ABORT, 'disk is full'); END",
    )

    with pytest.raises(StoreError, match="The disk is full"):
        await store.save("r1", Closing(1.0))

    assert (await store.load("r1")).closing is None
    assert await SqlHashChain(engine).heads() == ()


async def test_a_round_that_was_deleted_is_missed(engine: AsyncEngine) -> None:
    for number in (1, 2, 3):
        await store_round(SqlRoundStore(engine), a_round_of(f"r{number}"))
    await execute(engine, "DELETE FROM round WHERE id = 'r2'")

    assert (await walk_chain(engine)).findings == ["round 'r2' of link 2 was deleted"]


async def test_a_deleted_round_can_be_imported_again(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await store_round(store, a_round_of("r1"))
    seal = await store.seal("r1")
    await execute(engine, "DELETE FROM round")

    await store.import_round(a_round_of("r1"), seal)

    assert seal is not None
    assert await store.seal("r1") == seal
    assert find_changes(await store.load("r1"), seal) == ()
    assert (await walk_chain(engine)).findings == []


async def test_a_link_that_was_deleted_is_missed_by_chain_and_round(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    for number in (1, 2, 3):
        await store_round(store, a_round_of(f"r{number}"))
    await execute(engine, "DELETE FROM link WHERE number = 2")

    seal = await store.seal("r2")

    assert (await walk_chain(engine)).findings == ["link 2 is missing"]
    assert seal is not None
    assert find_changes(await store.load("r2"), seal) == ("its link in the chain is gone",)


async def test_a_round_that_closed_before_there_were_chains_has_no_link(
    engine: AsyncEngine,
) -> None:
    store = SqlRoundStore(engine)
    await store_round(store, a_round_of("r1"))
    await execute(engine, "DELETE FROM link")
    await execute(engine, "UPDATE round SET salt = '', digests = '[]'")

    before = await store.seal("r1")
    await store.forget("r1", LATER, SALT)

    assert (before, await store.seal("r1")) == (None, None)


async def test_a_round_that_was_opened_and_closed_again_keeps_its_first_link(
    engine: AsyncEngine,
) -> None:
    store = SqlRoundStore(engine)
    await store_round(store, a_round_of("r1"))
    await execute(engine, "UPDATE round SET seconds = NULL")

    await store.save("r1", Closing(99.0))

    seal = await store.seal("r1")
    assert seal is not None
    assert find_changes(await store.load("r1"), seal) == ("closing",)
    assert (await walk_chain(engine)).length == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param("link SET parts = '7'", r"Round 'r1' holds .*link\.parts: ", id="parts"),
        pytest.param("link SET version = 'x'", r"link\.version: ", id="version"),
    ],
)
@on_sqlite
async def test_an_invalid_link_is_named_by_its_field(
    engine: AsyncEngine, change: str, named: str
) -> None:
    store = SqlRoundStore(engine)
    await store_round(store, a_round_of("r1"))
    await execute(engine, f"UPDATE {change}")

    with pytest.raises(StoreError, match=named):
        await store.seal("r1")


@on_sqlite
async def test_a_chain_with_an_invalid_link_is_named(engine: AsyncEngine) -> None:
    await store_round(SqlRoundStore(engine), a_round_of("r1"))
    await execute(engine, "UPDATE link SET version = 'x'")

    with pytest.raises(StoreError, match=r"^Chain 'slack/T1' holds what no chain can: link\."):
        await SqlHashChain(engine).links("slack/T1", None, 9)
