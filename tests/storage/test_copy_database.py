"""A database is copied completely and unchanged, or not at all."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.budget_caps import Account
from council.errors import StoreError
from council.feedback import Feedback, HumanVote
from council.rounds import Question
from storage.copy_database import (
    copy_database,
    count_contents,
    count_other_programs,
    data_tables,
    list_unknown_tables,
    row_digest,
)
from storage.engine import open_engine
from storage.ledger import SqlLedger
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from tests.builders import ASKED_AT, CLAUDE, a_round
from tests.plugin_modules import modules_at
from tests.postgres import Server, a_database
from tests.sqlite import new_file
from tests.storage.builders import T1, a_closed_round
from tests.storage.tampering import a_full_round

LATER = ASKED_AT + timedelta(days=90)
KEPT = (
    "round answer absence label slate ballot spoiled_ballot standing verdict synthesis link "
    "feedback human_vote outgoing spending"
)
PLUGIN_ROWS = modules_at("tests/storage/*/sample_rows.py")


def ignore_progress(_: int) -> None:
    """Ignore the progress."""


async def store_everything(engine: AsyncEngine) -> None:
    """Store something in every table."""
    store = SqlRoundStore(engine)
    for round_ in (a_full_round("full"), a_closed_round("gone"), a_round(seed="open")):
        await store.open(round_)
    odd = Question("Why \\u0000 at 👩\u200d💻 all?", "U1", place=T1)
    await store.open(replace(a_closed_round("odd"), question=odd))
    await store.forget("gone", LATER, "salt")
    await store.rate(Feedback("full", "U1", helpful=False, reason="Too long.", at=ASKED_AT))
    await store.vote(HumanVote("full", "U1", "K", CLAUDE, ASKED_AT))
    await SqlOutbox(engine).claim("key", "full", ASKED_AT)
    await SqlLedger(engine).settle(Account("full", date(2026, 11, 21), "U1"), 2**40, None)
    for plugin in PLUGIN_ROWS:
        await plugin.store_rows(engine)


async def rows_of(engine: AsyncEngine) -> dict[str, list[int]]:
    """Return every row of every table as its digest: JSONB has an order of its own."""
    async with engine.connect() as connection:
        return {
            table.name: sorted(
                row_digest(dict(row))
                for row in (await connection.execute(select(table))).mappings()
            )
            for table in data_tables()
        }


@pytest.fixture
async def filled(engine: AsyncEngine) -> AsyncEngine:
    await store_everything(engine)
    return engine


@pytest.fixture
async def back(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    """Return the engine of another SQLite file."""
    folder = tmp_path / "back"
    folder.mkdir()
    engine = open_engine(new_file(folder))
    yield engine
    await engine.dispose()


async def test_everything_goes_to_a_server_and_back(
    filled: AsyncEngine, server_engine: AsyncEngine, back: AsyncEngine
) -> None:
    before = await count_contents(filled)
    sizes: list[int] = []

    await copy_database(filled, server_engine, sizes.append)
    await copy_database(server_engine, back, ignore_progress)

    kept = " ".join([KEPT, *(plugin.TABLES for plugin in PLUGIN_ROWS)])
    assert [name for name in kept.split() if not before.rows[name]] == []
    assert sum(sizes) == before.total
    assert before == await count_contents(server_engine) == await count_contents(back)
    assert await rows_of(back) == await rows_of(filled)
    store = SqlRoundStore(server_engine)
    assert await store.load("full") == await SqlRoundStore(filled).load("full")
    assert await store.load("odd") == await SqlRoundStore(filled).load("odd")
    assert await store.seal("full") == await SqlRoundStore(filled).seal("full")


async def test_more_rows_than_one_batch_are_copied(
    engine: AsyncEngine, server_engine: AsyncEngine
) -> None:
    ledger = SqlLedger(engine)
    async with engine.begin() as connection:
        await connection.execute(
            tables_named("spending").insert(),
            [
                {"round_id": f"r{number}", "day": date(2026, 11, 21), "asker": "", "channel": ""}
                | {"schedule": "", "reserved_micro": 1, "spent_micro": number, "unknown_calls": 0}
                for number in range(1_203)
            ],
        )

    await copy_database(engine, server_engine, ignore_progress)

    assert (await count_contents(server_engine)).money == (1_203, 1_203 * 1_202 // 2, 0)
    assert (
        await ledger.list_reserved_rounds() == await SqlLedger(server_engine).list_reserved_rounds()
    )


def tables_named(name: str) -> Any:  # noqa: ANN401
    return next(table for table in data_tables() if table.name == name)


async def test_a_database_with_rounds_is_left_as_it_is(
    filled: AsyncEngine, server_engine: AsyncEngine
) -> None:
    await SqlRoundStore(server_engine).open(a_round())

    with pytest.raises(StoreError, match=r"^The target database already holds 1 round"):
        await copy_database(filled, server_engine, ignore_progress)

    assert [line.id for line in await SqlRoundStore(server_engine).list_summaries()] == ["r1"]


async def test_a_database_with_anything_else_is_left_as_it_is(
    filled: AsyncEngine, server_engine: AsyncEngine
) -> None:
    await SqlOutbox(server_engine).claim("key", "r1", ASKED_AT)

    with pytest.raises(StoreError, match=r"already holds data, so nothing was copied"):
        await copy_database(filled, server_engine, ignore_progress)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param(
            "UPDATE answer SET seconds = 'soon' WHERE member LIKE 'anthropic%'",
            r"The row of table 'answer' with round_id .*, member .* holds a value that the other",
            id="another-type",
        ),
        pytest.param(
            "UPDATE answer SET tokens_in = 9999999999 WHERE round_id = 'full'",
            r"The row of table 'answer' with round_id 'full'.* holds a value that the other",
            id="too-large",
        ),
        pytest.param(
            "UPDATE round SET asked_at = 'yesterday' WHERE id = 'full'",
            r"Table 'round' holds a value that can't be read \(.*yesterday",
            id="no-moment",
        ),
        pytest.param(
            "UPDATE answer SET text = x'ff' WHERE round_id = 'full'",
            r"The row of table 'answer' with round_id 'full'.*",
            id="bytes-for-a-text",
        ),
    ],
)
async def test_a_row_that_the_target_cannot_store_is_named_and_nothing_is_copied(
    filled: AsyncEngine, server_engine: AsyncEngine, change: str, named: str
) -> None:
    async with filled.begin() as connection:
        await connection.execute(text(change))

    with pytest.raises(StoreError, match=f"^{named}") as refused:
        await copy_database(filled, server_engine, ignore_progress)

    assert "so nothing was copied." in str(refused.value)
    assert (await count_contents(server_engine)).total == 0


async def test_other_programs_on_a_server_are_counted(postgres: Server, migrated_url: str) -> None:
    with a_database(postgres) as elsewhere:
        one, two, three = (open_engine(url) for url in (migrated_url, migrated_url, elsewhere))
        for engine in (two, three):
            async with engine.connect() as connection:
                await connection.execute(text("SELECT 1"))

        assert await count_other_programs(one) == 1

        for engine in (one, two, three):
            await engine.dispose()


async def test_rows_of_a_plug_in_that_is_absent_are_not_lost_silently(tmp_path: Path) -> None:
    engines = []
    for name in ("source", "target"):
        (tmp_path / name).mkdir()
        engines.append(open_engine(new_file(tmp_path / name)))
    source, target = engines
    for engine in engines:
        async with engine.begin() as connection:
            await connection.execute(text("CREATE TABLE haiku (line TEXT)"))
    async with source.begin() as connection:
        await connection.execute(text("INSERT INTO haiku VALUES ('An old pond')"))

    with pytest.raises(StoreError, match="'haiku' holds data of a plug-in that is not here"):
        await copy_database(source, target, ignore_progress)
    assert await list_unknown_tables(source) == ["haiku"]
    assert await list_unknown_tables(target) == []

    for engine in engines:
        await engine.dispose()
