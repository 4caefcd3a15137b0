"""A closing round is appended to its workspace's one chain, which is complete and read in pages."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from council.integrity.erasure import forget
from council.integrity.hash_chain import FOREIGN_ORIGIN, next_link
from council.integrity.seal import Seal, compute_digests, find_changes
from council.integrity.verification import ChainWalk
from council.places import Place
from council.ports import Store
from council.rounds import Closing, Question, Round
from storage.engine import open_engine
from storage.hash_chain import SqlHashChain
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT, a_round
from tests.storage.builders import (
    BOTH,
    a_closed_round,
    in_memory_too,
    on_sqlite,
    store_round,
    without_artefacts,
)

LATER = ASKED_AT + timedelta(days=90)
SALT = "5a17" * 8


def a_round_of(round_id: str, chat: str = "slack", workspace: str = "T1") -> Round:
    question = Question("Why?", "U1", place=Place(chat, workspace, "C1"))
    return replace(a_closed_round(round_id), question=question)


async def seal_of(store: Store, round_id: str) -> Seal:
    found = await store.seal(round_id)
    assert found is not None
    return found


async def number_of(store: Store, round_id: str) -> tuple[str, int]:
    link = (await seal_of(store, round_id)).link
    assert link is not None
    return (link.scope, link.number)


@in_memory_too
async def test_rounds_are_linked_in_the_order_they_close(store: Store) -> None:
    for round_id in ("r1", "r2", "r3"):
        await store.open(without_artefacts(a_round_of(round_id)))

    for round_id in ("r2", "r3", "r1"):
        await store.save(round_id, Closing(1.0))

    numbers = [await number_of(store, round_id) for round_id in ("r2", "r3", "r1")]
    assert numbers == [("slack/T1", 1), ("slack/T1", 2), ("slack/T1", 3)]


async def test_each_link_holds_the_digest_and_the_hash_before(store: Store) -> None:
    await store_round(store, a_round_of("r1"))
    await store_round(store, a_round_of("r2"))

    one, two = await seal_of(store, "r1"), await seal_of(store, "r2")

    assert one.notes == compute_digests(a_round_of("r1"), one.notes.salt)
    assert one.link == next_link(None, "slack/T1", "r1", one.notes.digest)
    assert two.link == next_link(one.link, "slack/T1", "r2", two.notes.digest)
    assert one.notes.salt != two.notes.salt


@in_memory_too
async def test_each_workspace_has_its_own_chain(store: Store) -> None:
    for round_ in (
        a_round_of("r1"),
        a_round_of("r2", workspace="T2"),
        a_round_of("r3", "web", ""),
        a_round_of("r4"),
    ):
        await store_round(store, round_)

    places = [await number_of(store, round_id) for round_id in ("r1", "r2", "r3", "r4")]
    assert places == [("slack/T1", 1), ("slack/T2", 1), ("", 1), ("slack/T1", 2)]


@pytest.mark.parametrize("round_", [a_round(), replace(a_closed_round(), closing=None)])
async def test_a_round_before_its_end_has_no_link(store: Store, round_: Round) -> None:
    await store_round(store, round_)

    assert await store.seal("r1") is None
    assert await store.seal("nobody") is None


async def test_a_round_that_closes_twice_has_one_link(store: Store) -> None:
    await store.open(without_artefacts(a_round_of("r1")))

    await asyncio.gather(*(store.save("r1", Closing(float(i))) for i in range(5)))
    await store_round(store, a_round_of("r2"))

    assert await number_of(store, "r2") == ("slack/T1", 2)


@in_memory_too
async def test_forgetting_keeps_the_digests_of_the_close(store: Store) -> None:
    await store_round(store, a_round_of("r1"))
    before = await seal_of(store, "r1")

    await store.forget("r1", LATER, SALT)

    forgotten = await store.load("r1")
    assert await store.seal("r1") == before
    assert find_changes(forgotten, before) == ()
    assert forgotten.forgotten is not None
    assert forgotten.forgotten.salt == before.notes.salt
    assert forgotten.forgotten.digests == before.notes.texts


async def test_a_round_without_a_link_is_forgotten_with_the_given_salt(store: Store) -> None:
    await store_round(store, replace(a_round_of("r1"), closing=None))

    await store.forget("r1", LATER, SALT)

    found = (await store.load("r1")).forgotten
    assert found is not None
    assert found.salt == SALT
    assert await store.seal("r1") is None


@in_memory_too
async def test_the_link_of_an_imported_round_names_its_origin(store: Store) -> None:
    notes = compute_digests(a_round_of("r1"), SALT)
    there = next_link(None, "slack/T1", "r1", notes.digest)

    await store.import_round(a_round_of("r1"), Seal(notes, there))
    await store.open(a_round_of("r2"))

    one, two = await seal_of(store, "r1"), await seal_of(store, "r2")
    assert one.notes == notes
    assert one.link is not None
    assert two.link is not None
    assert (one.link.number, one.link.origin) == (1, there.hash)
    assert (two.link.number, two.link.origin) == (2, FOREIGN_ORIGIN)


async def test_an_imported_forgotten_round_keeps_its_salt(store: Store) -> None:
    gone = forget(a_round_of("r1"), LATER, SALT)

    await store.open(gone)

    seal = await seal_of(store, "r1")
    assert seal.notes.salt == SALT
    assert find_changes(gone, seal) == ()


@in_memory_too
async def test_a_deleted_workspace_loses_its_chain(store: Store) -> None:
    await store_round(store, a_round_of("r1"))
    await store_round(store, a_round_of("r2", workspace="T2"))

    await store.delete_workspace("slack", "T1")
    await store_round(store, a_round_of("r3"))

    assert await store.seal("r1") is None
    assert await number_of(store, "r2") == ("slack/T2", 1)
    assert await number_of(store, "r3") == ("slack/T1", 1)


async def test_the_shared_chain_remains_when_a_workspace_is_deleted(store: Store) -> None:
    await store_round(store, a_round_of("r1", "web", ""))

    await store.delete_workspace("web", "nowhere")
    await store_round(store, a_round_of("r2", "web", ""))

    assert await number_of(store, "r2") == ("", 2)


DATABASES = BOTH


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
    assert find_changes(await store.load("r2"), seal) == ("its link in the chain is missing",)


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
        pytest.param(
            "link SET parts = '7'", r"Round 'r1' has invalid values: .*link\.parts: ", id="parts"
        ),
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

    with pytest.raises(StoreError, match=r"^Chain 'slack/T1' has invalid values: link\."):
        await SqlHashChain(engine).links("slack/T1", None, 9)
