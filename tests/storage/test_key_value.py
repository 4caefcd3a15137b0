"""The key-value store: texts by kind and name, for all processes."""

import asyncio

import pytest

from council.ports import KeyValueStore
from storage.key_value import SqlKeyValueStore
from tests.fakes.memory_key_value import MemoryKeyValueStore
from tests.storage.conftest import EVERY_KIND, engine_of


@pytest.fixture(params=EVERY_KIND)
def memos(request: pytest.FixtureRequest) -> KeyValueStore:
    return (
        MemoryKeyValueStore() if request.param == "memory" else SqlKeyValueStore(engine_of(request))
    )


async def test_a_text_is_read_as_it_was_noted_last(memos: KeyValueStore) -> None:
    await memos.note("panel", "slack/T1/C1", "house")
    await memos.note("panel", "slack/T1/C1", "cheap")

    assert await memos.read("panel", "slack/T1/C1") == "cheap"
    assert await memos.read("panel", "slack/T1/C2") is None
    assert await memos.read("draft", "slack/T1/C1") is None


async def test_of_several_who_are_first_one_is(memos: KeyValueStore) -> None:
    found = await asyncio.gather(*(memos.first("key", "page", f"key {n}") for n in range(9)))

    assert len({*found}) == 1
    assert await memos.first("key", "page", "later") == found[0]


async def test_a_text_is_taken_once(memos: KeyValueStore) -> None:
    await memos.note("draft", "code", "suite")

    found = await asyncio.gather(*(memos.take("draft", "code") for _ in range(9)))

    assert sorted(map(str, found)) == [*["None"] * 8, "suite"]
    assert await memos.read("draft", "code") is None


async def test_what_is_done_once_is_not_done_again_for_a_while(memos: KeyValueStore) -> None:
    first = await asyncio.gather(*(memos.once("press", "Ada again r1", 60) for _ in range(9)))

    assert sorted(first) == [*[False] * 8, True]
    assert await memos.once("press", "Ben again r1", 60)
    assert not await memos.once("press", "Ada again r1", 60)
    assert await memos.once("press", "Ada again r1", 0)


async def test_names_are_found_by_their_start_capitals_and_signs_as_they_are(
    memos: KeyValueStore,
) -> None:
    for name in ("a_1/x", "a_1/y", "A_1/x", "ab1/x", "a%1/x"):
        await memos.note("discord server", name, name.upper())

    assert await memos.every("discord server", "a_1/") == {"a_1/x": "A_1/X", "a_1/y": "A_1/Y"}
    assert len(await memos.every("discord server")) == 5
    await memos.drop("discord server", "a_1/")
    assert {*await memos.every("discord server")} == {"A_1/x", "ab1/x", "a%1/x"}


async def test_the_newest_texts_remain(memos: KeyValueStore) -> None:
    for name in ("first", "second", "third"):
        await memos.note("draft", name, name)
    await memos.note("panel", "first", "house")
    await memos.note("draft", "first", "again")

    await memos.prune("draft", 2)

    assert await memos.every("draft") == {"first": "again", "third": "third"}
    assert await memos.read("panel", "first") == "house"
    await memos.prune("draft", 5)
    assert len(await memos.every("draft")) == 2
