"""SQLite files: rounds outlive the process, programs share a file, and it enforces its keys."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from storage.engine import open_engine
from storage.rounds import SqlRoundStore
from storage.row_mapping import PART_TABLES
from tests.builders import a_round, a_spoiled_ballot, an_absence, an_answer
from tests.storage.builders import a_closed_round, store_round


async def scalar(engine: AsyncEngine, query: str) -> object:
    async with engine.connect() as connection:
        return (await connection.execute(text(query))).scalar_one()


async def test_programs_that_write_at_once_wait_for_each_other(
    engine: AsyncEngine, url: str
) -> None:
    other = open_engine(url)
    stores = [SqlRoundStore(engine), SqlRoundStore(other)]
    rounds = [a_closed_round(f"r{i}") for i in range(10)]

    await asyncio.gather(*(store_round(stores[i % 2], round_) for i, round_ in enumerate(rounds)))

    assert [await stores[0].load(round_.id) for round_ in rounds] == rounds
    await other.dispose()


async def test_of_programs_that_open_one_round_at_once_one_succeeds(
    engine: AsyncEngine, url: str
) -> None:
    async with AsyncExitStack() as stack:
        engines = [engine, *(open_engine(url) for _ in range(3))]
        for other in engines:
            stack.push_async_callback(other.dispose)

        opened = await asyncio.gather(*(SqlRoundStore(one).open(a_round()) for one in engines))

    assert sorted(opened) == [False, False, False, True]


async def test_a_reader_does_not_wait_for_a_writer(engine: AsyncEngine, url: str) -> None:
    await SqlRoundStore(engine).open(a_closed_round())
    other = open_engine(url)

    async with engine.begin(), asyncio.timeout(20):
        found = await SqlRoundStore(other).load("r1")

    await other.dispose()
    assert found == a_closed_round()


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("foreign_keys", 1),
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("busy_timeout", 10_000),
        ("secure_delete", 1),
    ],
)
async def test_every_connection_has_the_safe_settings(
    engine: AsyncEngine, pragma: str, value: object
) -> None:
    assert await scalar(engine, f"PRAGMA {pragma}") == value


async def test_a_deleted_round_takes_its_parts_along(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await store.open(a_closed_round("kept"))
    gone = a_closed_round("gone")
    await store.open(replace(gone, absences=(an_absence(),), spoiled=(a_spoiled_ballot(),)))

    async with engine.begin() as connection:
        await connection.execute(text("DELETE FROM round WHERE id = 'gone'"))

    left = {
        table.__tablename__: await scalar(
            engine,
            f"SELECT count(*) FROM {table.__tablename__} WHERE round_id = 'gone'",  # noqa: S608
        )
        for table in PART_TABLES
    }
    assert set(left.values()) == {0}
    assert await store.load("kept") == a_closed_round("kept")


async def test_an_unpaired_surrogate_is_refused_in_one_sentence(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await store.open(a_round())

    with pytest.raises(StoreError, match="The database can't store or return a value"):
        await store.save("r1", an_answer(text="cut off \ud83e"))

    assert await store.load("r1") == a_round()


async def test_when_opening_the_connection_fails_the_next_caller_tries(engine: AsyncEngine) -> None:
    opened: list[object] = []

    def fail_first(connection: object, _: object) -> None:
        opened.append(connection)
        if len(opened) == 1:
            raise StoreError("It cannot be opened now.")

    event.listen(engine.sync_engine, "connect", fail_first)

    async with asyncio.timeout(20):  # the pool lets callers wait for half a minute
        results = await asyncio.gather(
            *(scalar(engine, "SELECT 1") for _ in range(4)), return_exceptions=True
        )

    assert [str(result) for result in results] == ["It cannot be opened now.", "1", "1", "1"]
