"""The key-value store: texts by kind and name, for all processes."""

import asyncio
from pathlib import Path

import pytest

from council.errors import StoreError
from council.ports import KeyValueStore
from storage.engine import open_engine
from storage.key_value import SqlKeyValueStore
from tests.fakes.memory_key_value import MemoryKeyValueStore
from tests.sqlite import new_file
from tests.storage.builders import in_memory_too
from tests.storage.conftest import engine_of


@pytest.fixture
def key_values(request: pytest.FixtureRequest) -> KeyValueStore:
    return (
        MemoryKeyValueStore() if request.param == "memory" else SqlKeyValueStore(engine_of(request))
    )


@in_memory_too
async def test_the_text_stored_last_is_read(key_values: KeyValueStore) -> None:
    await key_values.put("panel", "slack/T1/C1", "house")
    await key_values.put("panel", "slack/T1/C1", "cheap")

    assert await key_values.read("panel", "slack/T1/C1") == "cheap"
    assert await key_values.read("panel", "slack/T1/C2") is None
    assert await key_values.read("draft", "slack/T1/C1") is None


@in_memory_too
async def test_one_of_several_simultaneous_texts_is_stored(key_values: KeyValueStore) -> None:
    found = await asyncio.gather(
        *(key_values.put_if_absent("key", "page", f"key {n}") for n in range(9))
    )

    assert len({*found}) == 1
    assert await key_values.put_if_absent("key", "page", "later") == found[0]


@in_memory_too
async def test_one_caller_pops_a_text(key_values: KeyValueStore) -> None:
    await key_values.put("draft", "code", "suite")

    found = await asyncio.gather(*(key_values.pop("draft", "code") for _ in range(9)))

    assert sorted(map(str, found)) == [*["None"] * 8, "suite"]
    assert await key_values.read("draft", "code") is None


@in_memory_too
async def test_a_name_is_marked_once_in_so_many_seconds(key_values: KeyValueStore) -> None:
    first = await asyncio.gather(
        *(key_values.mark_once("press", "Ada again r1", 60) for _ in range(9))
    )

    assert sorted(first) == [*[False] * 8, True]
    assert await key_values.mark_once("press", "Ben again r1", 60)
    assert not await key_values.mark_once("press", "Ada again r1", 60)
    assert await key_values.mark_once("press", "Ada again r1", 0)


@in_memory_too
async def test_names_are_found_by_their_exact_start(
    key_values: KeyValueStore,
) -> None:
    for name in ("a_1/x", "a_1/y", "A_1/x", "ab1/x", "a%1/x"):
        await key_values.put("discord server", name, name.upper())

    assert await key_values.list_texts("discord server", "a_1/") == {
        "a_1/x": "A_1/X",
        "a_1/y": "A_1/Y",
    }
    assert len(await key_values.list_texts("discord server")) == 5
    await key_values.delete("discord server", "a_1/")
    assert {*await key_values.list_texts("discord server")} == {"A_1/x", "ab1/x", "a%1/x"}


@in_memory_too
async def test_pruning_keeps_the_newest_texts(key_values: KeyValueStore) -> None:
    for name in ("first", "second", "third"):
        await key_values.put("draft", name, name)
    await key_values.put("panel", "first", "house")
    await key_values.put("draft", "first", "again")

    await key_values.prune("draft", 2)

    assert await key_values.list_texts("draft") == {"first": "again", "third": "third"}
    assert await key_values.read("panel", "first") == "house"
    await key_values.prune("draft", 5)
    assert len(await key_values.list_texts("draft")) == 2


@in_memory_too
async def test_checks_for_writing_leave_one_text_at_most(key_values: KeyValueStore) -> None:
    await key_values.check_writable()
    await key_values.check_writable()

    assert len(await key_values.list_texts("probe")) <= 1


async def test_a_full_disk_takes_no_check_for_writing(tmp_path: Path) -> None:
    engine = open_engine(new_file(tmp_path))
    async with engine.connect() as connection:  # its one connection stays in the pool
        await connection.exec_driver_sql("PRAGMA max_page_count = 1")  # no more than there are

    with pytest.raises(StoreError, match=r"^The disk is full"):
        await SqlKeyValueStore(engine).check_writable()

    async with engine.connect() as connection:
        await connection.exec_driver_sql("PRAGMA max_page_count = 10000")
    await SqlKeyValueStore(engine).check_writable()
    await engine.dispose()


async def test_a_database_that_takes_no_writes_is_an_error(tmp_path: Path) -> None:
    engine = open_engine(new_file(tmp_path))
    async with engine.connect() as connection:  # its one connection stays in the pool
        await connection.exec_driver_sql("PRAGMA query_only = ON")

    with pytest.raises(StoreError):
        await SqlKeyValueStore(engine).check_writable()
    await engine.dispose()
