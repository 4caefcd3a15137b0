"""A round is appended to its workspace's chain as it closes, and its link remains."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from council.integrity.erasure import forget
from council.integrity.hash_chain import FOREIGN_ORIGIN, next_link
from council.integrity.seal import Seal, compute_digests, find_changes
from council.places import Place
from council.ports import Store
from council.rounds import Closing, Question, Round
from tests.builders import ASKED_AT, a_round
from tests.storage.builders import a_closed_round, in_memory_too, store_round, without_artefacts

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
