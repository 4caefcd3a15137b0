"""Errors of a database become one sentence, and nothing that was stored is lost."""

import asyncio
import resource
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from sqlite3 import Connection

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from storage.engine import open_engine
from storage.migrate import HEAD_REVISION, upgrade
from storage.rounds import SqlRoundStore
from storage.transactions import DiskFullError, waiting_for_room
from tests.builders import CLAUDE, GPT, a_round, an_answer
from tests.storage.builders import a_closed_round


@asynccontextmanager
async def engine_with(url: str, *pragmas: str) -> AsyncIterator[AsyncEngine]:
    """Open a database as another program would, with pragmas of its own."""
    others = set(threading.enumerate())
    engine = open_engine(url)

    def prepare(connection: Connection, _: object) -> None:
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    event.listen(engine.sync_engine, "connect", prepare)
    try:
        yield engine
    finally:
        await engine.dispose()
        await _ended(set(threading.enumerate()) - others)


async def _ended(threads: set[threading.Thread]) -> None:
    """Wait for threads of connections that failed; the driver does not, and they use the loop."""
    for thread in threads:
        if "_connection_worker_thread" in thread.name:
            await asyncio.to_thread(thread.join, 5)


async def test_a_full_disk_loses_only_what_did_not_fit(engine: AsyncEngine, url: str) -> None:
    long = an_answer(GPT, "A long answer. " * 20_000)
    await SqlRoundStore(engine).open(a_round().with_(an_answer(CLAUDE)))
    await engine.dispose()

    async with engine_with(url, "max_page_count=1") as full:  # that is: no more than there are
        with pytest.raises(StoreError, match=r"^The disk is full\. What was saved stays"):
            await SqlRoundStore(full).save("r1", long)
        kept = await SqlRoundStore(full).load("r1")
    await SqlRoundStore(engine).save("r1", long)

    assert kept == a_round().with_(an_answer(CLAUDE))
    assert (await SqlRoundStore(engine).load("r1")).answers == (an_answer(CLAUDE), long)


async def _change_limit(engine: AsyncEngine, pages: int) -> None:
    async with engine.connect() as connection:  # the only one of the pool
        await connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")


async def test_a_save_that_waits_for_room_is_stored_once_there_is_some(
    engine: AsyncEngine,
) -> None:
    long = an_answer(GPT, "A long answer. " * 20_000)
    store, waits = SqlRoundStore(engine), list[str]()
    await store.open(a_round())
    await _change_limit(engine, 1)

    async def wait() -> bool:
        waits.append("full")
        if len(waits) == 3:
            await _change_limit(engine, 10_000)
        return True

    with waiting_for_room(wait):
        await store.save("r1", long)

    assert len(waits) == 3
    assert (await store.load("r1")).answers == (long,)


async def test_a_save_that_must_not_wait_for_room_any_more_raises(engine: AsyncEngine) -> None:
    async def give_up() -> bool:
        return False

    await SqlRoundStore(engine).open(a_round())
    await _change_limit(engine, 1)

    with waiting_for_room(give_up), pytest.raises(DiskFullError):
        await SqlRoundStore(engine).save("r1", an_answer(GPT, "A long answer. " * 20_000))


async def test_a_file_that_a_limit_keeps_from_growing_is_a_full_disk(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await store.open(a_round())
    unlimited, most = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, most))
    try:
        with pytest.raises(DiskFullError, match="a quota may be full"):
            await store.save("r1", an_answer(GPT, "A long answer. " * 200_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (unlimited, most))

    assert (await store.load("r1")).answers == ()


@pytest.mark.parametrize("how", ["read-only-file", "read-only-use"])
async def test_a_read_only_file_can_still_be_read(engine: AsyncEngine, url: str, how: str) -> None:
    await SqlRoundStore(engine).open(a_closed_round())
    path = url.removeprefix("sqlite+aiosqlite:///")
    file = f"sqlite+aiosqlite:///file:{path}?mode=ro&uri=true"
    pragmas = () if how == "read-only-file" else ("query_only=ON",)

    async with engine_with(file if how == "read-only-file" else url, *pragmas) as locked:
        store = SqlRoundStore(locked)
        assert await upgrade(locked) == HEAD_REVISION
        with pytest.raises(StoreError, match=r"^The database can't be written to"):
            await store.open(a_closed_round("r2"))

        assert await store.load("r1") == a_closed_round()


async def test_a_database_that_another_program_holds_is_reported_as_in_use(
    engine: AsyncEngine, url: str
) -> None:
    await SqlRoundStore(engine).open(a_round())

    async with engine_with(url, "busy_timeout=20") as other, engine.begin():
        with pytest.raises(StoreError, match=r"^Another program is using the database"):
            await SqlRoundStore(other).save("r1", an_answer())

    await SqlRoundStore(engine).save("r1", an_answer())
    assert await SqlRoundStore(engine).load("r1") == a_round().with_(an_answer())


@pytest.mark.parametrize("act", [upgrade, lambda engine: SqlRoundStore(engine).list_summaries()])
async def test_a_file_that_is_no_database_is_left_as_it_is(
    tmp_path: Path, act: Callable[[AsyncEngine], Awaitable[object]]
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("Buy milk. " * 1000)

    async with engine_with(f"sqlite+aiosqlite:///{file}") as engine:
        with pytest.raises(StoreError, match=r"^The database file is not a database"):
            await act(engine)

    assert file.read_text() == "Buy milk. " * 1000


async def test_a_folder_that_is_missing_is_named_as_the_cause(tmp_path: Path) -> None:
    async with engine_with(f"sqlite+aiosqlite:///{tmp_path / 'nowhere' / 'council.db'}") as engine:
        with pytest.raises(StoreError, match="Check that its folder exists and is writable"):
            await upgrade(engine)


async def test_a_damaged_file_is_reported_as_damaged(engine: AsyncEngine, url: str) -> None:
    await SqlRoundStore(engine).open(a_closed_round())
    await engine.dispose()
    file = Path(url.removeprefix("sqlite+aiosqlite:///"))
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))

    with pytest.raises(StoreError, match="Restore it from a backup"):
        await SqlRoundStore(engine).load("r1")


async def test_an_unknown_error_is_still_one_sentence(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        await connection.execute(text("ALTER TABLE answer RENAME COLUMN text TO words"))
    await SqlRoundStore(engine).open(a_round())

    with pytest.raises(StoreError, match=r"^The database refused the request \(\w+\)\.$"):
        await SqlRoundStore(engine).save("r1", an_answer(text="a secret"))
